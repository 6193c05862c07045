//! Files that an image has where the runner puts its own.

use container_files::InstructionKind;
use findings::{Level, RuleMeta};

use crate::context::TaskContext;
use crate::{Check, Found, Rule};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: "GD753",
        name: "copy-into-tests",
        level: Level::Warning,
        summary: "A Dockerfile copies files to /tests, /solution or /logs/verifier, which runners empty or replace.",
        page: include_str!("../../../pages/copy-into-tests.md"),
    },
    on: true,
    check: Check::Task(check),
};

const FOLDERS: [&str; 3] = ["/tests", "/solution", "/logs/verifier"];

fn check(task: &TaskContext<'_>, found: &mut Found) {
    let Some(dockerfile) = task.dockerfile("environment/Dockerfile") else {
        return;
    };
    let last = dockerfile.instructions.iter().filter_map(|i| i.stage).max();
    for instruction in &dockerfile.instructions {
        let InstructionKind::Copy { destination, .. } = &instruction.kind else {
            continue;
        };
        // An earlier stage is not what runs.
        if instruction.stage != last {
            continue;
        }
        let path = destination.value.trim_matches('"');
        let into = FOLDERS.iter().find(|folder| {
            path.strip_prefix(**folder)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        });
        if let Some(folder) = into {
            let message = format!(
                "the image has files in `{folder}`, which is emptied or replaced before the verifier runs"
            );
            let finding = task
                .finding(&RULE.meta, message)
                .at(&dockerfile.source, destination.range.clone())
                .help("helpers of test.sh belong in tests/; what the agent needs belongs elsewhere");
            found.add(finding);
        }
    }
}
