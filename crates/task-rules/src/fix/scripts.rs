//! Line ends and byte order marks of scripts.

use camino::Utf8Path;
use findings::Span;
use task_model::template::rendered_name;
use task_model::{NodeKind, TaskTree};

use super::{FileEdit, MAX_FILE, Wanted};
use crate::Rule;
use crate::rules::shell::{byte_order_mark, carriage_return};

const MARK: char = '\u{feff}';

pub(super) fn edits(folder: &Utf8Path, tree: &TaskTree, wanted: &Wanted<'_>) -> Vec<FileEdit> {
    let files = tree
        .nodes()
        .iter()
        .filter(|node| matches!(node.kind, NodeKind::File(_)));
    files
        .filter_map(|node| {
            let path = folder.join(&node.path);
            let rules = Rules::wanted(&path, wanted)?;
            let bytes = tree.read(&node.path, MAX_FILE).ok()?;
            edit(&path, std::str::from_utf8(&bytes).ok()?, rules)
        })
        .collect()
}

/// What is to be done to a file.
#[derive(Clone, Copy)]
struct Rules {
    mark: bool,
    ends: bool,
}

impl Rules {
    fn wanted(path: &Utf8Path, wanted: &Wanted<'_>) -> Option<Self> {
        // Findings about a template's rows name the file as it is rendered.
        let rendered = path.file_name().and_then(rendered_name);
        let shown = rendered.map_or_else(|| path.to_owned(), |name| path.with_file_name(name));
        let wants = |rule: &Rule| wanted(&shown, rule.meta.name);
        let rules = Self {
            mark: wants(&byte_order_mark::RULE),
            ends: wants(&carriage_return::RULE),
        };
        (rules.mark || rules.ends).then_some(rules)
    }
}

/// Plans a script's edit: a mark goes always, carriage returns where the whole script is written with them.
fn edit(path: &Utf8Path, text: &str, rules: Rules) -> Option<FileEdit> {
    let mut changes = Vec::new();
    let mut why = Vec::new();
    let script = text.strip_prefix(MARK).unwrap_or(text);
    let shell = path.extension() == Some("sh");
    if shell && script.len() < text.len() && rules.mark {
        changes.push((Span::new(0, MARK.len_utf8()), String::new()));
        why.push("remove the byte order mark".to_owned());
    }
    if rules.ends && carriage_return::is_broken(path, script) {
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
