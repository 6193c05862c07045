//! Links as the source of a mount.

use findings::{Level, RuleMeta};

use crate::context::TaskContext;
use crate::{Check, Found, Rule};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: "GD708",
        name: "compose-symlink-bind-mount",
        level: Level::Error,
        summary: "A Compose service mounts a symbolic link, which leads wherever the host says.",
        page: include_str!("../../../pages/compose-symlink-bind-mount.md"),
    },
    on: true,
    check: Check::Task(check),
};

fn check(task: &TaskContext<'_>, found: &mut Found) {
    for bind in super::binds::all(task) {
        let Some(path) = bind.path_in_task() else { continue };
        let link = path.ancestors().any(|part| {
            matches!(
                task.task.tree.get(part).map(|node| &node.kind),
                Some(task_model::NodeKind::Link(_))
            )
        });
        if !link {
            continue;
        }
        let finding = task
            .finding(
                &RULE.meta,
                format!(
                    "the service `{}` mounts `{}`, which leads through a symbolic link",
                    bind.service, bind.source
                ),
            )
            .at(&bind.compose.source, bind.place.clone())
            .help("mount the file or folder itself");
        found.add(finding);
    }
}
