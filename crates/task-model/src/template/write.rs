//! Rendered tasks, written as a plain dataset.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt};

use camino::{Utf8Path, Utf8PathBuf};

use crate::dataset::Settings;
use crate::{Content, Dataset, NodeKind, Origin, ReadFault, Task, TreeNode};

/// Files of the dataset that travel beside the tasks.
const BESIDE: [&str; 3] = ["dataset.toml", "task_data.py", "verifier.py"];

/// What was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendered {
    /// Ids of the tasks, in order.
    pub tasks: Vec<String>,
    /// The dataset's files that were copied beside them.
    pub files: Vec<&'static str>,
    /// Ids in `[gym.tasks."id"]` of the copied dataset.toml that are tasks elsewhere in the dataset, in order: Gym refuses
    /// what was written until they are gone.
    pub foreign: Vec<String>,
}

/// Why nothing was written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RenderError {
    /// No rows, so no template.
    #[error("{0} is no template: there is no tasks.jsonl beside its task.toml")]
    NoTemplate(Utf8PathBuf),
    /// Some row makes no task.
    #[error("{0} row(s) make no task; nothing is written before all do")]
    Broken(usize),
    /// The dataset refuses all of its tasks, this template's too.
    #[error("nothing is written: {0}")]
    Refused(String),
    /// Would be overwritten.
    #[error("{0} exists and is not an empty folder; give an output that does not exist yet")]
    Occupied(Utf8PathBuf),
    /// Writing into what is read.
    #[error("{0} lies inside the template; give an output outside of it")]
    Inside(Utf8PathBuf),
    /// A file of the template.
    #[error("{path} {source}")]
    Read {
        /// Which.
        path: Utf8PathBuf,
        /// Why.
        source: ReadFault,
    },
    /// A file of the output.
    #[error("cannot write {path}: {source}")]
    Write {
        /// Which.
        path: Utf8PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

/// Writes every row's task of `dataset`, a loaded template, to `output/<task_id>/`, and the dataset's own files beside
/// them. `output` must be absent or empty. Everything is written to a folder beside it and renamed at the end, so a
/// failure leaves nothing.
///
/// # Errors
/// The dataset is no template or some row makes no task; the output is occupied or inside the template; reading or
/// writing fails.
pub fn render(dataset: &Dataset, output: &Utf8Path) -> Result<Rendered, RenderError> {
    let rows: Vec<&Task> = dataset
        .tasks
        .iter()
        .filter(|t| matches!(t.origin, Origin::Row { .. }))
        .collect();
    let Some(first) = rows.first() else {
        return Err(RenderError::NoTemplate(dataset.target.clone()));
    };
    let broken = dataset.coverage.seen.saturating_sub(rows.len())
        + rows.iter().filter(|t| t.tree.nodes().is_empty()).count();
    if broken > 0 {
        return Err(RenderError::Broken(broken));
    }
    if let Some(reason) = &dataset.refused {
        return Err(RenderError::Refused(reason.clone()));
    }
    let parent = vacant(output, &first.folder)?;
    let staging = Staging::new(&parent, output)?;
    for task in &rows {
        write_task(task, &staging.path.join(&task.id))?;
    }
    let mut files = Vec::new();
    for name in BESIDE {
        let from = dataset.root.join(name);
        match crate::tree::read_file(&from, crate::load::MAX_TEXT) {
            Ok(bytes) => {
                write_file(&staging.path.join(name), &bytes, 0o644)?;
                files.push(name);
            }
            Err(ReadFault::Missing) => {}
            Err(source) => return Err(RenderError::Read { path: from, source }),
        }
    }
    staging.rename(output)?;
    Ok(Rendered {
        tasks: rows.iter().map(|t| t.id.clone()).collect(),
        files,
        foreign: foreign(dataset, &rows),
    })
}

/// Returns the overrides of the dataset's settings that are for none of `rows`.
fn foreign(dataset: &Dataset, rows: &[&Task]) -> Vec<String> {
    let Some(source) = &dataset.toml_source else {
        return Vec::new();
    };
    let here: BTreeSet<&str> = rows.iter().map(|task| task.id.as_str()).collect();
    let settings = Settings::read(source.path(), source.text().as_bytes());
    let ids = settings.overrides.into_keys();
    ids.filter(|id| !here.contains(id.as_str())).collect()
}

/// Checks that `output` can be made, and returns its parent.
fn vacant(output: &Utf8Path, template: &Utf8Path) -> Result<Utf8PathBuf, RenderError> {
    let error = |source| RenderError::Write {
        path: output.to_owned(),
        source,
    };
    match std::fs::symlink_metadata(output) {
        Ok(meta) if meta.is_dir() => {
            if output.read_dir_utf8().map_err(error)?.next().is_some() {
                return Err(RenderError::Occupied(output.to_owned()));
            }
        }
        Ok(_) => return Err(RenderError::Occupied(output.to_owned())),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
        Err(e) => return Err(error(e)),
    }
    let parent = match output.parent() {
        Some(p) if !p.as_str().is_empty() => p.to_owned(),
        _ => Utf8PathBuf::from("."),
    };
    std::fs::create_dir_all(&parent).map_err(error)?;
    let real = std::fs::canonicalize(&parent).map_err(error)?;
    if std::fs::canonicalize(template).is_ok_and(|t| real.starts_with(t)) {
        return Err(RenderError::Inside(output.to_owned()));
    }
    Ok(parent)
}

/// A folder beside the output that goes away unless it becomes the output.
struct Staging {
    path: Utf8PathBuf,
    done: bool,
}

impl Staging {
    fn new(parent: &Utf8Path, output: &Utf8Path) -> Result<Self, RenderError> {
        let name = output.file_name().unwrap_or("output");
        for n in 0..1_000 {
            let path = parent.join(format!(".{name}.rendering-{n}"));
            match std::fs::create_dir(&path) {
                Ok(()) => return Ok(Self { path, done: false }),
                Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(source) => return Err(RenderError::Write { path, source }),
            }
        }
        Err(RenderError::Occupied(parent.join(format!(".{name}.rendering-0"))))
    }

    fn rename(mut self, output: &Utf8Path) -> Result<(), RenderError> {
        let error = |source| RenderError::Write {
            path: output.to_owned(),
            source,
        };
        // An empty folder in the way is replaced by the rename itself.
        std::fs::rename(&self.path, output).map_err(error)?;
        self.done = true;
        Ok(())
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        if !self.done {
            std::fs::remove_dir_all(&self.path).ok();
        }
    }
}

fn write_task(task: &Task, folder: &Utf8Path) -> Result<(), RenderError> {
    let error = |path: &Utf8Path, source| RenderError::Write {
        path: path.to_owned(),
        source,
    };
    std::fs::create_dir(folder).map_err(|e| error(folder, e))?;
    for node in task.tree.nodes() {
        let path = folder.join(&node.path);
        match &node.kind {
            NodeKind::Folder => std::fs::create_dir(&path).map_err(|e| error(&path, e))?,
            NodeKind::Link(text) => std::os::unix::fs::symlink(text, &path).map_err(|e| error(&path, e))?,
            NodeKind::Special(_) => {}
            NodeKind::File(content) => {
                let read = |source| RenderError::Read {
                    path: task.folder.join(&node.path),
                    source,
                };
                let bytes = match content {
                    Content::Memory(bytes) => bytes.clone(),
                    Content::Disk { .. } => task.tree.read(&node.path, u64::MAX).map_err(read)?,
                };
                write_file(&path, &bytes, node.mode)?;
            }
        }
    }
    // Last and deepest first, so that a folder without write permission can be filled.
    for TreeNode { path, kind, mode } in task.tree.nodes().iter().rev() {
        if matches!(kind, NodeKind::Folder) {
            let path = folder.join(path);
            let permissions = PermissionsExt::from_mode(*mode);
            std::fs::set_permissions(&path, permissions).map_err(|e| error(&path, e))?;
        }
    }
    Ok(())
}

fn write_file(path: &Utf8Path, bytes: &[u8], mode: u32) -> Result<(), RenderError> {
    let error = |source| RenderError::Write {
        path: path.to_owned(),
        source,
    };
    let mut file = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .map_err(error)?;
    file.write_all(bytes).map_err(error)?;
    // Independent of the umask.
    file.set_permissions(PermissionsExt::from_mode(mode))
        .map_err(error)
}
