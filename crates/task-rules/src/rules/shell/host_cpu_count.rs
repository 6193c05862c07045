//! Work split over the host's processors.

use findings::{Level, RuleMeta, Span};

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
    let report = |source: &std::sync::Arc<findings::SourceFile>, span: Span, found: &mut Found| {
        let finding = task
            .finding(
                &RULE.meta,
                "`nproc` counts the host's processors, not those that the task may use",
            )
            .at(source, span)
            .help("write the number, or take it from a variable that task.toml sets");
        found.add(finding);
    };
    for path in task.graders().into_iter().chain(task.solvers()) {
        let (Some(source), Some(script)) = (task.text(&path), task.script(&path)) else {
            continue;
        };
        for span in calls(&script) {
            report(&source, span, found);
        }
    }
    for path in task.dockerfiles() {
        let Some(dockerfile) = task.dockerfile(&path) else {
            continue;
        };
        for run in dockerfile.run_scripts() {
            for span in calls(&run.script) {
                report(&dockerfile.source, run.place(span), found);
            }
        }
    }
}

fn calls(script: &Script) -> impl Iterator<Item = Span> {
    script
        .commands
        .iter()
        .filter(|command| command.base_name() == Some("nproc"))
        .map(|command| command.span)
}
