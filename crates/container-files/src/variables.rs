//! Variables in order of writing, of bounded size.

use std::collections::BTreeMap;

use crate::words::Found;

/// A value that the file determines, or `None` for one that it does not.
pub(crate) type Value = Option<String>;

/// Names and values together, bytes; an environment much longer cannot be handed to a program anyway.
const MAX_BYTES: usize = 256 << 10;

/// Variables that were set, in the order in which each was first set.
#[derive(Clone, Debug, Default)]
pub(crate) struct Variables {
    list: Vec<(String, Value)>,
    index: BTreeMap<String, usize>,
    bytes: usize,
    /// How many of the list are not determined.
    unknown: usize,
    /// Whether any name that is not listed may be set too.
    more: bool,
}

impl Variables {
    /// Says what is known of a variable; `None` when nothing was said of it.
    pub(crate) fn get(&self, name: &str) -> Option<Found<'_>> {
        match self.index.get(name).and_then(|&at| self.list.get(at)) {
            Some((_, Some(value))) => Some(Found::Set(value)),
            Some((_, None)) => Some(Found::Unknown),
            None if self.more => Some(Found::Unknown),
            None => None,
        }
    }

    /// Sets a variable where it stands, or at the end.
    pub(crate) fn set(&mut self, name: &str, value: Value) {
        let entry = self.index.get(name).and_then(|&at| self.list.get_mut(at));
        let old = entry
            .as_ref()
            .map_or(0, |entry| name.len() + entry.1.as_ref().map_or(0, String::len));
        let new = name.len() + value.as_ref().map_or(0, String::len);
        if self.bytes - old + new > MAX_BYTES {
            return self.forget();
        }
        self.bytes = self.bytes - old + new;
        let before = entry.as_ref().is_some_and(|entry| entry.1.is_none());
        self.unknown = self.unknown - usize::from(before) + usize::from(value.is_none());
        match entry {
            Some(entry) => entry.1 = value,
            None => {
                self.index.insert(name.to_owned(), self.list.len());
                self.list.push((name.to_owned(), value));
            }
        }
    }

    /// Makes every variable unknown.
    pub(crate) fn forget(&mut self) {
        *self = Self {
            more: true,
            ..Self::default()
        };
    }

    /// Says whether every name and value is determined.
    pub(crate) fn is_determined(&self) -> bool {
        !self.more && self.unknown == 0
    }

    /// Says whether a variable of this name is listed.
    pub(crate) fn contains(&self, name: &str) -> bool {
        self.index.contains_key(name)
    }

    /// Returns names and values, together bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns what is determined.
    pub(crate) fn determined(&self) -> Vec<(String, String)> {
        let pair = |(name, value): &(String, Value)| Some((name.clone(), value.clone()?));
        self.list.iter().filter_map(pair).collect()
    }
}
