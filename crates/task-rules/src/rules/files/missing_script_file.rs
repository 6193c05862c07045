//! Files that a script names and nobody ships.

use findings::{Level, RuleMeta};

use crate::context::TaskContext;
use crate::rules::shell::paths::{Made, is_plain, read_words};
use crate::{Check, Found, Rule};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: "GD820",
        name: "missing-script-file",
        level: Level::Error,
        summary: "solve.sh or test.sh reads a file under /solution or /tests that the task does not ship.",
        page: include_str!("../../../pages/missing-script-file.md"),
    },
    on: true,
    check: Check::Task(check),
};

fn check(task: &TaskContext<'_>, found: &mut Found) {
    // A separate verifier's image can bring its own /tests, and a step sees two folders at once.
    let steps = task
        .task
        .declared
        .as_ref()
        .is_some_and(|toml| !toml.steps.is_empty());
    if steps {
        return;
    }
    let mut pairs = vec![("solution/solve.sh", "/solution/", "solution")];
    if task.separate_graders().is_empty() {
        pairs.push(("tests/test.sh", "/tests/", "tests"));
    }
    for (path, mount, folder) in pairs {
        let (Some(source), Some(script)) = (task.text(path), task.script(path)) else {
            continue;
        };
        if !script.whole {
            continue;
        }
        let made = Made::by(&script);
        for command in &script.commands {
            // What is only tried, or only happens on some way through, may be missing.
            let sure = !command.place.guarded && !command.place.function && command.place.branches == 0;
            for word in read_words(command).into_iter().filter(|_| sure) {
                let Some(text) = word.literal.as_deref() else {
                    continue;
                };
                let Some(below) = text.strip_prefix(mount).filter(|rest| is_plain(rest)) else {
                    continue;
                };
                let there = task.task.tree.exists(format!("{folder}/{below}"));
                if there || made.covers(text) {
                    continue;
                }
                let name = path.rsplit('/').next().unwrap_or(path);
                let finding = task
                    .finding(
                        &RULE.meta,
                        format!("`{name}` reads `{text}`, and the task ships no `{folder}/{below}`"),
                    )
                    .at(&source, word.span)
                    .help(format!("add the file to {folder}/, or correct the name"));
                found.add(finding);
            }
        }
    }
}
