//! Downloads while grading.

use findings::{Level, RuleMeta};

use super::downloads;
use super::installs::begins_line;
use crate::context::TaskContext;
use crate::{Check, Found, Rule};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: "GD712",
        name: "verifier-network-download",
        level: Level::Warning,
        summary: "A separate verifier downloads something while it grades, so that a network fault becomes a score.",
        page: include_str!("../../../pages/verifier-network-download.md"),
    },
    on: true,
    check: Check::Task(check),
};

fn check(task: &TaskContext<'_>, found: &mut Found) {
    for path in task.separate_graders() {
        let (Some(source), Some(script)) = (task.text(&path), task.script(&path)) else {
            continue;
        };
        for (at, command) in script.commands.iter().enumerate() {
            if !begins_line(source.text(), command) {
                continue;
            }
            let Some(host) = downloads::host(&script, at, command) else {
                continue;
            };
            let finding = task
                .finding(
                    &RULE.meta,
                    format!("the separate verifier downloads from `{host}` while it grades"),
                )
                .at(&source, command.span)
                .help("put the file into the verifier's image, or beside test.sh");
            found.add(finding);
        }
    }
}
