//! Which folders are tasks: levels 1 to 6 below a dataset's root.

use std::ffi::CStr;

use camino::{Utf8Path, Utf8PathBuf};
use findings::{Finding, Level};
use rustix::io::Errno;

use super::{remedy, rules};
use crate::ReadFault;
use crate::tree::{Kind, escaped, kind_at, kind_following, list_names};

/// The deepest level at which a task is found; the root is level 0.
pub(super) const LEVELS: usize = 6;
/// Folders that one discovery looks into at most; more than any dataset has.
const MAX_FOLDERS: usize = 200_000;

/// A folder with a task.toml.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// To show and to open.
    pub(super) folder: Utf8PathBuf,
    /// Its name.
    pub(super) id: String,
    /// Why it is not read at all: a link, or a name that is not UTF-8.
    pub(super) refused: Option<Box<Finding>>,
}

/// What a search found.
#[derive(Debug, Default)]
pub(super) struct Discovery {
    pub(super) found: Vec<Found>,
    /// Tasks deeper than one level, for one warning.
    pub(super) below_harbor: Vec<Utf8PathBuf>,
    pub(super) findings: Vec<Finding>,
    /// Folders below the root with a dataset.toml.
    datasets: Vec<Utf8PathBuf>,
    folders: usize,
}

/// Says whether a tasks.jsonl lies in a folder, so that it is a template if it has a task.toml.
pub(super) fn is_template(folder: &Utf8Path) -> bool {
    kind_at(&folder.join("tasks.jsonl")).is_ok()
}

/// Says whether a folder has a task.toml of any kind.
pub(super) fn has_task_toml(folder: &Utf8Path) -> bool {
    kind_at(&folder.join("task.toml")).is_ok()
}

/// Says whether a folder has settings of its own: a template may be a dataset as well.
fn has_dataset_toml(folder: &Utf8Path) -> bool {
    kind_at(&folder.join("dataset.toml")).is_ok()
}

impl Found {
    pub(super) fn at(folder: Utf8PathBuf, id: String) -> Self {
        Self {
            folder,
            id,
            refused: None,
        }
    }

    pub(super) fn linked(folder: Utf8PathBuf, id: String) -> Self {
        let finding = Finding::new(
            &rules::LINKED_TASK,
            format!("the task folder `{id}` is a symbolic link"),
        )
        .help("move the folder itself here, or name the folder that the link leads to")
        .at_path(&folder)
        .in_task(&id);
        Self {
            folder,
            id,
            refused: Some(Box::new(finding)),
        }
    }
}

impl Discovery {
    /// Searches a dataset's root. The order of what is found is that of its paths.
    pub(super) fn search(root: &Utf8Path) -> Result<Self, Errno> {
        let mut discovery = Self::default();
        discovery.level(root, 1, list_names(root)?);
        discovery
            .found
            .sort_by(|a, b| a.folder.as_str().cmp(b.folder.as_str()));
        discovery.below_harbor.sort();
        discovery.unread(root);
        Ok(discovery)
    }

    /// Tells of every dataset.toml around some of the tasks that is not the root's: only that one counts.
    fn unread(&mut self, root: &Utf8Path) {
        let around_tasks = |folder: &Utf8PathBuf| {
            let inside = format!("{folder}/");
            let first = self
                .found
                .partition_point(|f| f.folder.as_str() < inside.as_str());
            let found = self.found.get(first);
            has_task_toml(folder) || found.is_some_and(|f| f.folder.as_str().starts_with(&inside))
        };
        self.datasets.retain(around_tasks);
        for folder in std::mem::take(&mut self.datasets) {
            let file = folder.join("dataset.toml");
            let shown = file.strip_prefix(root).unwrap_or(&file);
            let message = format!("`{shown}` is not read: settings hold for a dataset that is named itself");
            let finding = Finding::new(&rules::DATASET_BELOW, message)
                .help(format!("name `{folder}` as a target"))
                .at_path(file);
            self.findings.push(finding);
        }
    }

    /// Looks at the entries of `folder`, which are at `level`.
    fn level(&mut self, folder: &Utf8Path, level: usize, mut names: Vec<(std::ffi::CString, Kind)>) {
        names.sort();
        for (name, kind) in names {
            if name.as_bytes().starts_with(b".") {
                continue;
            }
            match kind {
                Kind::Folder => self.folder(folder, level, &name),
                Kind::Link => self.link(folder, &name),
                Kind::File | Kind::Special => {}
            }
        }
    }

