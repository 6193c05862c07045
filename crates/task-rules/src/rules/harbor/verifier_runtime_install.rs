//! The test framework installed while grading.

use findings::{Level, RuleMeta};

use super::installs;
use crate::context::TaskContext;
use crate::{Check, Found, Rule};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: "GD711",
        name: "verifier-runtime-install",
        level: Level::Warning,
        summary: "A separate verifier installs pytest while it grades, though its image could bring it.",
        page: include_str!("../../../pages/verifier-runtime-install.md"),
    },
    on: true,
    check: Check::Task(check),
};

fn check(task: &TaskContext<'_>, found: &mut Found) {
    for path in task.separate_graders() {
        let (Some(source), Some(script)) = (task.text(&path), task.script(&path)) else {
            continue;
        };
        for install in installs::of(&script, source.text()) {
            let framework = install
                .requirements
                .iter()
                .filter_map(|requirement| requirement.name.as_deref())
                .find(|name| matches!(*name, "pytest" | "pytest-json-ctrf"));
            let Some(framework) = framework else { continue };
            let finding = task
                .finding(&RULE.meta, format!("the separate verifier installs `{framework}` while it grades"))
                .at(&source, install.span)
                .help("install it in tests/Dockerfile, so that grading needs no network and always has the same version");
            found.add(finding);
        }
    }
}
