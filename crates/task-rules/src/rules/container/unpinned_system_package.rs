//! Packages of the system without a version.

use findings::{Level, RuleMeta};

use crate::context::TaskContext;
use crate::rules::shell::system_packages::{self, names};
use crate::{Check, Found, Rule};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: "GD755",
        name: "unpinned-system-package",
        level: Level::Note,
        summary: "A Dockerfile or script installs a package of the system without its version, so that another day brings another one.",
        page: include_str!("../../../pages/unpinned-system-package.md"),
    },
    on: false,
    check: Check::Task(check),
};

fn check(task: &TaskContext<'_>, found: &mut Found) {
    system_packages::each(task, |source, span, packages| {
        let Some(names) = names(packages.iter().filter(|package| !package.pinned)) else {
            return;
        };
        let finding = task
            .finding(&RULE.meta, format!("{names} without a version"))
            .at(source, span)
            .help("pin the base image by its digest and install from a snapshot of the archive; a version alone breaks the build once the mirror drops it");
        found.add(finding);
    });
}
