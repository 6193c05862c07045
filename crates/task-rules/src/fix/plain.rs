//! A TOML document without its places, to compare what a text says before and after an edit.

use std::collections::BTreeMap;

use task_model::toml_text::{Table, Value, ValueKind};

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Plain {
    /// A scalar, by its type and exact value.
    Scalar(String),
    Array(Vec<Self>),
    Table(BTreeMap<String, Self>),
}

impl Plain {
    pub(super) fn of(table: &Table) -> Self {
        let entry =
            |entry: &task_model::toml_text::Entry| (entry.key.name.clone(), Self::of_value(&entry.value));
        Self::Table(table.entries().iter().map(entry).collect())
    }

    /// Returns a scalar by its type and value.
    pub(super) fn scalar(kind: &ValueKind) -> Self {
        Self::Scalar(format!("{kind:?}"))
    }

    fn of_value(value: &Value) -> Self {
        match &value.kind {
            ValueKind::Table(table) => Self::of(table),
            ValueKind::Array(items) => Self::Array(items.iter().map(Self::of_value).collect()),
            ValueKind::String(_)
            | ValueKind::Integer(_)
            | ValueKind::Float(_)
            | ValueKind::Boolean(_)
            | ValueKind::Datetime(_) => Self::scalar(&value.kind),
        }
    }

    /// Returns the table that a path of keys and positions leads to.
    pub(super) fn table(&mut self, path: &[&str]) -> Option<&mut BTreeMap<String, Self>> {
        let mut here = self;
        for part in path {
            here = match here {
                Self::Table(table) => table.get_mut(*part)?,
                Self::Array(items) => items.get_mut(part.parse::<usize>().ok()?)?,
                Self::Scalar(_) => return None,
            };
        }
        match here {
            Self::Table(table) => Some(table),
            Self::Scalar(_) | Self::Array(_) => None,
        }
    }
}
