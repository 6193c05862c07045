//! SARIF 2.1.0, as code scanning reads it.
//!
//! GitHub takes at most 25,000 results of a run and 10 MB of a compressed file; what is beyond that is left out here,
//! the least important first, and the log says so.

mod limits;
mod place;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::{Finding, Fix, Level, LineColumn, Location, RuleMeta, sanitize};

/// Where the format's schema is published.
const SCHEMA: &str =
    "https://raw.githubusercontent.com/oasis-tcs/sarif-spec/master/Schemata/sarif-schema-2.1.0.json";

/// One run of the program.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// The program's name.
    pub tool: &'a str,
    /// Its version.
    pub version: &'a str,
    /// The exit code.
    pub exit: u8,
    /// Why the run as a whole went wrong; then it did not do what it was asked for.
    pub error: Option<&'a str>,
}

/// What is said of one place.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// Who says it.
    pub rule: &'a RuleMeta,
    /// How much it matters.
    pub level: Level,
    /// What is wrong.
    pub message: &'a str,
    /// What to do.
    pub help: &'a [String],
    /// The task, when it is about one.
    pub task: Option<&'a str>,
    /// File or folder, relative to the working directory.
    pub path: Option<&'a str>,
    /// First place and end (exclusive).
    pub range: Option<(LineColumn, LineColumn)>,
    /// Other places that belong to it, each with what it is.
    pub related: &'a [(Location, String)],
    /// What would take it away.
    pub fix: Option<&'a Fix>,
    /// The reason for which somebody hid it in a file of the dataset.
    pub suppressed: Option<&'a str>,
}

impl<'a> Entry<'a> {
    /// Returns what a finding says; `place` is the file for a finding that names none.
    #[must_use]
    pub fn of(finding: &'a Finding, place: Option<&'a str>) -> Self {
        let location = finding.location.as_ref();
        Self {
            rule: finding.rule,
            level: finding.level,
            message: &finding.message,
            help: &finding.help,
            task: finding.task.as_deref(),
            path: location.map(|l| l.path().as_str()).or(place),
            range: location.and_then(Location::range),
            related: &finding.related,
            fix: finding.fix.as_ref(),
            suppressed: None,
        }
    }
}

/// What the log takes from elsewhere.
pub struct Names<'a> {
    /// A path of an entry as the log names it: relative to the repository's root, or absolute when it is outside.
    pub path: &'a dyn Fn(&str) -> String,
    /// Whether a rule is on when nobody selects anything.
    pub on: &'a dyn Fn(&str) -> bool,
}

impl std::fmt::Debug for Names<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Names").finish_non_exhaustive()
    }
}

/// Returns the log of one run.
#[must_use]
pub fn log(run: Run<'_>, entries: &[Entry<'_>], names: &Names<'_>) -> Value {
    let (entries, left_out) = limits::fitting(entries);
    let used: BTreeMap<&str, &RuleMeta> = entries.iter().map(|e| (e.rule.code, e.rule)).collect();
    let index: BTreeMap<&str, usize> = used.keys().enumerate().map(|(i, code)| (*code, i)).collect();
    let mut seen = BTreeMap::new();
    let results: Vec<Value> = entries
        .iter()
        .map(|entry| {
            let rule = index.get(entry.rule.code).copied().unwrap_or_default();
            result(entry, rule, &mut seen, names)
        })
        .collect();
    let mut invocation = json!({ "executionSuccessful": run.error.is_none(), "exitCode": run.exit });
    let remark = |level: &str, words: &str| json!({ "level": level, "message": { "text": text(words) } });
    let error = run.error.map(|error| remark("error", error));
    let cut = (left_out > 0).then(|| {
        let words = format!("{left_out} more results do not fit into one upload and are left out");
        remark("warning", &words)
    });
    let remarks: Vec<Value> = error.into_iter().chain(cut).collect();
    if !remarks.is_empty() {
        invocation["toolExecutionNotifications"] = Value::from(remarks);
    }
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": run.tool,
                "version": run.version,
                "semanticVersion": run.version,
                "rules": used.values().map(|rule| description(rule, names)).collect::<Vec<_>>(),
            }},
            "invocations": [invocation],
            "originalUriBaseIds": { "%SRCROOT%": {
                "description": { "text": "The repository's root; the working directory where there is no repository." }
            }},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

