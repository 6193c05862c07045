//! Annotations for GitHub Actions, and a summary in the log.

use findings::render::github::{self, Annotation};
use findings::{Level, sanitize};

use super::rules::endings;
use super::{Whole, task_file};

/// The runner shows ten annotations of a level for a step; a few more do no harm in the log.
const SHOWN: usize = 50;

pub(super) fn render(whole: &Whole<'_>) -> String {
    let mut lines: Vec<(Level, String)> = Vec::new();
    if let Some(error) = &whole.object.error {
        let annotation = Annotation {
            level: Level::Error,
            path: None,
            range: None,
            title: "gym-dataset",
            message: error,
        };
        lines.push((Level::Error, annotation.command()));
    }
    for finding in whole.shown_findings() {
        let place = whole.place_of(finding);
        let command = github::finding(finding, place.as_ref().map(|p| p.as_str()));
        lines.push((finding.level, command));
    }
    for (task, rule, message) in endings(whole) {
        let file = task_file(task);
        let tail = task.evidence.iter().flat_map(|e| &e.tail);
        let message: Vec<&str> = std::iter::once(message.as_str())
            .chain(tail.map(String::as_str))
            .collect();
        let annotation = Annotation {
            level: rule.level,
            path: Some(file.as_str()),
            range: None,
            title: rule.name,
            message: &message.join("\n"),
        };
        lines.push((rule.level, annotation.command()));
    }
    let mut out = String::new();
    for (level, words) in [
        (Level::Error, "errors"),
        (Level::Warning, "warnings"),
        (Level::Note, "notes"),
    ] {
        let of_level: Vec<&String> = lines
            .iter()
            .filter(|(l, _)| *l == level)
            .map(|(_, line)| line)
            .collect();
        for line in of_level.iter().take(SHOWN) {
            out.extend([line.as_str(), "\n"]);
        }
        let more = of_level.len().saturating_sub(SHOWN);
        if more > 0 {
            out.extend([&more.to_string(), " more ", words, " are not annotated\n"]);
        }
    }
    let coverage = whole.object.coverage.line(whole.only_static);
    for line in [coverage, whole.totals()] {
        out.extend([&github::plain(&sanitize::line(&line)), "\n"]);
    }
    out
}
