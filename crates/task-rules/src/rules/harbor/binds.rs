//! The bind mounts of Compose files.

use std::ops::Range;
use std::rc::Rc;

use camino::Utf8PathBuf;
use container_files::Value;
use container_files::compose::Service;

use crate::context::{ComposeView, TaskContext};

/// One bind mount of a service.
pub(super) struct Bind {
    pub(super) compose: Rc<ComposeView>,
    pub(super) service: String,
    /// As written.
    pub(super) source: String,
    pub(super) read_only: bool,
    pub(super) place: Range<usize>,
    /// The Compose file's folder in the task.
    pub(super) folder: Utf8PathBuf,
}

/// Returns every bind mount of a task's Compose files.
pub(super) fn all(task: &TaskContext<'_>) -> Vec<Bind> {
    let mut all = Vec::new();
    for (path, compose) in task.compose_files() {
        let folder = path.parent().map(ToOwned::to_owned).unwrap_or_default();
        for service in &compose.file.services {
            let found = binds(service).into_iter().map(|(source, read_only, place)| Bind {
                compose: Rc::clone(&compose),
                service: service.name.clone(),
                source,
                read_only,
                place,
                folder: folder.clone(),
            });
            all.extend(found);
        }
    }
    all
}

/// Returns source, whether it is read only, and the place.
fn binds(service: &Service) -> Vec<(String, bool, Range<usize>)> {
    let volumes = service.field("volumes").and_then(|field| field.value.items());
    let mut all = Vec::new();
    for volume in volumes.unwrap_or_default() {
        match &volume.value {
            Value::Scalar { text, .. } => {
                let mut parts = text.split(':');
                let (Some(source), Some(_)) = (parts.next(), parts.next()) else {
                    continue;
                };
                // A name without a slash is a volume of Compose's own.
                if source.starts_with(['.', '/', '~', '$']) {
                    let read_only = parts.any(|mode| mode.split(',').any(|mode| mode == "ro"));
                    all.push((source.to_owned(), read_only, volume.span.clone()));
                }
            }
            Value::Mapping(_) => {
                let text = |key: &str| volume.get(key).and_then(container_files::Node::text);
                if text("type") == Some("bind") {
                    let read_only = text("read_only") == Some("true");
                    let source = text("source").unwrap_or_default();
                    all.push((source.to_owned(), read_only, volume.span.clone()));
                }
            }
            Value::Sequence(_) => {}
        }
    }
    all
}

impl Bind {
    /// Returns the path inside the task that is mounted; `None` when it lies elsewhere or is not known.
    pub(super) fn path_in_task(&self) -> Option<Utf8PathBuf> {
        if self.source.is_empty() || self.source.starts_with(['/', '~']) || self.source.contains('$') {
            return None;
        }
        let mut path = self.folder.clone();
        for part in self.source.split('/') {
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
}
