//! Services with all rights on the host.

use findings::{Level, RuleMeta};

use crate::context::TaskContext;
use crate::{Check, Found, Rule};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: "GD704",
        name: "compose-privileged",
        level: Level::Error,
        summary: "A Compose service is privileged: it has every right on the host's kernel.",
        page: include_str!("../../../pages/compose-privileged.md"),
    },
    on: true,
    check: Check::Task(check),
};

fn check(task: &TaskContext<'_>, found: &mut Found) {
    for composed in super::compose::all(task) {
        for service in &composed.services {
            let Some(place) = &service.privileged else {
                continue;
            };
            let finding = task
                .finding(
                    &RULE.meta,
                    format!("the service `{}` is privileged", service.service),
                )
                .at(&composed.view.source, place.clone())
                .help("drop `privileged`; runners of other people's tasks refuse it");
            found.add(finding);
        }
    }
}
