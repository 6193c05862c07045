//! The files of environment/ that the services of a Compose task read.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use container_files::compose::Project;
use sandbox::{Entry, EntryKind};
use task_model::TaskTree;
use task_model::tree::Resolved;

use super::NotRun;
use super::compose::{FOLDER, unavailable};
use crate::files::uploads;

/// Returns the files of environment/ that services bind or read, links as the files they stand for.
pub(super) fn files(
    tree: &TaskTree,
    project: &Project,
    at: &dyn Fn(&std::ops::Range<usize>) -> String,
) -> Result<Vec<Entry>, NotRun> {
    let mut files: BTreeMap<Utf8PathBuf, Entry> = BTreeMap::new();
    let all = Environment::of(tree);
    for (path, span) in &project.paths {
        let path = Utf8Path::new(if path == "." { "" } else { path });
        let Some(found) = all.under(path) else {
            let path = Utf8Path::new(FOLDER).join(path);
            return Err(unavailable(format!(
                "{} names `{path}`, which is not there",
                at(span)
            )));
        };
        files.extend(found.into_iter().map(|entry| (entry.path.clone(), entry)));
    }
    Ok(files.into_values().collect())
}

/// The entries of environment/, by path in it.
struct Environment<'a> {
    tree: &'a TaskTree,
    entries: BTreeMap<Utf8PathBuf, Entry>,
}

impl<'a> Environment<'a> {
    fn of(tree: &'a TaskTree) -> Self {
        let entries = uploads(tree, FOLDER, &|_| false);
        Self {
            tree,
            entries: entries
                .into_iter()
                .map(|entry| (entry.path.clone(), entry))
                .collect(),
        }
    }

    /// Follows a path to where it really is in environment/.
    fn real(&self, path: &Utf8Path) -> Option<Utf8PathBuf> {
        match self.tree.resolve(Utf8Path::new(FOLDER).join(path)) {
            Resolved::File(real) | Resolved::Folder(real) => {
                real.strip_prefix(FOLDER).ok().map(Utf8Path::to_owned)
            }
            _ => None,
        }
    }

    /// Returns a file, or a folder with all in it, by the paths that were asked for.
    fn under(&self, path: &Utf8Path) -> Option<Vec<Entry>> {
        let top = self.real(path)?;
        let mut found = Vec::new();
        for (real, entry) in self.entries.range(top.clone()..) {
            let Ok(below) = real.strip_prefix(&top) else {
                break;
            };
            let mut entry = entry.clone();
            entry.path = if below.as_str().is_empty() {
                path.to_owned()
            } else {
                path.join(below)
            };
            if let EntryKind::Link(_) = entry.kind {
                let target = self.real(real).and_then(|target| self.entries.get(&target));
                match target {
                    Some(target) if target.kind != EntryKind::Folder => entry.kind = target.kind.clone(),
                    _ => continue,
                }
            }
            found.push(entry);
        }
        Some(found)
    }
}
