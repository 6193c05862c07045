//! The shell scripts of tests/ that a grader calls.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};

use super::paths::{is_plain, read_words};
use crate::context::TaskContext;

/// More scripts than this nobody calls.
const MOST: usize = 50;

/// Returns a grader and the scripts of tests/ that it calls or sources by their whole path, and those that they call.
pub(crate) fn with_called(task: &TaskContext<'_>, grader: &Utf8Path) -> Vec<Utf8PathBuf> {
    let folders = folders_of(grader);
    let mut seen = BTreeSet::from([grader.to_owned()]);
    let mut all = vec![grader.to_owned()];
    let mut at = 0;
    while let Some(path) = all.get(at).cloned() {
        at += 1;
        let Some(script) = task.script(&path) else {
            continue;
        };
        for word in script.commands.iter().flat_map(read_words) {
            let Some(below) = word
                .literal
                .as_deref()
                .and_then(|text| text.strip_prefix("/tests/"))
            else {
                continue;
            };
            let shipped =
                |folder: &Utf8PathBuf| Some(folder.join(below)).filter(|p| task.task.tree.is_file(p));
            let called = folders.iter().find_map(shipped);
            let called = called.filter(|path| is_plain(below) && path.extension() == Some("sh"));
            if let Some(called) = called.filter(|path| all.len() < MOST && seen.insert(path.clone())) {
                all.push(called);
            }
        }
    }
    all
}

/// Returns the folders that runners lay over each other for a script of the task, the one that wins first: that of its
/// step, then the task's.
pub(crate) fn folders_of(script: &Utf8Path) -> Vec<Utf8PathBuf> {
    let own = script.parent().unwrap_or(Utf8Path::new("")).to_owned();
    let name = own.file_name().unwrap_or_default();
    let mut all = vec![own.clone()];
    // Only tests have a common part.
    if name == "tests" && own.as_str() != "tests" {
        all.push("tests".into());
    }
    all
}