    fn folder(&mut self, parent: &Utf8Path, level: usize, name: &CStr) {
        let Ok(text) = name.to_str() else {
            return self.not_utf8(parent, name);
        };
        let folder = parent.join(text);
        if has_task_toml(&folder) {
            if level > 1 {
                self.below_harbor.push(folder.clone());
            }
            if has_dataset_toml(&folder) && is_template(&folder) {
                self.datasets.push(folder.clone());
            }
            self.found.push(Found::at(folder, text.to_owned()));
            return;
        }
        self.folders += 1;
        if self.folders > MAX_FOLDERS {
            return;
        }
        if has_dataset_toml(&folder) {
            self.datasets.push(folder.clone());
        }
        match list_names(&folder) {
            Ok(names) if level < LEVELS => self.level(&folder, level + 1, names),
            Ok(names) => self.beyond(&folder, &names),
            Err(errno) => {
                let message = format!(
                    "the folder `{text}` cannot be searched: {}",
                    std::io::Error::from(errno)
                );
                let finding = Finding::new(&rules::UNREADABLE, message)
                    .help(remedy(&ReadFault::Unreadable(String::new())));
                self.findings.push(finding.at_path(folder));
            }
        }
    }

    /// One level further down than anything is found: only to say so.
    fn beyond(&mut self, folder: &Utf8Path, names: &[(std::ffi::CString, Kind)]) {
        for (name, _) in names
            .iter()
            .filter(|(name, kind)| *kind == Kind::Folder && !name.as_bytes().starts_with(b"."))
        {
            let Ok(text) = name.to_str() else { continue };
            let below = folder.join(text);
            if has_task_toml(&below) {
                let message =
                    format!("`{text}` has a task.toml but lies deeper than six levels and is not found");
                let finding = Finding::new(&rules::BELOW_GYM, message).help("move it up");
                self.findings.push(finding.at_path(below));
            }
        }
    }

    fn link(&mut self, parent: &Utf8Path, name: &CStr) {
        let Ok(text) = name.to_str() else { return };
        let path = parent.join(text);
        if kind_following(&path) != Ok(Kind::Folder) {
            return;
        }
        if has_task_toml(&path) {
            self.found.push(Found::linked(path, text.to_owned()));
        } else {
            let message = format!("the link `{text}` leads to a folder that is not searched for tasks");
            let finding = Finding::new(&rules::LINK_NOT_SEARCHED, message)
                .help("if it holds tasks, put the folder itself there");
            self.findings.push(finding.at_path(path));
        }
    }

    fn not_utf8(&mut self, parent: &Utf8Path, name: &CStr) {
        let shown = escaped(name.to_bytes());
        let path = parent.join(&shown);
        let mut raw = parent.as_str().as_bytes().to_vec();
        raw.push(b'/');
        raw.extend_from_slice(name.to_bytes());
        raw.extend_from_slice(b"/task.toml");
        let message = format!("the name of the folder `{shown}` is not UTF-8");
        let finding = Finding::new(&rules::NAME_NOT_UTF8, message)
            .help("rename it")
            .at_path(&path);
        if rustix::fs::lstat(raw.as_slice()).is_ok() {
            let refused = Some(Box::new(finding.in_task(&shown)));
            self.found.push(Found {
                folder: path,
                id: shown,
                refused,
            });
        } else {
            self.findings.push(finding.level(Level::Warning));
        }
    }
}

/// Returns folders inside a task folder, outside of what belongs to a task, that have a task.toml of their own.
/// `starts` are the folders to look into, at most as many in all as a person would make.
pub(super) fn nested_tasks(starts: Vec<Utf8PathBuf>) -> Vec<Utf8PathBuf> {
    const MOST: usize = 1_000;
    let mut nested = Vec::new();
    let mut todo: Vec<(Utf8PathBuf, usize)> = starts.into_iter().map(|f| (f, 1)).collect();
    let mut looked = 0;
    while let Some((folder, level)) = todo.pop() {
        looked += 1;
        if looked > MOST {
            break;
        }
        if has_task_toml(&folder) {
            nested.push(folder);
            continue;
        }
        if level < LEVELS {
            let names = list_names(&folder).unwrap_or_default();
            let inside = names
                .iter()
                .filter(|(name, kind)| *kind == Kind::Folder && !name.as_bytes().starts_with(b"."));
            todo.extend(inside.filter_map(|(name, _)| Some((folder.join(name.to_str().ok()?), level + 1))));
        }
    }
    nested.sort();
    nested
}
