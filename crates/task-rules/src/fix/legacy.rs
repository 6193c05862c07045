//! Older spellings of the keys of task.toml and of dataset.toml's overrides: each becomes what Harbor reads it as.

use std::sync::Arc;

use camino::Utf8Path;
use findings::{Level, SourceFile};
use task_model::config::{self, Environment, Field, NetworkMode, Number, TaskToml};
use task_model::toml_text::{Integer, Table, Value, ValueKind};
use task_model::{NodeKind, TaskTree};

use super::edits::Edits;
use super::plain::Plain;
use super::{FileEdit, MAX_FILE};

/// The rule whose findings go away.
pub(super) const RULE: &str = "legacy-key";

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
    let mut edits = Edits::new(text, &root);
    if let Some(entry) = root.entry("version").filter(|_| !root.contains("schema_version")) {
        edits.rename(RULE, &[], entry, "schema_version", None);
    }
    for (place, table, environment) in environments(&root, &config) {
        let place: Vec<&str> = place.iter().map(String::as_str).collect();
        of_environment(&mut edits, &place, table, environment);
    }
    let (edit, expected) = edits.finish(path)?;
    let after = config::read(path, edit.after().as_bytes());
    let says = after.root.as_ref().map(Plain::of);
    let same = says.as_ref() == Some(&expected) && after.config.is_some();
    (same && after.gym_refuses == read.gym_refuses).then_some(edit)
}

/// Plans the edits of the overrides in dataset.toml: `[gym.tasks."id".environment]`.
pub(super) fn of_overrides(edits: &mut Edits<'_>, source: &Arc<SourceFile>, root: &Table) {
    let tasks = root.table("gym").and_then(|gym| gym.table("tasks"));
    for entry in tasks.map(Table::entries).unwrap_or_default() {
        let value = entry.value.as_table().and_then(|over| over.get("environment"));
        let Some((value, table)) = value.and_then(|value| Some((value, value.as_table()?))) else {
            continue;
        };
        let read = config::read_environment(value, source, "environment", Level::Error);
        if let Some(environment) = read.value.filter(|_| !read.gym_refuses) {
            let place = ["gym", "tasks", &entry.key.name, "environment"];
            of_environment(edits, &place, table, &environment);
        }
    }
}

fn of_environment(edits: &mut Edits<'_>, place: &[&str], table: &Table, environment: &Environment) {
    size(
        edits,
        place,
        table,
        ["memory", "memory_mb"],
        &environment.memory_mb,
    );
    size(
        edits,
        place,
        table,
        ["storage", "storage_mb"],
        &environment.storage_mb,
    );
    network(edits, place, table, environment);
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

/// `memory = "2G"` becomes `memory_mb = 2048`, or goes where that is written already.
fn size(edits: &mut Edits<'_>, place: &[&str], table: &Table, [old, new]: [&str; 2], size: &Field<Number>) {
    // A value of another type is dropped by Harbor and means nothing.
    let Some(entry) = table.entry(old).filter(|entry| entry.value.as_str().is_some()) else {
        return;
    };
    if table.contains(new) {
        // A pair that contradicts itself has not been loaded.
        return edits.remove(RULE, place, table, entry, new);
    }
    let Some(Number::Int(size)) = size.as_ref().map(|size| &size.value) else {
        return;
    };
    let kind = ValueKind::Integer(Integer::Small(*size));
    edits.rename(RULE, place, entry, new, Some((size.to_string(), kind)));
}

/// `allow_internet` becomes the `network_mode` that it means, or goes where that is written already.
fn network(edits: &mut Edits<'_>, place: &[&str], table: &Table, environment: &Environment) {
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
            edits.remove(RULE, place, table, entry, "network_mode");
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
        let value = Some((format!("\"{name}\""), kind));
        edits.rename(RULE, place, entry, "network_mode", value);
    }
}
