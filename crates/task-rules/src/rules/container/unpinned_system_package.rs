//! Packages of the system without a version.

use std::sync::Arc;

use findings::{Level, RuleMeta, SourceFile, Span};

use crate::context::TaskContext;
use crate::rules::shell::system_packages;
use crate::shell::Script;
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
    for path in task.dockerfiles() {
        let Some(dockerfile) = task.dockerfile(path) else {
            continue;
        };
        for run in dockerfile.run_scripts() {
            report(task, found, &dockerfile.source, &run.script, |span| {
                run.place(span)
            });
        }
    }
    for path in task.graders().into_iter().chain(task.solvers()) {
        let (Some(source), Some(script)) = (task.text(&path), task.script(&path)) else {
            continue;
        };
        report(task, found, &source, &script, |span| span);
    }
}

fn report(
    task: &TaskContext<'_>,
    found: &mut Found,
    source: &Arc<SourceFile>,
    script: &Script,
    place: impl Fn(Span) -> Span,
) {
    for command in &script.commands {
        let packages = system_packages::installed_by(command).unwrap_or_default();
        let loose: Vec<String> = packages
            .iter()
            .filter(|package| !package.pinned)
            .map(|package| format!("`{}`", package.text))
            .collect();
        if loose.is_empty() {
            continue;
        }
        let shown: Vec<&str> = loose.iter().take(4).map(String::as_str).collect();
        let more = if loose.len() > shown.len() { ", ..." } else { "" };
        let finding = task
            .finding(&RULE.meta, format!("{}{more} without a version", shown.join(", ")))
            .at(source, place(command.span))
            .help("pin the base image by its digest and install from a snapshot of the archive; a version alone breaks the build once the mirror drops it");
        found.add(finding);
    }
}
