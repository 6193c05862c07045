//! The digests of `[[tasks]]` and `[[files]]` in dataset.toml.

use std::collections::BTreeMap;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use task_model::dataset::{listed_file_hashes, stale_digests};
use task_model::digest::content_hash;
use task_model::toml_text::{self, Table, Value};
use task_model::{Content, Dataset, NodeKind, Origin, Task, TaskTree};

use super::edits::{Edits, Insertion};
use super::plain::Plain;
use super::{FileEdit, Wanted, legacy};

/// The rule whose findings go away.
pub(super) const RULE: &str = "stale-manifest-digest";

/// The rule of entries that state no digest.
pub(super) const MISSING: &str = "dataset-manifest";

/// Current hashes, in hex, of what a manifest lists.
pub(crate) struct Known {
    /// Of task folders that Harbor itself loads, by `[task].name`.
    pub(crate) tasks: Vec<(String, String)>,
    /// Of the files beside the tasks, by `path`.
    pub(crate) files: Vec<(String, String)>,
}

impl Known {
    /// Returns the hashes of the selected tasks as `pending` edits leave them, and of the files that `[[files]]` of
    /// `root` lists.
    pub(crate) fn of(dataset: &Dataset, root: &Table, pending: &[FileEdit]) -> Self {
        let mut hashes: BTreeMap<String, Option<String>> = BTreeMap::new();
        for task in &dataset.tasks {
            let package = task.declared.as_ref().and_then(|config| config.task.as_ref());
            if let Some(name) = package.map(|package| package.name.value.clone()) {
                // Of two tasks with one name neither is meant.
                let twice = hashes.contains_key(&name);
                hashes.insert(name, hash(task, pending).filter(|_| !twice));
            }
        }
        let tasks = hashes.into_iter().filter_map(|(name, hash)| Some((name, hash?)));
        Self {
            tasks: tasks.collect(),
            files: listed_file_hashes(&dataset.root, root),
        }
    }
}

/// Plans the edit of a dataset's dataset.toml: older keys of its overrides, and each stale or missing digest of a
/// selected task folder that Harbor itself loads, or of a file beside the tasks. A task's digest is that of the folder as
/// `pending` edits leave it. Digests are edited when `digests` says so. A dataset.toml above the target is left alone.
#[must_use]
pub fn dataset(
    dataset: &Dataset,
    pending: &[FileEdit],
    wanted: &Wanted<'_>,
    digests: bool,
) -> Option<FileEdit> {
    if dataset.root != dataset.target {
        return None;
    }
    let path: Utf8PathBuf = dataset.root.join("dataset.toml");
    let source = dataset.toml_source.as_ref()?;
    let root = toml_text::parse(&path, source.text().as_bytes()).root?;
    let mut edits = Edits::new(source.text(), &root);
    if wanted(&path, legacy::RULE) {
        legacy::of_overrides(&mut edits, source, &root);
    }
    if digests {
        let known = Known::of(dataset, &root, pending);
        for (list, key, known) in [("tasks", "name", &known.tasks), ("files", "path", &known.files)] {
            stale(&mut edits, &root, list, key, known);
        }
        missing(&mut edits, &root, &known.tasks);
    }
    let (edit, expected) = edits.finish(&path)?;
    let after = toml_text::parse(&path, edit.after().as_bytes()).root?;
    (Plain::of(&after) == expected).then_some(edit)
}

fn stale(edits: &mut Edits<'_>, root: &Table, list: &str, key: &str, known: &[(String, String)]) {
    let entries = root.get(list).and_then(Value::as_array).unwrap_or_default();
    let position = |value: &Value| {
        let mut tables = entries.iter().map(Value::as_table);
        tables.position(|table| {
            let stated = table.and_then(|table| table.get("digest"));
            stated.is_some_and(|stated| stated.span == value.span)
        })
    };
    for stale in stale_digests(root, list, key, known) {
        let Some(at) = position(stale.value).filter(|_| stale.value.as_str().is_some()) else {
            continue;
        };
        let at = at.to_string();
        let what = format!("write the digest of `{}`", stale.name);
        edits.replace(RULE, &[list, &at], "digest", stale.value, &stale.current, what);
    }
}

/// Writes the digests that entries of `[[tasks]]` lack: behind their names.
fn missing(edits: &mut Edits<'_>, root: &Table, known: &[(String, String)]) {
    let entries = root.get("tasks").and_then(Value::as_array).unwrap_or_default();
    for (at, value) in entries.iter().enumerate() {
        let Some(table) = value.as_table().filter(|table| !table.contains("digest")) else {
            continue;
        };
        let Some(entry) = table.entry("name") else {
            continue;
        };
        let name = entry.value.as_str();
        let Some((name, hash)) = known.iter().find(|(known, _)| Some(known.as_str()) == name) else {
            continue;
        };
        let new = Insertion {
            key: "digest",
            text: format!("sha256:{hash}"),
            what: format!("write the digest of `{name}`"),
        };
        let at = at.to_string();
        edits.insert(MISSING, value.span, (&["tasks", &at], table, entry), new);
    }
}

/// Returns the content hash of a task folder that Harbor loads, with the pending edits in it.
fn hash(task: &Task, pending: &[FileEdit]) -> Option<String> {
    if !task.selected || !task.loads.harbor || task.origin != Origin::Folder {
        return None;
    }
    let inside: Vec<(&Utf8Path, &FileEdit)> = pending
        .iter()
        .filter_map(|edit| Some((edit.path.strip_prefix(&task.folder).ok()?, edit)))
        .collect();
    if inside.is_empty() {
        return task.digest.clone();
    }
    let mut nodes = task.tree.nodes().to_vec();
    for node in &mut nodes {
        if let Some((_, edit)) = inside.iter().find(|(path, _)| *path == node.path) {
            node.kind = NodeKind::File(Content::Memory(Arc::from(edit.after().into_bytes())));
        }
    }
    let tree = TaskTree::rendered(nodes, task.folder.clone());
    content_hash(&tree).ok().map(|hash| hash.hex)
}
