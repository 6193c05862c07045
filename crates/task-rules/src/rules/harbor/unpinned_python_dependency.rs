//! Python packages without an exact version.

use findings::{Level, RuleMeta, Span};

use super::installs;
use crate::context::TaskContext;
use crate::{Check, Found, Rule};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: "GD710",
        name: "unpinned-python-dependency",
        level: Level::Warning,
        summary: "A script or Dockerfile installs a Python package without an exact version, so that a release of tomorrow can change scores.",
        page: include_str!("../../../pages/unpinned-python-dependency.md"),
    },
    on: true,
    check: Check::Task(check),
};

fn check(task: &TaskContext<'_>, found: &mut Found) {
    for path in task.dockerfiles() {
        let Some(dockerfile) = task.dockerfile(&path) else {
            continue;
        };
        for run in dockerfile.run_scripts() {
            for install in installs::of(&run.script, &run.text) {
                report(task, found, &dockerfile.source, run.place(install.span), &install);
            }
        }
    }
    for path in task.graders().into_iter().chain(task.solvers()) {
        let (Some(source), Some(script)) = (task.text(&path), task.script(&path)) else {
            continue;
        };
        for install in installs::of(&script, source.text()) {
            report(task, found, &source, install.span, &install);
        }
    }
}

fn report(
    task: &TaskContext<'_>,
    found: &mut Found,
    source: &std::sync::Arc<findings::SourceFile>,
    span: Span,
    install: &installs::Install,
) {
    let loose: Vec<String> = install
        .requirements
        .iter()
        .filter(|requirement| !requirement.pinned)
        .map(|requirement| format!("`{}`", requirement.text))
        .collect();
    if loose.is_empty() {
        return;
    }
    let shown: Vec<&str> = loose.iter().take(4).map(String::as_str).collect();
    let more = if loose.len() > shown.len() { ", ..." } else { "" };
    let message = format!("{}{more} without an exact version", shown.join(", "));
    let finding = task
        .finding(&RULE.meta, message)
        .at(source, span)
        .help("pin each package with `==`, or a repository with a whole commit hash");
    found.add(finding);
}
