//! Findings and tasks that did not end well, as one SARIF log.

use camino::Utf8Path;
use findings::render::sarif::{self, Entry, Names, Run};

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
    let hidden_places: Vec<_> = whole.hidden.iter().map(|h| whole.place_of(&h.finding)).collect();
    let hidden = whole.hidden.iter().zip(&hidden_places);
    entries.extend(hidden.map(|(hidden, place)| Entry {
        suppressed: Some(&hidden.reason),
        ..Entry::of(&hidden.finding, place.as_ref().map(|p| p.as_str()))
    }));
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
            related: &[],
            fix: None,
            suppressed: None,
        });
    }
    let names = Names {
        path: &|path| whole.repository.name(Utf8Path::new(path)).into_string(),
        on: &task_rules::registry::is_on,
    };
    pretty(&sarif::log(run, &entries, &names))
}
