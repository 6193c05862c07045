//! Services with more rights than usual.

use findings::{Level, RuleMeta};

use crate::context::TaskContext;
use crate::{Check, Found, Rule};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: "GD705",
        name: "compose-additional-capabilities",
        level: Level::Warning,
        summary: "A Compose service adds kernel capabilities to those that containers have.",
        page: include_str!("../../../pages/compose-additional-capabilities.md"),
    },
    on: true,
    check: Check::Task(check),
};

fn check(task: &TaskContext<'_>, found: &mut Found) {
    for composed in super::compose::all(task) {
        for service in &composed.services {
            let Some((_, place)) = service.capabilities.first() else {
                continue;
            };
            let names: Vec<String> = service
                .capabilities
                .iter()
                .map(|(name, _)| format!("`{name}`"))
                .collect();
            let finding = task
                .finding(
                    &RULE.meta,
                    format!("the service `{}` adds {}", service.service, names.join(", ")),
                )
                .at(&composed.view.source, place.clone())
                .help("drop `cap_add`, or say in the task's README why it is needed");
            found.add(finding);
        }
    }
}
