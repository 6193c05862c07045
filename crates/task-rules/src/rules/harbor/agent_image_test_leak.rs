//! Tests or the solution copied into the agent's image.

use container_files::InstructionKind;
use findings::{Level, RuleMeta};

use crate::context::TaskContext;
use crate::{Check, Found, Rule};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: "GD713",
        name: "agent-image-test-leak",
        level: Level::Error,
        summary: "environment/Dockerfile copies the grader or the solution into the image in which the agent works.",
        page: include_str!("../../../pages/agent-image-test-leak.md"),
    },
    on: true,
    check: Check::Task(check),
};

fn check(task: &TaskContext<'_>, found: &mut Found) {
    let Some(dockerfile) = task.dockerfile("environment/Dockerfile") else {
        return;
    };
    for instruction in &dockerfile.instructions {
        let InstructionKind::Copy { sources, .. } = &instruction.kind else {
            continue;
        };
        for source in sources.iter().filter(|source| is_secret(&source.value)) {
            let finding = task
                .finding(&RULE.meta, format!("`{}` goes into the image that the agent works in", source.value))
                .at(&dockerfile.source, source.range.clone())
                .help("leave it out: Harbor and Gym bring tests and solution themselves, after the agent has ended");
            found.add(finding);
        }
    }
}

fn is_secret(path: &str) -> bool {
    let mut parts = path.rsplit('/');
    let (Some(name), Some(folder)) = (parts.next(), parts.next()) else {
        return false;
    };
    match folder {
        "solution" => name == "solve.sh",
        "tests" => name == "test.sh" || (name.starts_with("test_") && name.ends_with(".py")),
        _ => false,
    }
}
