//! SARIF 2.1.0, as code scanning reads it.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::{Finding, Level, LineColumn, Location, RuleMeta, sanitize};

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
        }
    }
}

/// Returns the log of one run.
#[must_use]
pub fn log(run: Run<'_>, entries: &[Entry<'_>]) -> Value {
    let used: BTreeMap<&str, &RuleMeta> = entries.iter().map(|e| (e.rule.code, e.rule)).collect();
    let index: BTreeMap<&str, usize> = used.keys().enumerate().map(|(i, code)| (*code, i)).collect();
    let mut seen = BTreeMap::new();
    let results: Vec<Value> = entries
        .iter()
        .map(|entry| {
            let rule = index.get(entry.rule.code).copied().unwrap_or_default();
            result(entry, rule, &mut seen)
        })
        .collect();
    let mut invocation = json!({ "executionSuccessful": run.error.is_none(), "exitCode": run.exit });
    if let Some(error) = run.error {
        invocation["toolExecutionNotifications"] =
            json!([{ "level": "error", "message": { "text": text(error) } }]);
    }
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": run.tool,
                "version": run.version,
                "semanticVersion": run.version,
                "rules": used.values().map(|rule| description(rule)).collect::<Vec<_>>(),
            }},
            "invocations": [invocation],
            "originalUriBaseIds": { "%SRCROOT%": {
                "description": { "text": "The working directory; run the program at the repository's root." }
            }},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

