//! The digests of `[[tasks]]` and `[[files]]` in dataset.toml.

use std::collections::BTreeMap;
use std::sync::Arc;

use camino::Utf8Path;
use findings::Span;
use task_model::dataset::{listed_file_hashes, stale_digests};
use task_model::digest::content_hash;
use task_model::toml_text::{self, Table, TableKind, Value};
use task_model::{Content, Dataset, NodeKind, Origin, Task, TaskTree};

use super::FileEdit;
use super::plain::Plain;

/// Plans the edit of a dataset's dataset.toml: each digest of a selected task folder that Harbor itself loads is that
/// of the folder as `pending` edits leave it, also where none is written; each written digest of a file is the file's. A
/// dataset.toml above the target is left alone.
#[must_use]
pub fn dataset(dataset: &Dataset, pending: &[FileEdit]) -> Option<FileEdit> {
    if dataset.root != dataset.target {
        return None;
    }
    let path = dataset.root.join("dataset.toml");
    let text = dataset.toml_source.as_ref()?.text();
    let root = toml_text::parse(&path, text.as_bytes()).root?;
    let mut hashes: BTreeMap<String, Option<String>> = BTreeMap::new();
    for task in &dataset.tasks {
        let name = task.declared.as_ref().and_then(|config| config.task.as_ref());
        if let Some(name) = name.map(|task| task.name.value.clone()) {
            // Of two tasks with one name neither is meant.
            let twice = hashes.contains_key(&name);
            hashes.insert(name, hash(task, pending).filter(|_| !twice));
        }
    }
    let known: Vec<(String, String)> = hashes
        .into_iter()
        .filter_map(|(name, hash)| Some((name, hash?)))
        .collect();
    let mut changes: Vec<(Span, String)> = Vec::new();
    let mut why = Vec::new();
    let files = listed_file_hashes(&dataset.root, &root);
    let stale = stale_digests(&root, "tasks", "name", &known);
    for stale in stale
        .into_iter()
        .chain(stale_digests(&root, "files", "path", &files))
    {
        if stale.value.as_str().is_some() {
            changes.push((stale.value.span, format!("\"{}\"", stale.current)));
            why.push(format!("write the digest of `{}`", stale.name));
        }
    }
    for (place, line, name) in missing(&root, text, &known) {
        changes.push((Span::new(place, place), line));
        why.push(format!("write the digest of `{name}`"));
    }
    changes.sort_by_key(|(span, _)| *span);
    let edit = FileEdit {
        path,
        before: text.to_owned(),
        changes,
        why,
    };
    (!edit.changes.is_empty() && changes_digests_only(&edit)).then_some(edit)
}

/// Returns where an entry of `[[tasks]]` lacks its digest, what is to stand there, and whose it is.
fn missing<'a>(root: &Table, text: &str, known: &'a [(String, String)]) -> Vec<(usize, String, &'a str)> {
    let entries = root.get("tasks").and_then(Value::as_array).unwrap_or_default();
    let without = entries.iter().filter_map(Value::as_table);
    without
        .filter(|table| !table.contains("digest"))
        .filter_map(|table| {
            let entry = table.entry("name")?;
            let name = entry.value.as_str()?;
            let (name, hash) = known.iter().find(|(known, _)| known == name)?;
            let written = format!("digest = \"sha256:{hash}\"");
            let end = entry.value.span.end;
            if table.kind == TableKind::Inline {
                return Some((end, format!(", {written}"), name.as_str()));
            }
            // A line of its own behind that of the name, indented and ended as it is.
            let before = text.get(..entry.key.span.start)?;
            let start = before.rfind('\n').map_or(0, |at| at + 1);
            let indent = before.get(start..)?;
            let behind = text.get(end..)?;
            let length = behind.find('\n').unwrap_or(behind.len());
            let line = behind.get(..length)?;
            let (place, newline) = match line.strip_suffix('\r') {
                Some(rest) => (end + rest.len(), "\r\n"),
                None => (end + line.len(), "\n"),
            };
            Some((place, format!("{newline}{indent}{written}"), name.as_str()))
        })
        .collect()
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

/// Says whether the document is the same but for digests.
fn changes_digests_only(edit: &FileEdit) -> bool {
    let without = |text: &str| {
        let root = toml_text::parse(&edit.path, text.as_bytes()).root?;
        let mut plain = Plain::of(&root);
        for list in ["tasks", "files"] {
            let Some(Plain::Array(entries)) = plain.table(&[])?.get_mut(list) else {
                continue;
            };
            for entry in entries {
                if let Plain::Table(entry) = entry {
                    entry.insert("digest".to_owned(), Plain::Scalar(String::new()));
                }
            }
        }
        Some(plain)
    };
    without(&edit.before).is_some_and(|before| without(&edit.after()) == Some(before))
}
