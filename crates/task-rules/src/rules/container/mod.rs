//! Dockerfiles and Compose files: what does not build, does not run, or runs and is not seen.

pub(crate) mod archived_answer;
pub(crate) mod compose_moved_name;
pub(crate) mod compose_not_allowed;
pub(crate) mod compose_shared_names;
pub(crate) mod compose_without_main;
pub(crate) mod copy_into_tests;
pub(crate) mod dropped_package_version;
pub(crate) mod fixed_platform;
pub(crate) mod image_without_bash;
pub(crate) mod link_to_tests;
pub(crate) mod missing_copy_source;
pub(crate) mod separate_artifact_parent;
pub(crate) mod unpinned_system_package;

mod zip;

/// The Compose file around the agent's sandbox.
const COMPOSE: &str = "environment/docker-compose.yaml";

/// What variables stand for when nobody knows: names that everybody may use, nothing else.
pub(crate) fn known(name: &str) -> Option<String> {
    match name {
        "MAIN_IMAGE_NAME" => Some("main".to_owned()),
        "CONTEXT_DIR" => Some(".".to_owned()),
        _ => None,
    }
}
