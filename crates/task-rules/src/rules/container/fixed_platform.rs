//! Images for one kind of processor.

use container_files::InstructionKind;
use findings::{Level, RuleMeta};

use crate::context::TaskContext;
use crate::{Check, Found, Rule};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: "GD757",
        name: "fixed-platform",
        level: Level::Note,
        summary: "A FROM line fixes the processor, so that on other machines the image is emulated or does not start.",
        page: include_str!("../../../pages/fixed-platform.md"),
    },
    on: true,
    check: Check::Task(check),
};

fn check(task: &TaskContext<'_>, found: &mut Found) {
    for path in task.dockerfiles() {
        let Some(dockerfile) = task.dockerfile(&path) else {
            continue;
        };
        for instruction in &dockerfile.instructions {
            let InstructionKind::From {
                platform: Some(platform),
                ..
            } = &instruction.kind
            else {
                continue;
            };
            // A variable is somebody's choice at build time.
            if platform.is_empty() || platform.contains('$') {
                continue;
            }
            let finding = task
                .finding(&RULE.meta, format!("the image is always for `{platform}`"))
                .at(&dockerfile.source, instruction.keyword.clone())
                .help("drop `--platform`, or say in the README why the task needs that processor");
            found.add(finding);
        }
    }
}
