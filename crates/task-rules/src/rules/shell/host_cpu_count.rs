//! Work split over the host's processors.

use std::collections::BTreeSet;

use findings::{Finding, Level, RuleMeta, Span};

use super::called::with_called;
use crate::context::TaskContext;
use crate::shell::Script;
use crate::{Check, Found, Rule};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: "GD812",
        name: "host-cpu-count",
        level: Level::Note,
        summary: "A script asks for the number of processors, which in a container is the host's and not the task's.",
        page: include_str!("../../../pages/host-cpu-count.md"),
    },
    on: true,
    check: Check::Task(check),
};

fn check(task: &TaskContext<'_>, found: &mut Found) {
    let graders = task
        .graders()
        .into_iter()
        .flat_map(|path| with_called(task, &path));
    let scripts: BTreeSet<_> = graders.chain(task.solvers()).collect();
    for path in scripts {
        let (Some(source), Some(script)) = (task.text(&path), task.script(&path)) else {
            continue;
        };
        for (what, span) in calls(&script) {
            found.add(finding(task, what).at(&source, span));
        }
    }
    for path in task.dockerfiles() {
        let Some(dockerfile) = task.dockerfile(&path) else {
            continue;
        };
        for run in dockerfile.run_scripts() {
            for (what, span) in calls(&run.script) {
                found.add(finding(task, what).at(&dockerfile.source, run.place(span)));
            }
        }
    }
}

fn finding(task: &TaskContext<'_>, what: &str) -> Finding {
    let message = format!("`{what}` counts the host's processors, not those that the task may use");
    task.finding(&RULE.meta, message)
        .help("write the number, or take it from a variable that task.toml sets")
}

/// Returns what counts processors, and where.
fn calls(script: &Script) -> impl Iterator<Item = (&'static str, Span)> {
    script.commands.iter().filter_map(|command| {
        let what = match command.base_name()? {
            "nproc" => "nproc",
            "getconf" if command.texts().contains(&"_NPROCESSORS_ONLN") => "getconf _NPROCESSORS_ONLN",
            _ => return None,
        };
        Some((what, command.span))
    })
}
