//! Line ends, byte order marks and modes of shell scripts.

use camino::{Utf8Path, Utf8PathBuf};
use findings::Span;
use task_model::template::rendered_name;
use task_model::{NodeKind, TaskTree};

use super::{FileEdit, MAX_FILE, Part, Wanted};
use crate::Rule;
use crate::rules::shell::{byte_order_mark, carriage_return, not_executable};

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
            let text = std::str::from_utf8(&bytes).ok()?;
            edit(&path, text, node.mode, rules)
        })
        .collect()
}

/// Returns the path that findings name: those about a template's rows name the file as it is rendered.
pub(super) fn rendered(path: &Utf8Path) -> Utf8PathBuf {
    let name = path.file_name().and_then(rendered_name);
    name.map_or_else(|| path.to_owned(), |name| path.with_file_name(name))
}

/// What is to be done to a file.
#[derive(Clone, Copy)]
struct Rules {
    mark: bool,
    ends: bool,
    mode: bool,
}

impl Rules {
    fn wanted(path: &Utf8Path, wanted: &Wanted<'_>) -> Option<Self> {
        let shown = rendered(path);
        let wants = |rule: &Rule| wanted(&shown, rule.meta.name);
        let rules = Self {
            mark: wants(&byte_order_mark::RULE),
            ends: wants(&carriage_return::RULE),
            mode: wants(&not_executable::RULE),
        };
        (rules.mark || rules.ends || rules.mode).then_some(rules)
    }
}

/// Plans a script's edit: a mark goes always, carriage returns where the whole script is written with them.
fn edit(path: &Utf8Path, text: &str, mode: u32, rules: Rules) -> Option<FileEdit> {
    let mut parts = Vec::new();
    let mut part = |rule: &'static Rule, at: Option<Span>, what: &str, changes| {
        parts.push(Part {
            rule: rule.meta.name,
            at,
            what: what.to_owned(),
            changes,
        });
    };
    let script = text.strip_prefix(MARK).unwrap_or(text);
    let shell = path.extension() == Some("sh");
    if shell && script.len() < text.len() && rules.mark {
        let mark = Span::new(0, MARK.len_utf8());
        part(
            &byte_order_mark::RULE,
            Some(mark),
            "remove the byte order mark",
            vec![(mark, String::new())],
        );
    }
    if rules.ends && carriage_return::is_broken(path, script) {
        let ends = text.match_indices("\r\n").map(|(at, _)| at);
        let changes = ends.map(|at| (Span::new(at, at + 1), String::new()));
        part(
            &carriage_return::RULE,
            None,
            "end lines with LF",
            changes.collect(),
        );
    }
    let runs = mode | not_executable::BITS;
    let changes_mode = shell && rules.mode && mode & not_executable::BITS == 0;
    if changes_mode {
        part(&not_executable::RULE, None, "make it executable", Vec::new());
    }
    (!parts.is_empty()).then(|| FileEdit {
        path: path.to_owned(),
        before: text.to_owned(),
        parts,
        mode: changes_mode.then_some((mode, runs)),
    })
}
