//! The digests that `[[tasks]]` and `[[files]]` of dataset.toml state.

use std::collections::{BTreeMap, BTreeSet};

use camino::Utf8Path;

use crate::TaskTree;
use crate::digest::file_hash;
use crate::toml_text::{Table, Value};
use crate::tree::Extent;

/// A digest that is not what it should be.
#[derive(Clone, Debug, PartialEq)]
pub struct StaleDigest<'a> {
    /// What it is of: a task's `[task].name`, or a file's name.
    pub name: &'a str,
    /// What it should be: `sha256:` and hex digits.
    pub current: String,
    /// What is written.
    pub value: &'a Value,
}

/// Returns the stale digests of one array of tables in order of writing: of `tasks` by `name`, of `files` by `path`.
/// `known` holds names and current hashes in hex; an entry that is not known, or states no digest, is left alone.
#[must_use]
pub fn stale_digests<'a>(
    root: &'a Table,
    list: &str,
    key: &str,
    known: &'a [(String, String)],
) -> Vec<StaleDigest<'a>> {
    let entries = root.get(list).and_then(Value::as_array).unwrap_or_default();
    // A hostile file lists many, and a large dataset knows many.
    let known: BTreeMap<&str, &str> = known
        .iter()
        .map(|(name, hash)| (name.as_str(), hash.as_str()))
        .collect();
    let stale = |table: &'a Table| {
        let (name, hash) = known.get_key_value(table.get(key)?.as_str()?)?;
        let value = table.get("digest")?;
        let current = format!("sha256:{hash}");
        (value.as_str() != Some(&current)).then_some(StaleDigest { name, current, value })
    };
    entries
        .iter()
        .filter_map(Value::as_table)
        .filter_map(stale)
        .collect()
}

/// Returns names and current hashes, in hex, of the files that `[[files]]` lists and that lie beside dataset.toml in
/// `folder`.
#[must_use]
pub fn listed_file_hashes(folder: &Utf8Path, root: &Table) -> Vec<(String, String)> {
    let entries = root.get("files").and_then(Value::as_array).unwrap_or_default();
    if entries.is_empty() {
        return Vec::new();
    }
    // A name is hashed once, however often it is listed.
    let names: BTreeSet<&str> = entries
        .iter()
        .filter_map(|entry| entry.as_table()?.get("path")?.as_str())
        .filter(|name| !name.contains('/'))
        .collect();
    let tree = TaskTree::list(folder, Extent::Covered);
    let hash = |name: &str| Some((name.to_owned(), file_hash(&tree, name).ok()?));
    names.into_iter().filter_map(hash).collect()
}
