//! A reward written where nobody looks.

use findings::{Level, RuleMeta};

use crate::context::TaskContext;
use crate::shell::{Command, Script};
use crate::{Check, Found, Rule};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: "GD811",
        name: "relative-reward-path",
        level: Level::Error,
        summary: "test.sh writes its reward into the working directory instead of /logs/verifier, where runners read it.",
        page: include_str!("../../../pages/relative-reward-path.md"),
    },
    on: true,
    check: Check::Task(check),
};

fn check(task: &TaskContext<'_>, found: &mut Found) {
    for path in task.graders() {
        let (Some(source), Some(script)) = (task.text(&path), task.script(&path)) else {
            continue;
        };
        if !script.whole || moves(&script) {
            continue;
        }
        let targets = script.commands.iter().flat_map(Command::written);
        for word in targets {
            let Some(text) = word.literal.as_deref() else {
                continue;
            };
            let name = text.strip_prefix("./").unwrap_or(text);
            if !matches!(name, "reward.txt" | "reward.json") {
                continue;
            }
            let finding = task
                .finding(
                    &RULE.meta,
                    format!("the reward goes to `{text}` in the working directory, where no runner reads it"),
                )
                .at(&source, word.span)
                .help(format!("write it to `/logs/verifier/{name}`"));
            found.add(finding);
            break;
        }
    }
}

/// Says whether the script changes the folder, or copies the file to its place afterwards.
fn moves(script: &Script) -> bool {
    script.commands.iter().any(|command| {
        let known = |name: &str| command.base_name() == Some(name);
        known("cd")
            || known("pushd")
            || ((known("cp") || known("mv") || known("install"))
                && command
                    .texts()
                    .last()
                    .is_some_and(|text| text.starts_with("/logs/verifier")))
    })
}
