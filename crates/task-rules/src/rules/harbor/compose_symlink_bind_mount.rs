//! Links as the source of a mount.

use findings::{Level, RuleMeta};
use task_model::tree::Resolved;

use crate::context::TaskContext;
use crate::{Check, Found, Rule};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: "GD708",
        name: "compose-symlink-bind-mount",
        level: Level::Error,
        summary: "A Compose service mounts a symbolic link that leads out of the task.",
        page: include_str!("../../../pages/compose-symlink-bind-mount.md"),
    },
    on: true,
    check: Check::Task(check),
};

fn check(task: &TaskContext<'_>, found: &mut Found) {
    for bind in super::compose::binds(task) {
        let Some(path) = &bind.path_in_task else { continue };
        if task.task.tree.resolve(path) != Resolved::Leaves {
            continue;
        }
        let finding = task
            .finding(
                &RULE.meta,
                format!(
                    "the service `{}` mounts `{}`, which leads through a symbolic link out of the task",
                    bind.service, bind.written
                ),
            )
            .at(&bind.compose.source, bind.place.clone())
            .help("ship the files themselves with the task");
        found.add(finding);
    }
}
