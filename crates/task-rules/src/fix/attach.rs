//! Findings that `--fix` takes away say so and carry the edit.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use camino::Utf8PathBuf;
use findings::{Fix, SourceFile};
use task_model::Dataset;

use super::{FileEdit, RULES, Shown, dataset, folder, scripts, tidy};

/// Changes of one finding that are listed; a script written with CRLF has one a line.
const MOST_CHANGES: usize = 200;
/// The line of help that a fixable finding has.
const HELP: &str = "`--fix` does it";

/// Gives every finding of a selected task, and of the dataset itself, the edit that takes it away, if there is one.
pub fn attach(set: &mut Dataset) {
    let fixable: Vec<_> = set
        .findings
        .iter()
        .filter(|f| RULES.contains(&f.rule.name))
        .collect();
    if fixable.is_empty() {
        return;
    }
    let shown = Shown::of(fixable.iter().copied());
    let of_tasks: BTreeSet<&str> = fixable.iter().filter_map(|f| f.task.as_deref()).collect();
    let wanted = |path: &camino::Utf8Path, rule: &str| shown.has(path, rule);
    let mut folders = BTreeSet::new();
    let mut edits: Vec<FileEdit> = Vec::new();
    for task in set.tasks.iter().filter(|task| task.selected) {
        if of_tasks.contains(task.id.as_str()) && folders.insert(&task.folder) {
            edits.extend(folder(&task.folder, &wanted));
        }
    }
    edits.extend(dataset(set, &[], &wanted, true));
    let by_path: BTreeMap<Utf8PathBuf, (FileEdit, Arc<SourceFile>)> = edits
        .into_iter()
        .map(|edit| {
            let source = Arc::new(SourceFile::new(edit.path.clone(), edit.before.clone()));
            (tidy(&scripts::rendered(&edit.path)), (edit, source))
        })
        .collect();
    for finding in &mut set.findings {
        let Some(place) = finding.location.as_ref().map(|location| tidy(location.path())) else {
            continue;
        };
        let Some((edit, source)) = by_path.get(&place) else {
            continue;
        };
        let Some(part) = edit.parts.iter().find(|part| part.fits(finding)) else {
            continue;
        };
        if !finding.help.iter().any(|line| line.contains("`--fix`")) {
            finding.help.push(HELP.to_owned());
        }
        let few = part.changes.len() <= MOST_CHANGES;
        finding.fix = Some(Fix {
            what: part.what.clone(),
            source: Arc::clone(source),
            changes: if few { part.changes.clone() } else { Vec::new() },
        });
    }
}
