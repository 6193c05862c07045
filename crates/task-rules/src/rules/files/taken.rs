//! Which files of environment/ get into the agent's image.

use camino::{Utf8Path, Utf8PathBuf};
use container_files::DockerIgnore;
use task_model::NodeKind;

use crate::context::TaskContext;
use crate::rules::container::missing_copy_source::{ignore, plain, sources};

/// The most sources that are compared with each file.
const MOST_SOURCES: usize = 1000;

/// What the build of the agent's image takes out of its context, as far as that is plain to see.
#[derive(Default)]
pub(crate) struct Taken {
    ignore: Option<DockerIgnore>,
    /// What the Dockerfile copies; `None` when it may be anything.
    copied: Option<Vec<Utf8PathBuf>>,
}

impl Taken {
    /// Reads the Dockerfile and its `.dockerignore`. Where an image is named or Compose builds it, anything may be taken.
    pub(crate) fn of(task: &TaskContext<'_>) -> Self {
        let named = task
            .config()
            .is_some_and(|config| config.environment.image().is_some());
        let composed = task.task.tree.is_file("environment/docker-compose.yaml");
        let folder = Utf8Path::new("environment");
        let dockerfile = task.dockerfile(folder.join("Dockerfile"));
        let Some(dockerfile) = dockerfile.filter(|_| !named && !composed) else {
            return Self::default();
        };
        // A RUN with a mount, or the image below, can take files that no line here copies.
        let hidden = ["--mount", "--MOUNT", "ONBUILD", "onbuild"];
        let source = dockerfile.source.text();
        let copied: Option<Vec<Utf8PathBuf>> = sources(&dockerfile)
            .map(|written| {
                let path = plain(&written.value)?;
                let node = task.task.tree.get(folder.join(&path));
                let link = node.is_some_and(|node| matches!(node.kind, NodeKind::Link(_)));
                (!link).then_some(path)
            })
            .collect();
        Self {
            ignore: ignore(task, folder).map(|(patterns, _)| patterns),
            copied: copied
                .filter(|all| all.len() <= MOST_SOURCES && !hidden.iter().any(|word| source.contains(word))),
        }
    }

    /// Says whether the image may have a file of the task.
    pub(crate) fn has(&self, path: &Utf8Path) -> bool {
        let Ok(path) = path.strip_prefix("environment") else {
            return true;
        };
        let kept_out = self
            .ignore
            .as_ref()
            .is_some_and(|patterns| patterns.ignores(path.as_str()));
        let copied = self
            .copied
            .as_ref()
            .is_none_or(|all| all.iter().any(|source| path.starts_with(source)));
        copied && !kept_out
    }
}
