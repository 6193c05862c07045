//! Variables of `env` tables: `${VAR}` templates filled from grants, and the redaction of what was granted.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use task_model::config::{EnvVar, Template, template};

use crate::Grants;

/// A value shorter than this many bytes is not redacted: replacing it would shred ordinary text.
const SHORTEST_SECRET: usize = 4;

/// A line of a granted value of several lines is redacted by itself from this many bytes on.
const SHORTEST_SECRET_LINE: usize = 8;

/// One variable with its value; [`fmt::Debug`] shows no granted value.
#[derive(Clone, PartialEq, Eq)]
pub struct Variable {
    /// The name.
    pub name: String,
    /// The value.
    pub value: String,
    /// Whether the value came from a grant.
    pub granted: bool,
}

impl fmt::Debug for Variable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.granted {
            write!(f, "{}=<granted>", self.name)
        } else {
            write!(f, "{}={:?}", self.name, self.value)
        }
    }
}

/// Fills `env` tables and remembers what is missing and what must be redacted.
#[derive(Debug)]
pub(crate) struct Filler<'a> {
    grants: &'a Grants,
    /// Names that are required and not granted.
    pub(crate) missing: BTreeSet<String>,
    /// Granted values in use.
    pub(crate) used: BTreeMap<String, String>,
}

impl<'a> Filler<'a> {
    /// Returns a filler that knows `grants`.
    pub(crate) fn new(grants: &'a Grants) -> Self {
        Self {
            grants,
            missing: BTreeSet::new(),
            used: BTreeMap::new(),
        }
    }

    /// Fills one table.
    pub(crate) fn fill(&mut self, table: &[EnvVar]) -> Vec<Variable> {
        table
            .iter()
            .filter_map(|variable| self.one(&variable.name.value, &variable.value.value))
            .collect()
    }

    fn one(&mut self, name: &str, written: &str) -> Option<Variable> {
        let (value, granted) = match template(written) {
            Template::Literal => (written.to_owned(), false),
            Template::Variable { name: from, default } => match (self.grants.variables.get(from), default) {
                (Some(value), _) => {
                    self.used.insert(from.to_owned(), value.clone());
                    (value.clone(), true)
                }
                (None, Some(default)) => (default.to_owned(), false),
                (None, None) => {
                    self.missing.insert(from.to_owned());
                    return None;
                }
            },
        };
        Some(Variable {
            name: name.to_owned(),
            value,
            granted,
        })
    }
}

/// Takes granted values out of everything that leaves a trial: tails, reasons, saved logs. Each is replaced by its
/// template (`${NAME}`).
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Redactor {
    /// Secret and what stands for it, longest secret first.
    secrets: Vec<(String, String)>,
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.secrets.iter().map(|(_, shown)| shown))
            .finish()
    }
}

impl Redactor {
    /// Returns a redactor of these variables' values: every value of at least four bytes, and every line of at
    /// least eight bytes of a value that has several.
    #[must_use]
    pub fn new(variables: &BTreeMap<String, String>) -> Self {
        let mut secrets = BTreeMap::new();
        for (name, value) in variables {
            let shown = format!("${{{name}}}");
            for line in value.lines().map(str::trim) {
                if line.len() >= SHORTEST_SECRET_LINE {
                    secrets.entry(line.to_owned()).or_insert_with(|| shown.clone());
                }
            }
            if value.len() >= SHORTEST_SECRET {
                secrets.insert(value.clone(), shown);
            }
        }
        let mut secrets: Vec<_> = secrets.into_iter().collect();
        secrets.sort_by_key(|(secret, _)| std::cmp::Reverse(secret.len()));
        Self { secrets }
    }

    /// Returns `text` without the secrets.
    #[must_use]
    pub fn text(&self, text: &str) -> String {
        let mut out = text.to_owned();
        for (secret, shown) in &self.secrets {
            if out.contains(secret.as_str()) {
                out = out.replace(secret.as_str(), shown);
            }
        }
        out
    }

