//! Nodes.

use std::ops::Range;

/// A value and where it is written. What an alias stands for has the place of its anchor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Bytes of the text, inside it and on character boundaries.
    pub span: Range<usize>,
    /// The value.
    pub value: Value,
}

/// What a node is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A plain scalar or a quoted one.
    Scalar {
        /// Its text, escapes resolved.
        text: String,
        /// Written without quotes (and without `!!str`), so that `true` is a boolean and `80` a number.
        plain: bool,
    },
    /// A list.
    Sequence(Vec<Node>),
    /// Keys and values in the order of the text, merged ones last.
    Mapping(Vec<(Node, Node)>),
}

impl Node {
    /// Returns the text of a scalar.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar { text, .. } => Some(text),
            Value::Sequence(_) | Value::Mapping(_) => None,
        }
    }

    /// Says whether nothing is written: an empty plain scalar, `~` or `null`.
    #[must_use]
    pub fn is_null(&self) -> bool {
        match &self.value {
            Value::Scalar { text, plain } => {
                *plain && matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL")
            }
            Value::Sequence(_) | Value::Mapping(_) => false,
        }
    }

    /// Returns the entries of a list.
    #[must_use]
    pub fn items(&self) -> Option<&[Self]> {
        match &self.value {
            Value::Sequence(items) => Some(items),
            Value::Scalar { .. } | Value::Mapping(_) => None,
        }
    }

    /// Returns the keys and values of a mapping.
    #[must_use]
    pub fn entries(&self) -> Option<&[(Self, Self)]> {
        match &self.value {
            Value::Mapping(entries) => Some(entries),
            Value::Scalar { .. } | Value::Sequence(_) => None,
        }
    }

    /// Returns the value of a key of a mapping.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        let mut entries = self.entries()?.iter();
        entries
            .find(|(k, _)| k.text() == Some(key))
            .map(|(_, value)| value)
    }

    /// Returns what kind of value it is, in words of messages.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match &self.value {
            _ if self.is_null() => "nothing",
            Value::Scalar { .. } => "a plain value",
            Value::Sequence(_) => "a list",
            Value::Mapping(_) => "a mapping",
        }
    }
}
