//! The report as it is printed for people, in one piece and without colour.

use findings::render;

use super::Whole;
use crate::output::TaskLines;
use crate::report::TaskStatus;

pub(super) fn render(whole: &Whole<'_>) -> String {
    let mut out = String::new();
    for finding in whole.shown_findings() {
        out.extend([&render::human(finding, false), "\n"]);
    }
    let lines = TaskLines::new(whole.tasks().map(|t| t.id.as_str()), whole.columns, false);
    let remarked = |status, reason: &Option<String>| {
        !whole.only_static || status != TaskStatus::NotRun || reason.is_some()
    };
    let shown = whole.tasks().filter(|t| remarked(t.status, &t.reason));
    let tasks: String = shown.map(|task| lines.task(task)).collect();
    if !tasks.is_empty() {
        out.extend([&tasks, "\n"]);
    }
    out.extend([&whole.object.coverage.line(whole.only_static), "\n"]);
    out.extend([&whole.totals(), "\n"]);
    if let Some(error) = &whole.object.error {
        out.extend(["error: ", &findings::sanitize::line(error), "\n"]);
    }
    out
}