    /// Returns `bytes` without the secrets.
    #[must_use]
    pub fn bytes(&self, bytes: &[u8]) -> Vec<u8> {
        let mut out = bytes.to_vec();
        for (secret, shown) in &self.secrets {
            out = replace(&out, secret.as_bytes(), shown.as_bytes());
        }
        out
    }
}

fn replace(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((first, after)) = rest.split_first() {
        if let Some(tail) = rest.strip_prefix(from) {
            out.extend_from_slice(to);
            rest = tail;
        } else {
            out.push(*first);
            rest = after;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use findings::{Span, Spanned};

    use super::*;

    fn table(pairs: &[(&str, &str)]) -> Vec<EnvVar> {
        pairs
            .iter()
            .map(|(name, value)| EnvVar {
                name: Spanned::new((*name).to_owned(), Span::default()),
                value: Spanned::new((*value).to_owned(), Span::default()),
            })
            .collect()
    }

    #[test]
    fn only_grants_fill_and_every_missing_name_is_kept() {
        let mut grants = Grants::default();
        grants.variables.insert("KEY".to_owned(), "s3cret".to_owned());
        grants.variables.insert("EMPTY".to_owned(), String::new());
        let mut filler = Filler::new(&grants);
        let got = filler.fill(&table(&[
            ("A", "${KEY}"),
            ("B", "${EMPTY:-default}"),
            ("C", "${NOPE:-default}"),
            ("D", "${PATH}"),
            ("E", "${HOME}"),
            ("F", "plain ${KEY}"),
        ]));
        let got: Vec<_> = got
            .iter()
            .map(|v| (v.name.as_str(), v.value.as_str(), v.granted))
            .collect();
        assert_eq!(
            got,
            [
                ("A", "s3cret", true),
                ("B", "", true),
                ("C", "default", false),
                ("F", "plain ${KEY}", false)
            ]
        );
        assert_eq!(filler.missing.iter().collect::<Vec<_>>(), ["HOME", "PATH"]);
    }

    #[test]
    fn granted_values_leave_no_trace() {
        let variables = BTreeMap::from([
            ("KEY".to_owned(), "s3cret".to_owned()),
            ("LONG".to_owned(), "s3cret-and-more".to_owned()),
            ("PIN".to_owned(), "12".to_owned()),
            ("PEM".to_owned(), "-----BEGIN\nabcdefghij\n-----END".to_owned()),
        ]);
        let redactor = Redactor::new(&variables);
        assert_eq!(
            redactor.text("a s3cret, s3cret-and-more, 12"),
            "a ${KEY}, ${LONG}, 12"
        );
        assert_eq!(redactor.bytes(b"\xffs3crets3cret\0"), b"\xff${KEY}${KEY}\0");
        assert_eq!(redactor.text("x abcdefghij y"), "x ${PEM} y");
        assert!(!format!("{redactor:?}").contains("s3cret"));
        let variable = Variable {
            name: "K".to_owned(),
            value: "s3cret".to_owned(),
            granted: true,
        };
        assert_eq!(format!("{variable:?}"), "K=<granted>");
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(500))]
        #[test]
        fn a_template_of_a_name_and_a_default_is_read_back(name in "[^}:\n]{1,8}", default in proptest::option::of("[^\n]{0,8}")) {
            let written = match &default {
                None => format!("${{{name}}}"),
                Some(default) => format!("${{{name}:-{default}}}"),
            };
            let expected = Template::Variable { name: &name, default: default.as_deref() };
            proptest::prop_assert_eq!(template(&written), expected);
        }

        #[test]
        fn no_secret_survives(secret in "[a-c]{4,6}", text in "[a-c ]{0,60}") {
            let redactor = Redactor::new(&BTreeMap::from([("X".to_owned(), secret.clone())]));
            proptest::prop_assert!(!redactor.text(&text).contains(&secret));
            let bytes = redactor.bytes(text.as_bytes());
            proptest::prop_assert_eq!(redactor.text(&text).into_bytes(), bytes);
        }
    }
}