fn description(rule: &RuleMeta) -> Value {
    json!({
        "id": rule.code,
        "name": rule.name,
        "shortDescription": { "text": rule.name.replace('-', " ") },
        "fullDescription": { "text": rule.summary },
        "help": { "text": rule.summary },
        "defaultConfiguration": { "level": rule.level.as_str() },
        "properties": { "tags": [family(rule.code)] },
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
        _ => "task",
    }
}

fn result(entry: &Entry<'_>, rule: usize, seen: &mut BTreeMap<String, usize>) -> Value {
    let lines: Vec<&str> = std::iter::once(entry.message)
        .chain(entry.help.iter().map(String::as_str))
        .collect();
    let mut out = json!({
        "ruleId": entry.rule.code,
        "ruleIndex": rule,
        "level": entry.level.as_str(),
        "message": { "text": text(&lines.join("\n")) },
        "partialFingerprints": { "gymDataset/v1": fingerprint(entry, seen) },
    });
    if let Some(path) = entry.path {
        let mut physical = json!({ "artifactLocation": artifact(path) });
        if let Some((start, end)) = entry.range {
            physical["region"] = json!({
                "startLine": start.line,
                "startColumn": start.column,
                "endLine": end.line,
                "endColumn": end.column,
            });
        }
        out["locations"] = json!([{ "physicalLocation": physical }]);
    }
    if let Some(task) = entry.task {
        out["properties"] = json!({ "task": sanitize::line(task) });
    }
    out
}

/// Returns what stays the same while lines above move: rule, task, file, message, and which of equal ones it is.
fn fingerprint(entry: &Entry<'_>, seen: &mut BTreeMap<String, usize>) -> String {
    let parts = [
        entry.rule.code,
        entry.task.unwrap_or_default(),
        entry.path.unwrap_or_default(),
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

fn artifact(path: &str) -> Value {
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                uri.push(byte.into());
            }
            // Not in a first segment, where it would look like a scheme; escaping it is right anywhere.
            other => uri.extend(["%", &format!("{other:02X}")]),
        }
    }
    if path.starts_with('/') {
        json!({ "uri": format!("file://{uri}") })
    } else {
        json!({ "uri": uri, "uriBaseId": "%SRCROOT%" })
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::sync::Arc;

    use super::*;
    use crate::SourceFile;

    static RULE: RuleMeta = RuleMeta {
        code: "GD101",
        name: "canned-rule",
        level: Level::Error,
        summary: "A canned rule.",
        page: "",
    };
    static OTHER: RuleMeta = RuleMeta {
        code: "GD001",
        name: "other",
        level: Level::Note,
        summary: "Another.",
        page: "",
    };

    const RUN: Run<'_> = Run {
        tool: "gym-dataset",
        version: "0.1.0",
        exit: 1,
        error: None,
    };

    /// The official schema, from the package that ships it.
    fn official() -> Value {
        let out = Command::new(env!("CARGO"))
            .args(["metadata", "--format-version", "1", "--manifest-path"])
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))
            .output()
            .unwrap();
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        let metadata: Value = serde_json::from_slice(&out.stdout).unwrap();
        let packages = metadata["packages"].as_array().unwrap();
        let package = packages.iter().find(|p| p["name"] == "serde-sarif").unwrap();
        let manifest = camino::Utf8Path::new(package["manifest_path"].as_str().unwrap());
        let schema = manifest.parent().unwrap().join("src/schema.json");
        let mut schema: Value = serde_json::from_str(&std::fs::read_to_string(schema).unwrap()).unwrap();
        // One pattern has a stray bracket, which is no regular expression with Unicode; no log of ours has a language.
        for part in ["run", "toolComponent"] {
            let language = &mut schema["definitions"][part]["properties"]["language"];
            language.as_object_mut().unwrap().remove("pattern").unwrap();
        }
        schema
    }

    fn findings() -> Vec<Finding> {
        let source = Arc::new(SourceFile::new("set a/t/task.toml", "x\n\u{fc} = [\u{1f469}]\n"));
        vec![
            Finding::new(&RULE, "`x` is [wrong](http://a) \u{1b}[0m\nhere")
                .at(&source, 5..6)
                .help("write `y`")
                .in_task("t"),
            Finding::new(&RULE, "same").at(&source, 0..1),
            Finding::new(&RULE, "same").at(&source, 2..2),
            Finding::new(&OTHER, "`[verifier]` is a table").at_path("a:b%/\u{fc}?#.toml"),
            Finding::new(&OTHER, "elsewhere")
                .at_path("/tmp/x")
                .level(Level::Warning),
            Finding::new(&OTHER, "nowhere"),
        ]
    }

    #[test]
    fn every_shape_of_finding_fits_the_official_schema() {
        let validator = jsonschema::validator_for(&official()).unwrap();
        let found = findings();
        let entries: Vec<Entry<'_>> = found
            .iter()
            .map(|f| Entry::of(f, Some("t/task.toml")))
            .chain(found.iter().map(|f| Entry::of(f, None)))
            .collect();
        let lost = Run {
            error: Some("no such folder"),
            exit: 2,
            ..RUN
        };
        for log in [log(RUN, &entries), log(RUN, &[]), log(lost, &[])] {
            let faults: Vec<String> = validator.iter_errors(&log).map(|e| e.to_string()).collect();
            assert_eq!(faults, Vec::<String>::new());
        }
        let mut broken = log(RUN, &entries);
        broken["runs"][0]["results"][0]["level"] = json!("fatal");
        assert!(!validator.is_valid(&broken), "the schema is really looked at");
    }

    #[test]
    fn places_count_characters_and_paths_are_relative_and_escaped() {
        let found = findings();
        let entries: Vec<Entry<'_>> = found.iter().map(|f| Entry::of(f, None)).collect();
        let log = log(RUN, &entries);
        let results = &log["runs"][0]["results"];
        let place = &results[0]["locations"][0]["physicalLocation"];
        assert_eq!(
            *place,
            json!({
                "artifactLocation": { "uri": "set%20a/t/task.toml", "uriBaseId": "%SRCROOT%" },
                "region": { "startLine": 2, "startColumn": 3, "endLine": 2, "endColumn": 4 },
            })
        );
        let uri = |i: usize| &results[i]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
        assert_eq!(*uri(3), json!("a%3Ab%25/%C3%BC%3F%23.toml"));
        assert_eq!(*uri(4), json!("file:///tmp/x"));
        assert_eq!(results[5].get("locations"), None);
    }

    #[test]
    fn rules_are_those_used_and_results_point_at_them() {
        let found = findings();
        let entries: Vec<Entry<'_>> = found.iter().map(|f| Entry::of(f, None)).collect();
        let log = log(RUN, &entries);
        let rules = log["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap();
        let ids: Vec<&str> = rules.iter().map(|r| r["id"].as_str().unwrap()).collect();
        assert_eq!(ids, ["GD001", "GD101"]);
        assert_eq!(rules[1]["fullDescription"]["text"], "A canned rule.");
        for result in log["runs"][0]["results"].as_array().unwrap() {
            let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
            assert_eq!(ids[index], result["ruleId"].as_str().unwrap());
        }
    }

    #[test]
    fn messages_hold_no_links_and_no_escape_sequences() {
        let found = findings();
        let entries: Vec<Entry<'_>> = found.iter().map(|f| Entry::of(f, None)).collect();
        let log = log(RUN, &entries);
        let text = |i: usize| log["runs"][0]["results"][i]["message"]["text"].clone();
        assert_eq!(
            text(0),
            json!("`x` is \\[wrong\\](http://a) \\x1b\\[0m\nhere\nwrite `y`")
        );
        assert_eq!(text(3), json!("`[verifier]` is a table"));
    }

    #[test]
    fn fingerprints_survive_moved_lines_and_tell_equal_findings_apart() {
        let print = |text: &str, spans: &[std::ops::Range<usize>]| -> Vec<Value> {
            let source = Arc::new(SourceFile::new("t/task.toml", text));
            let found: Vec<Finding> = spans
                .iter()
                .map(|span| Finding::new(&RULE, "m").at(&source, span.clone()))
                .collect();
            let entries: Vec<Entry<'_>> = found.iter().map(|f| Entry::of(f, None)).collect();
            let log = log(RUN, &entries);
            let results = log["runs"][0]["results"].as_array().unwrap();
            results.iter().map(|r| r["partialFingerprints"].clone()).collect()
        };
        let before = print("a\nb\n", &[0..1, 2..3]);
        let after = print("\n\na\nb\n", &[2..3, 4..5]);
        assert_eq!(before, after);
        assert_ne!(before[0], before[1]);
    }
}
