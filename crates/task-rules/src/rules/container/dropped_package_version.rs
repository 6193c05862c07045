//! Versions of system packages that mirrors drop.

use findings::{Level, RuleMeta};

use crate::context::TaskContext;
use crate::rules::shell::system_packages::{self, names};
use crate::{Check, Found, Rule};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: "GD762",
        name: "dropped-package-version",
        level: Level::Note,
        summary: "A Dockerfile or script asks a mirror for one version of a system package, which the mirror drops with the next.",
        page: include_str!("../../../pages/dropped-package-version.md"),
    },
    on: true,
    check: Check::Task(check),
};

fn check(task: &TaskContext<'_>, found: &mut Found) {
    system_packages::each(task, |source, span, packages| {
        let exact = names(packages.iter().filter(|package| package.is_exact()));
        // Snapshots keep every version.
        let Some(names) = exact.filter(|_| !source.text().contains("snapshot.")) else {
            return;
        };
        let finding = task
            .finding(&RULE.meta, format!("{names} will not be there once a newer version is"))
            .at(source, span)
            .help("leave the version out and pin the base image by its digest, or install from a snapshot of the archive");
        found.add(finding);
    });
}
