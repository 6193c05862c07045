//! Files that the verifier may not read.

use findings::{Level, RuleMeta};
use task_model::config::UserRef;

use crate::context::TaskContext;
use crate::shell::Command;
use crate::{Check, Found, Rule};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: "GD817",
        name: "private-umask",
        level: Level::Note,
        summary: "solve.sh makes its files private, and the verifier runs as another user, who cannot read them.",
        page: include_str!("../../../pages/private-umask.md"),
    },
    on: true,
    check: Check::Task(check),
};

fn check(task: &TaskContext<'_>, found: &mut Found) {
    let Some(config) = task.config() else { return };
    let (Some(agent), Some(verifier)) = (&config.agent.user, &config.verifier.user) else {
        return;
    };
    let verifier = name(&verifier.value);
    // Root reads everything.
    if name(&agent.value) == verifier || matches!(verifier.as_str(), "root" | "0") {
        return;
    }
    for path in task.solvers() {
        let (Some(source), Some(script)) = (task.text(&path), task.script(&path)) else {
            continue;
        };
        let Some(command) = script.commands.iter().find(|command| hides(command)) else {
            continue;
        };
        let message =
            format!("after this `{verifier}`, as whom the verifier runs, cannot read what solve.sh makes");
        let finding = task
            .finding(&RULE.meta, message)
            .at(&source, command.span)
            .help("drop the `umask`, or let the verifier run as root");
        found.add(finding);
    }
}

fn name(user: &UserRef) -> String {
    match user {
        UserRef::Name(name) => name.split(':').next().unwrap_or(name).to_owned(),
        UserRef::Uid(uid) => uid.to_string(),
    }
}

/// `umask 077`: the last digit takes reading from everybody else.
fn hides(command: &Command) -> bool {
    let texts = command.texts();
    let digits = texts
        .first()
        .filter(|mask| mask.len() >= 3 && mask.bytes().all(|b| b.is_ascii_digit()));
    let others = digits.and_then(|mask| mask.chars().last()?.to_digit(8));
    command.name() == Some("umask") && others.is_some_and(|bits| bits & 4 != 0)
}
