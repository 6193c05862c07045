//! Dockerfiles and Compose files: what does not build, does not run, or runs and is not seen.

pub(crate) mod compose_not_allowed;
pub(crate) mod compose_shared_names;
pub(crate) mod compose_without_main;
pub(crate) mod copy_into_tests;
pub(crate) mod missing_copy_source;

use std::sync::Arc;

use container_files::compose::{ComposeFile, parse};
use findings::SourceFile;

use crate::context::TaskContext;

/// The Compose file of a task and its text; `None` when it has none that can be read, which loading tells.
pub(crate) fn compose(task: &TaskContext<'_>) -> Option<(Arc<SourceFile>, ComposeFile)> {
    let source = task.text("environment/docker-compose.yaml")?;
    let file = parse(source.text().as_bytes()).ok()?;
    Some((source, file))
}

/// What variables stand for when nobody knows: names that everybody may use, nothing else.
pub(crate) fn known(name: &str) -> Option<String> {
    match name {
        "MAIN_IMAGE_NAME" => Some("main".to_owned()),
        "CONTEXT_DIR" => Some(".".to_owned()),
        _ => None,
    }
}
