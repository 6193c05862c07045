//! Tests or the solution copied into the agent's image.

use camino::{Utf8Path, Utf8PathBuf};
use container_files::InstructionKind;
use findings::{Level, RuleMeta};

use crate::context::{Lineage, TaskContext};
use crate::rules::container::build_context;
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
    let lineage = dockerfile.lineage();
    let context = build_context(task, "environment".into());
    for instruction in &dockerfile.instructions {
        let InstructionKind::Copy {
            from,
            sources,
            destination,
            ..
        } = &instruction.kind
        else {
            continue;
        };
        // Out of another stage or image come files of others; and another stage is not what the agent works in.
        let runs = |lineage: &&Lineage<'_>| from.is_none() && lineage.has(instruction);
        let workdir = lineage.as_ref().filter(runs).map(Lineage::workdir);
        for source in sources.iter().filter(|source| is_secret(&source.value)) {
            let reveals = workdir.zip(context.as_deref()).is_some_and(|(workdir, context)| {
                is_own(task, context, &source.value)
                    && grades(task, &source.value)
                    && !is_told(task, workdir, &source.value, &destination.value)
            });
            let finding = if reveals {
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

/// Says whether the agent is told of a test on purpose: an instruction names it, or the folder that it goes to.
fn is_told(task: &TaskContext<'_>, workdir: Option<&str>, source: &str, destination: &str) -> bool {
    let name = Utf8Path::new(source).file_name().unwrap_or_default();
    let destination = destination.trim_matches('"');
    let target = Utf8Path::new(workdir.unwrap_or_default()).join(destination);
    let folder = if destination.ends_with('/') {
        Some(target.as_path())
    } else {
        target.parent()
    };
    // A folder at the top is where everything is.
    let folder = folder.map(|folder| folder.as_str().trim_end_matches('/'));
    let folder = folder.filter(|folder| folder.starts_with('/') && folder.matches('/').count() > 1);
    let tells = |text: &str| text.contains(name) || folder.is_some_and(|folder| text.contains(folder));
    name != "solve.sh" && task.instructions().iter().any(|text| tells(text.text()))
}

/// Longer files are not compared.
const LONGEST: u64 = 4 << 20;

/// Says whether the copied file is the task's own grader or solution: the same bytes, or no file of the folder that
/// images are built from at all, so that it can come from the task's folder only.
fn is_own(task: &TaskContext<'_>, context: &Utf8Path, source: &str) -> bool {
    let tree = &task.task.tree;
    let read = |path: &Utf8Path| tree.read_following(path, LONGEST).ok();
    let Some(copied) = read(&context.join(source)) else {
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
