//! Older spellings of task.toml's keys: each becomes what Harbor reads it as.

use camino::Utf8Path;
use findings::Span;
use task_model::config::{self, Environment, Field, NetworkMode, Number, TaskToml};
use task_model::toml_text::{Entry, Integer, Table, TableKind, Value, ValueKind, splice};
use task_model::{NodeKind, TaskTree};

use super::plain::Plain;
use super::{FileEdit, MAX_FILE};

pub(super) fn edit(folder: &Utf8Path, tree: &TaskTree) -> Option<FileEdit> {
    if !matches!(tree.get("task.toml")?.kind, NodeKind::File(_)) {
        return None;
    }
    let bytes = tree.read("task.toml", MAX_FILE).ok()?;
    let text = std::str::from_utf8(&bytes).ok()?;
    of_text(&folder.join("task.toml"), text)
}

/// Plans the edit of a task.toml that Harbor loads; of another, nothing is safe to say.
pub(super) fn of_text(path: &Utf8Path, text: &str) -> Option<FileEdit> {
    let read = config::read(path, text.as_bytes());
    let root = read.root?;
    let config = read.config?;
    let mut edits = Edits {
        text,
        changes: Vec::new(),
        why: Vec::new(),
        expected: Plain::of(&root),
    };
    if let Some(entry) = root.entry("version").filter(|_| !root.contains("schema_version")) {
        edits.rename(&[], entry, "schema_version", None);
    }
    for (place, table, environment) in environments(&root, &config) {
        let place: Vec<&str> = place.iter().map(String::as_str).collect();
        edits.size(&place, table, "memory", "memory_mb", &environment.memory_mb);
        edits.size(&place, table, "storage", "storage_mb", &environment.storage_mb);
        edits.network(&place, table, environment);
    }
    edits.changes.sort_by_key(|(span, _)| *span);
    if edits.changes.is_empty() {
        return None;
    }
    let after = config::read(path, splice(text, &edits.changes).as_bytes());
    let says = after.root.as_ref().map(Plain::of);
    let same = says.as_ref() == Some(&edits.expected) && after.config.is_some();
    (same && after.gym_refuses == read.gym_refuses).then(|| FileEdit {
        path: path.to_owned(),
        before: text.to_owned(),
        changes: edits.changes,
        why: edits.why,
    })
}

/// Returns every table with an environment's fields, with its place.
fn environments<'a>(root: &'a Table, config: &'a TaskToml) -> Vec<(Vec<String>, &'a Table, &'a Environment)> {
    let mut all = Vec::new();
    if let Some(table) = root.table("environment") {
        all.push((vec!["environment".to_owned()], table, &config.environment));
    }
    let verifier = |table: &'a Table| table.table("verifier")?.table("environment");
    let below = ["verifier", "environment"].map(str::to_owned);
    if let Some((table, own)) = verifier(root).zip(config.verifier.environment.as_deref()) {
        all.push((below.to_vec(), table, own));
    }
    let steps = root.get("steps").and_then(Value::as_array).unwrap_or_default();
    for (at, (value, step)) in steps.iter().zip(&config.steps).enumerate() {
        let table = value.as_table().and_then(verifier);
        if let Some((table, own)) = table.zip(step.verifier.environment.as_deref()) {
            let mut place = vec!["steps".to_owned(), at.to_string()];
            place.extend(below.clone());
            all.push((place, table, own));
        }
    }
    all
}

struct Edits<'a> {
    text: &'a str,
    changes: Vec<(Span, String)>,
    why: Vec<String>,
    /// What the file must say in the end.
    expected: Plain,
}

impl Edits<'_> {
    /// `memory = "2G"` becomes `memory_mb = 2048`, or goes where that is written already.
    fn size(&mut self, place: &[&str], table: &Table, old: &str, new: &str, size: &Field<Number>) {
        // A value of another type is dropped by Harbor and means nothing.
        let Some(entry) = table.entry(old).filter(|entry| entry.value.as_str().is_some()) else {
            return;
        };
        if table.contains(new) {
            // A pair that contradicts itself has not been loaded.
            return self.remove(place, table, entry, new);
        }
        let Some(Number::Int(size)) = size.as_ref().map(|size| &size.value) else {
            return;
        };
        let kind = ValueKind::Integer(Integer::Small(*size));
        self.rename(place, entry, new, Some((size.to_string(), kind)));
    }

    /// `allow_internet` becomes the `network_mode` that it means, or goes where that is written already.
    fn network(&mut self, place: &[&str], table: &Table, environment: &Environment) {
        let Some(entry) = table.entry("allow_internet") else {
            return;
        };
        let Some(mode) = environment.network_mode.as_ref().map(|mode| mode.value) else {
            return;
        };
        if table.contains("network_mode") {
            let means = match entry.value.as_bool() {
                Some(true) => NetworkMode::Public,
                Some(false) => NetworkMode::NoNetwork,
                None => return,
            };
            // What contradicts the mode is for people to decide.
            if means == mode {
                self.remove(place, table, entry, "network_mode");
            }
            return;
        }
        let name = match mode {
            NetworkMode::Public => "public",
            NetworkMode::NoNetwork => "no-network",
            NetworkMode::Allowlist => return,
        };
        if !table.contains("allowed_hosts") {
            let kind = ValueKind::String(name.to_owned());
            self.rename(place, entry, "network_mode", Some((format!("\"{name}\""), kind)));
        }
    }

    /// Writes another key, and another value unless the old one stays.
    fn rename(&mut self, place: &[&str], entry: &Entry, new: &str, value: Option<(String, ValueKind)>) {
        let old = &entry.key.name;
        let Some(table) = self.expected.table(place) else {
            return;
        };
        let Some(mut plain) = table.remove(old) else {
            return;
        };
        self.changes.push((entry.key.span, new.to_owned()));
        if let Some((written, kind)) = value {
            plain = Plain::Scalar(format!("{kind:?}"));
            self.changes.push((entry.value.span, written));
        }
        table.insert(new.to_owned(), plain);
        self.why.push(format!("write `{new}` for `{old}`"));
    }

    /// Takes a key out with its line; a comment behind it stays.
    fn remove(&mut self, place: &[&str], table: &Table, entry: &Entry, because: &str) {
        let old = &entry.key.name;
        if !matches!(table.kind, TableKind::Root | TableKind::Header) {
            return;
        }
        let Some(span) = line_of(self.text, entry) else {
            return;
        };
        let Some(plain) = self.expected.table(place) else {
            return;
        };
        plain.remove(old);
        self.changes.push((span, String::new()));
        self.why
            .push(format!("remove `{old}`, which `{because}` says already"));
    }
}

/// Returns the line of an entry with its end, or the entry up to the comment behind it; `None` when it shares its
/// line with anything else.
fn line_of(text: &str, entry: &Entry) -> Option<Span> {
    let before = text.get(..entry.key.span.start)?;
    let start = before.rfind(['\n', '\r']).map_or(0, |at| at + 1);
    let blank = |c: char| matches!(c, ' ' | '\t');
    if !before.get(start..)?.chars().all(blank) {
        return None;
    }
    let behind = text.get(entry.value.span.end..)?;
    let rest = behind.trim_start_matches(blank);
    let end = text.len() - rest.len();
    match rest.chars().next() {
        None => Some(Span::new(start, end)),
        Some('#') => Some(Span::new(entry.key.span.start, end)),
        Some('\r') if rest.starts_with("\r\n") => Some(Span::new(start, end + 2)),
        Some('\r' | '\n') => Some(Span::new(start, end + 1)),
        Some(_) => None,
    }
}
