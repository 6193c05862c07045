//! `--since`: the tasks that changed, by git.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use task_model::Dataset;

use crate::exit::UsageError;
use crate::git;
use crate::settings::Settings;

/// Files that every task of a dataset depends on.
const SHARED: [&str; 3] = ["dataset.toml", "verifier.py", "task_data.py"];
/// A task's dataset is looked for this many levels up.
const LEVELS: usize = 6;

/// Returns the ids of the tasks that differ from a commit; all, when the dataset itself does.
///
/// # Errors
/// When the target is in no repository, or the commit is none of it.
pub(super) fn changed(
    dataset: &Dataset,
    commit: &str,
    settings: &Settings,
) -> anyhow::Result<BTreeSet<String>> {
    let target = real(&settings.cwd.join(&dataset.target));
    let paths = git::changed_since(&target, commit, &settings.env)
        .map_err(|why| UsageError::because(format!("--since {commit}: {why}")))?;
    let shared = shares(&paths, &target);
    let tasks = dataset.tasks.iter().filter(|task| {
        let folder = real(&settings.cwd.join(&task.folder));
        // Sorted, what is below a folder follows the folder itself.
        let mut below = paths.range(folder.clone()..);
        shared || below.next().is_some_and(|path| path.starts_with(&folder))
    });
    Ok(tasks.map(|task| task.id.clone()).collect())
}

/// Says whether a file changed that the tasks of this target share.
fn shares(paths: &BTreeSet<Utf8PathBuf>, target: &Utf8Path) -> bool {
    let folders = target.ancestors().take(LEVELS + 1);
    folders
        .flat_map(|folder| SHARED.map(|name| folder.join(name)))
        .any(|file| paths.contains(&file))
}

fn real(path: &Utf8Path) -> Utf8PathBuf {
    path.canonicalize_utf8().unwrap_or_else(|_| path.to_owned())
}
