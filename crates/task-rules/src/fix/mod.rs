//! Edits that take a finding away and change nothing else: planned here as data, written by the program.
//!
//! Every edit is a byte range of a file with its new text, so comments, spacing and line ends elsewhere stay as they
//! are. What an edit must not change is checked before it is handed out: a task.toml is read again and compared.
//! Fixing what is fixed plans nothing.

mod diff;
mod digests;
mod legacy;
mod plain;
mod scripts;
#[cfg(test)]
mod tests;

use camino::{Utf8Path, Utf8PathBuf};
use findings::Span;
use task_model::TaskTree;
use task_model::toml_text::splice;
use task_model::tree::Extent;

pub use digests::dataset;

/// The largest file that is edited, in bytes.
const MAX_FILE: u64 = task_model::load::MAX_TEXT;

/// One file's edits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileEdit {
    /// The file, to show and to write: below the folder that was given.
    pub path: Utf8PathBuf,
    /// Its text when it was read.
    pub before: String,
    /// What changes, in order of place, without overlaps.
    pub changes: Vec<(Span, String)>,
    /// What is done, one phrase each: ``write `memory_mb` for `memory` ``.
    pub why: Vec<String>,
}

impl FileEdit {
    /// Returns the text that is to be there.
    #[must_use]
    pub fn after(&self) -> String {
        splice(&self.before, &self.changes)
    }

    /// Returns the edit as a unified diff that is safe to print: controls are shown escaped, so a carriage return
    /// that goes is seen.
    #[must_use]
    pub fn diff(&self) -> String {
        diff::unified(self)
    }
}

/// Says whether a rule's finding about a file is to be fixed: the path as findings show it, and the rule's name. What
/// nobody wants to hear of is not edited either.
pub type Wanted<'a> = dyn Fn(&Utf8Path, &str) -> bool + 'a;

/// Plans the edits of a task folder or a template folder, in byte order of paths. It is listed and read anew; only
/// regular files are edited, a link never.
#[must_use]
pub fn folder(folder: &Utf8Path, wanted: &Wanted<'_>) -> Vec<FileEdit> {
    let mut tree = TaskTree::list(folder, Extent::Covered);
    if tree.is_file("tasks.jsonl") {
        // A template's rows are made of all its folders.
        tree = TaskTree::list(folder, Extent::All);
    }
    let mut edits = scripts::edits(folder, &tree, wanted);
    if wanted(&folder.join("task.toml"), "legacy-key") {
        edits.extend(legacy::edit(folder, &tree));
    }
    edits.sort_by(|a, b| a.path.cmp(&b.path));
    edits
}
