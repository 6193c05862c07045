//! A Compose file that does not say what the agent works in.

use findings::{Level, RuleMeta};

use super::COMPOSE;
use crate::context::TaskContext;
use crate::{Check, Found, Rule};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: "GD752",
        name: "compose-without-main",
        level: Level::Warning,
        summary: "A Compose file has no service `main`, which is the agent's sandbox.",
        page: include_str!("../../../pages/compose-without-main.md"),
    },
    on: true,
    check: Check::Task(check),
};

fn check(task: &TaskContext<'_>, found: &mut Found) {
    let Some(compose) = task.compose_file(COMPOSE) else {
        return;
    };
    if compose.file.service("main").is_some() {
        return;
    }
    let finding = task.finding(&RULE.meta, "the Compose file has no service `main`");
    let finding = match compose.file.field("services") {
        Some(services) => finding.at(&compose.source, services.key.clone()),
        None => finding.at_path(task.path(COMPOSE)),
    };
    found.add(
        finding.help("add `main:` with `image: ${MAIN_IMAGE_NAME}`: the agent and the verifier work there"),
    );
}
