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
    for (_, compose) in task.compose_files() {
        for service in &compose.file.services {
            let Some(field) = service.field("cap_add") else {
                continue;
            };
            let names: Vec<String> = field
                .value
                .items()
                .unwrap_or_default()
                .iter()
                .filter_map(|item| Some(format!("`{}`", item.text()?)))
                .collect();
            if names.is_empty() {
                continue;
            }
            let finding = task
                .finding(
                    &RULE.meta,
                    format!("the service `{}` adds {}", service.name, names.join(", ")),
                )
                .at(&compose.source, field.key.clone())
                .help("drop `cap_add`, or say in the task's README why it is needed");
            found.add(finding);
        }
    }
}
