//! Keys and services.

use std::ops::Range;

use super::wrong_kind;
use crate::yaml::{Node, YamlFault};

/// One key of a mapping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Where the name is written.
    pub key: Range<usize>,
    /// Its value.
    pub value: Node,
}

/// One service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Service {
    /// Its name.
    pub name: String,
    /// Where the name is written.
    pub key: Range<usize>,
    /// Its keys in the order of the text.
    pub fields: Vec<Field>,
}

/// A Compose file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComposeFile {
    /// The keys at the top, `services` among them.
    pub fields: Vec<Field>,
    /// The services in the order of the text.
    pub services: Vec<Service>,
}

impl ComposeFile {
    pub(super) fn of(root: &Node) -> Result<Self, YamlFault> {
        let fields = fields(root, "the file")?;
        let mut services = Vec::new();
        let written = fields.iter().find(|field| field.name == "services");
        if let Some(written) = written.filter(|field| !field.value.is_null()) {
            for field in self::fields(&written.value, "`services`")? {
                services.push(Service {
                    fields: self::fields(&field.value, &format!("the service `{}`", field.name))?,
                    name: field.name,
                    key: field.key,
                });
            }
        }
        Ok(Self { fields, services })
    }

    /// Returns the key of this name at the top.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// Returns the service of this name.
    #[must_use]
    pub fn service(&self, name: &str) -> Option<&Service> {
        self.services.iter().find(|service| service.name == name)
    }
}

impl Service {
    /// Returns the key of this name.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// Returns the text of a key whose value is a plain value.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.field(name).and_then(|field| field.value.text())
    }
}

fn fields(node: &Node, what: &str) -> Result<Vec<Field>, YamlFault> {
    let entries = node
        .entries()
        .ok_or_else(|| wrong_kind(what, node, "a mapping"))?;
    Ok(entries
        .iter()
        .map(|(key, value)| Field {
            name: key.text().unwrap_or_default().to_owned(),
            key: key.span.clone(),
            value: value.clone(),
        })
        .collect())
}