fn description(rule: &RuleMeta, names: &Names<'_>) -> Value {
    let page = rule.markdown();
    let severity = match rule.level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Note => "recommendation",
    };
    json!({
        "id": rule.code,
        "name": rule.name,
        "shortDescription": { "text": rule.name.replace('-', " ") },
        "fullDescription": { "text": rule.summary },
        "help": { "text": page, "markdown": page },
        "defaultConfiguration": { "level": rule.level.as_str(), "enabled": (names.on)(rule.code) },
        "properties": { "tags": [family(rule.code)], "problem.severity": severity },
    })
}

/// What a rule is about, by the first digit of its code.
fn family(code: &str) -> &'static str {
    match code.as_bytes().get(2) {
        Some(b'0') => "files",
        Some(b'1') => "task.toml",
        Some(b'2') => "instruction",
        Some(b'3') => "environment",
        Some(b'4') => "solution",
        Some(b'5') => "tests",
        Some(b'6') => "dataset",
        Some(b'7') => "harbor-lint",
        Some(b'8') => "scripts",
        Some(b'9') => "whole-dataset",
        _ => "task",
    }
}

fn result(entry: &Entry<'_>, rule: usize, seen: &mut BTreeMap<String, usize>, names: &Names<'_>) -> Value {
    let path = entry.path.map(|path| (names.path)(path));
    let mut out = json!({
        "ruleId": entry.rule.code,
        "ruleIndex": rule,
        "level": entry.level.as_str(),
        "message": { "text": message(entry) },
        "partialFingerprints": { "gymDataset/v1": fingerprint(entry, path.as_deref(), seen) },
    });
    if let Some(path) = &path {
        out["locations"] = json!([{ "physicalLocation": place::physical(path, entry.range) }]);
    }
    if let Some(task) = entry.task {
        out["properties"] = json!({ "task": sanitize::line(task) });
    }
    if !entry.related.is_empty() {
        let related = entry.related.iter().take(limits::RELATED).enumerate();
        let related = related.map(|(i, (location, what))| {
            let path = (names.path)(location.path().as_str());
            json!({
                "id": i,
                "physicalLocation": place::physical(&path, location.range()),
                "message": { "text": text(what) },
            })
        });
        out["relatedLocations"] = related.collect();
    }
    if let Some(fix) = entry.fix.and_then(|fix| place::fix(fix, names)) {
        out["fixes"] = json!([fix]);
    }
    if let Some(reason) = entry.suppressed {
        out["suppressions"] = json!([{
            "kind": "inSource",
            "status": "accepted",
            "justification": sanitize::terminal(reason),
        }]);
    }
    out
}

fn message(entry: &Entry<'_>) -> String {
    let lines: Vec<&str> = std::iter::once(entry.message)
        .chain(entry.help.iter().map(String::as_str))
        .collect();
    limits::cut(text(&lines.join("\n")))
}

/// Returns what stays the same while lines above move: rule, task, file, message, and which of equal ones it is.
fn fingerprint(entry: &Entry<'_>, path: Option<&str>, seen: &mut BTreeMap<String, usize>) -> String {
    let parts = [
        entry.rule.code,
        entry.task.unwrap_or_default(),
        path.unwrap_or_default(),
        entry.message,
    ];
    let key = parts.join("\0");
    let number = seen.entry(key.clone()).or_default();
    *number += 1;
    let hash = Sha256::digest(format!("{key}\0{number}").as_bytes());
    hash.iter().take(16).map(|b| format!("{b:02x}")).collect()
}

/// Returns text in which no link can be hidden: in this format `[a](b)` is one.
fn text(text: &str) -> String {
    let text = sanitize::terminal(text);
    if text.contains("](") {
        text.replace('[', "\\[").replace(']', "\\]")
    } else {
        text
    }
}
