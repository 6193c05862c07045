//! Line ends and byte order marks of shell scripts.

use camino::Utf8Path;
use findings::Span;
use task_model::{NodeKind, TaskTree};

use super::{FileEdit, MAX_FILE, Wanted};
use crate::Rule;
use crate::rules::shell::{byte_order_mark, carriage_return};

const MARK: char = '\u{feff}';

pub(super) fn edits(folder: &Utf8Path, tree: &TaskTree, wanted: &Wanted<'_>) -> Vec<FileEdit> {
    let scripts = tree
        .nodes()
        .iter()
        .filter(|node| matches!(node.kind, NodeKind::File(_)) && node.path.extension() == Some("sh"));
    scripts
        .filter_map(|node| {
            let bytes = tree.read(&node.path, MAX_FILE).ok()?;
            let text = std::str::from_utf8(&bytes).ok()?;
            edit(&folder.join(&node.path), text, wanted)
        })
        .collect()
}

/// Plans a script's edit: a mark goes always, carriage returns where the whole script is written with them.
fn edit(path: &Utf8Path, text: &str, wanted: &Wanted<'_>) -> Option<FileEdit> {
    // Findings about a template's rows name the file as it is rendered.
    let stem = path.file_stem().unwrap_or_default();
    let shown = path.with_file_name(format!("{}.sh", stem.strip_suffix(".template").unwrap_or(stem)));
    let wants = |rule: &Rule| wanted(&shown, rule.meta.name);
    let mut changes = Vec::new();
    let mut why = Vec::new();
    let script = text.strip_prefix(MARK).unwrap_or(text);
    if script.len() < text.len() && wants(&byte_order_mark::RULE) {
        changes.push((Span::new(0, MARK.len_utf8()), String::new()));
        why.push("remove the byte order mark".to_owned());
    }
    if carriage_return::is_of_windows(script) && wants(&carriage_return::RULE) {
        let ends = text.match_indices("\r\n").map(|(at, _)| at);
        changes.extend(ends.map(|at| (Span::new(at, at + 1), String::new())));
        why.push("end lines with LF".to_owned());
    }
    (!changes.is_empty()).then(|| FileEdit {
        path: path.to_owned(),
        before: text.to_owned(),
        changes,
        why,
    })
}
