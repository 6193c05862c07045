//! What only shows when tasks are seen side by side.

pub(crate) mod colliding_image_name;
pub(crate) mod duplicate_task_name;
pub(crate) mod duplicate_tasks;
pub(crate) mod stale_manifest_digest;
