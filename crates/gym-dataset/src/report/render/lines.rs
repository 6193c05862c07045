//! The objects of `--format jsonl` in one piece.

use super::Whole;
use crate::report::{ReportLine, RunLine, SummaryLine};

pub(super) fn render(whole: &Whole<'_>) -> String {
    let object = whole.object;
    let run = ReportLine::Run(RunLine::of(object));
    let found = object.findings.iter().cloned().map(ReportLine::Finding);
    let tasks = object
        .tasks
        .iter()
        .cloned()
        .map(|t| ReportLine::Task(Box::new(t)));
    let summary = ReportLine::Summary(SummaryLine::of(object));
    std::iter::once(run)
        .chain(found)
        .chain(tasks)
        .chain([summary])
        .map(|line| line.text())
        .collect()
}
