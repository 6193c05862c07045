//! Tests or the solution copied into the agent's image.

use camino::{Utf8Path, Utf8PathBuf};
use container_files::InstructionKind;
use findings::{Level, RuleMeta};

use crate::context::TaskContext;
use crate::{Check, Found, Rule};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: "GD713",
        name: "agent-image-test-leak",
        level: Level::Warning,
        summary: "environment/Dockerfile copies what looks like the grader or the solution into the image in which the agent works.",
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
            let finding = if is_own(task, &source.value) && grades(task, &source.value) {
                task.finding(&RULE.meta, format!("the task's own `{}` goes into the image that the agent works in", source.value))
                    .level(Level::Error)
                    .help("leave it out: Harbor and Gym bring tests and solution themselves, after the agent has ended")
            } else {
                task.finding(&RULE.meta, format!("`{}` goes into the image that the agent works in", source.value))
                    .help("leave it out if it grades the task; tests that belong to what the agent works on may stay")
            };
            found.add(finding.at(&dockerfile.source, source.range.clone()));
        }
    }
}

/// Longer files are not compared.
const LONGEST: u64 = 4 << 20;

/// Says whether the copied file is the task's own grader or solution: the same bytes, or no file of the folder that
/// images are built from at all, so that it can come from the task's folder only.
fn is_own(task: &TaskContext<'_>, source: &str) -> bool {
    let tree = &task.task.tree;
    let read = |path: &Utf8Path| tree.read_following(path, LONGEST).ok();
    let Some(copied) = read(&Utf8Path::new("environment").join(source)) else {
        return true;
    };
    let own = Utf8Path::new(source)
        .components()
        .rev()
        .take(2)
        .collect::<Vec<_>>();
    let own: Utf8PathBuf = own.into_iter().rev().collect();
    read(&own).is_some_and(|own| own == copied)
}

/// Says whether a file of the task decides the reward: its entry points do, and tests that these name or that are the only ones.
fn grades(task: &TaskContext<'_>, source: &str) -> bool {
    let name = Utf8Path::new(source).file_name().unwrap_or_default();
    let is_test = |name: &str| name.starts_with("test_") && name.ends_with(".py");
    if !is_test(name) {
        return true;
    }
    let named = |grader: &Utf8PathBuf| task.text(grader).is_some_and(|text| text.text().contains(name));
    let tests = task.files().filter(|node| node.path.starts_with("tests"));
    let others = tests
        .filter_map(|node| node.path.file_name())
        .filter(|other| is_test(other) && *other != name);
    task.graders().iter().any(named) || others.count() == 0
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
