//! Findings and tasks that did not end well, as one SARIF log.

use findings::render::sarif::{self, Entry, Run};

use super::rules::endings;
use super::{Whole, pretty, task_file};

pub(super) fn render(whole: &Whole<'_>) -> String {
    let object = whole.object;
    let run = Run {
        tool: &object.tool.name,
        version: &object.tool.version,
        exit: object.exit,
        error: object.error.as_deref(),
    };
    let places: Vec<_> = whole.findings.iter().map(|f| whole.place_of(f)).collect();
    let mut entries: Vec<Entry<'_>> = whole
        .findings
        .iter()
        .zip(&places)
        .map(|(finding, place)| Entry::of(finding, place.as_ref().map(|p| p.as_str())))
        .collect();
    let endings: Vec<_> = endings(whole)
        .into_iter()
        .map(|(task, rule, message)| (task, rule, message, task_file(task)))
        .collect();
    let tails: Vec<Vec<String>> = endings
        .iter()
        .map(|(task, ..)| task.evidence.as_ref().map_or_else(Vec::new, |e| e.tail.clone()))
        .collect();
    for ((task, rule, message, file), tail) in endings.iter().zip(&tails) {
        entries.push(Entry {
            rule,
            level: rule.level,
            message,
            help: tail,
            task: Some(&task.id),
            path: Some(file.as_str()),
            range: None,
        });
    }
    pretty(&sarif::log(run, &entries))
}
