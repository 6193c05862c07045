//! Host folders that a container can write.

use findings::{Level, RuleMeta};

use crate::context::TaskContext;
use crate::{Check, Found, Rule};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: "GD706",
        name: "compose-writable-bind-mount",
        level: Level::Warning,
        summary: "A Compose service mounts a folder of the host writable, so that one trial changes the next.",
        page: include_str!("../../../pages/compose-writable-bind-mount.md"),
    },
    on: true,
    check: Check::Task(check),
};

fn check(task: &TaskContext<'_>, found: &mut Found) {
    for bind in super::compose::binds(task).iter().filter(|bind| !bind.read_only) {
        let finding = task
            .finding(
                &RULE.meta,
                format!(
                    "the service `{}` mounts `{}` writable",
                    bind.service, bind.written
                ),
            )
            .at(&bind.compose.source, bind.place.clone())
            .help("append `:ro`, or use a named volume");
        found.add(finding);
    }
}
