//! What the services of a task's Compose files may do to the host.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::rc::Rc;

use camino::{Utf8Path, Utf8PathBuf};
use container_files::compose::{self, Rights};

use crate::context::{ComposeView, TaskContext};
use crate::rules::container;

/// Folders of the host that Harbor makes for each trial, by the variables it gives to Compose.
const RUNTIME: [&str; 3] = [
    "HOST_VERIFIER_LOGS_PATH",
    "HOST_AGENT_LOGS_PATH",
    "HOST_ARTIFACTS_PATH",
];

/// A Compose file and its services.
pub(super) struct Composed {
    pub(super) view: Rc<ComposeView>,
    /// The file's folder in the task.
    folder: Utf8PathBuf,
    pub(super) services: Vec<Rights>,
}

/// One bind mount of a service.
pub(super) struct Bind {
    pub(super) compose: Rc<ComposeView>,
    pub(super) service: String,
    /// As written.
    pub(super) written: String,
    pub(super) read_only: bool,
    pub(super) place: Range<usize>,
    /// From the task's folder; `None` when it lies elsewhere.
    pub(super) path_in_task: Option<Utf8PathBuf>,
    /// Whether it is a folder that Harbor makes for the trial.
    pub(super) runtime: bool,
}

/// Returns the Compose files that are read. What a service has from another one is told once, where it is written.
pub(super) fn all(task: &TaskContext<'_>) -> Vec<Composed> {
    let each = task.compose_files().into_iter().map(|(path, view)| {
        let folder = path.parent().map(ToOwned::to_owned).unwrap_or_default();
        let services = services(task, &folder, &view);
        Composed {
            view,
            folder,
            services,
        }
    });
    each.collect()
}

/// Returns every bind mount of a task's Compose files.
pub(super) fn binds(task: &TaskContext<'_>) -> Vec<Bind> {
    let mut binds = Vec::new();
    for composed in all(task) {
        for service in composed.services {
            let found = service.binds.into_iter().map(|bind| Bind {
                compose: Rc::clone(&composed.view),
                service: service.service.clone(),
                path_in_task: inside(&composed.folder, &bind.source),
                runtime: RUNTIME
                    .iter()
                    .any(|name| bind.source.starts_with(&format!("/${{{name}}}"))),
                written: bind.written,
                read_only: bind.read_only,
                place: bind.span,
            });
            binds.extend(found);
        }
    }
    binds
}

fn services(task: &TaskContext<'_>, folder: &Utf8Path, view: &ComposeView) -> Vec<Rights> {
    let set = task
        .text(folder.join(".env"))
        .map(|source| variables(source.text()));
    let known = |name: &str| {
        if RUNTIME.contains(&name) {
            return Some(format!("/${{{name}}}"));
        }
        container::known(name).or_else(|| set.as_ref()?.get(name).cloned())
    };
    let read = |path: &str| {
        let path = inside(folder, path)?;
        Some(task.compose_file(path)?.file.clone())
    };
    let mut services = compose::rights(&view.file, &known, &read);
    let mut told = BTreeSet::new();
    let mut new = |span: &Range<usize>, what: &str| told.insert((span.start, span.end, what.to_owned()));
    for service in &mut services {
        service.privileged = service.privileged.take().filter(|span| new(span, "privileged"));
        service.capabilities.retain(|(name, span)| new(span, name));
        service.binds.retain(|bind| new(&bind.span, &bind.source));
    }
    services
}

/// Returns what a `.env` beside the Compose file sets, as far as it is plain to see: no quotes, nothing to fill in.
fn variables(text: &str) -> BTreeMap<String, String> {
    let pair = |line: &str| {
        let (name, value) = line.trim().split_once('=')?;
        let plain = !name.starts_with('#') && !value.contains(['$', '\\', '"', '\'', '#', ' ']);
        plain.then(|| (name.trim().to_owned(), value.to_owned()))
    };
    text.lines().filter_map(pair).collect()
}

/// Returns a path of a Compose file's folder as one of the task's; `None` when it lies elsewhere or is not known.
fn inside(folder: &Utf8Path, source: &str) -> Option<Utf8PathBuf> {
    if source.starts_with(['/', '~']) {
        return None;
    }
    let mut path = folder.to_owned();
    for part in source.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                if !path.pop() {
                    return None;
                }
            }
            name => path.push(name),
        }
    }
    Some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_lines_of_a_dotenv_are_read() {
        let read = variables("# A=1\nB=2\n C=./x \nD=$B\nE=\"q\"\nF\n");
        let read: Vec<(&str, &str)> = read.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        assert_eq!(read, [("B", "2"), ("C", "./x")]);
    }

    #[test]
    fn paths_stay_in_the_task_until_they_leave_it() {
        let of = |source| inside(Utf8Path::new("steps/a/tests"), source).map(Utf8PathBuf::into_string);
        assert_eq!(of("../../x").as_deref(), Some("steps/x"));
        assert_eq!(of("../../.."), Some(String::new()));
        assert_eq!(of("../../../.."), None);
        assert_eq!(of("~/x"), None);
    }
}
