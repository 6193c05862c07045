//! The fixtures of testdata/rules and the examples of the pages: each rule finds what they say and nothing else.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use findings::{Finding, Level, Location};
use task_model::{LoadOptions, load};
use task_rules::page::{ExampleFile, examples};
use task_rules::{Check, Rule, registry};

fn folder() -> Utf8PathBuf {
    testdata::root().join("rules")
}

/// Everything that loading and the rules say of a target.
fn found(target: &Utf8Path) -> Vec<Finding> {
    let mut dataset =
        load(target, &LoadOptions::default()).unwrap_or_else(|error| panic!("{target}: {error}"));
    task_rules::apply(&mut dataset);
    let mut all = dataset.findings;
    findings::sort(&mut all);
    all
}

/// `path:line:column`, or the path alone, relative to the target.
fn place(finding: &Finding, target: &Utf8Path) -> String {
    let Some(location) = &finding.location else {
        return "-".to_owned();
    };
    let path = location.path();
    let path = path.strip_prefix(target).unwrap_or(path);
    match location {
        Location::Path(_) => path.to_string(),
        Location::Place { source, span } => {
            let at = source.line_column(span.start);
            format!("{path}:{}:{}", at.line, at.column)
        }
    }
}

fn of_rule(all: &[Finding], rule: &Rule, target: &Utf8Path) -> Vec<String> {
    all.iter()
        .filter(|finding| finding.rule.code == rule.meta.code)
        .map(|finding| place(finding, target))
        .collect()
}

/// Errors of other rules: a fixture shows one fault.
fn other_errors(all: &[Finding], rule: &Rule) -> Vec<String> {
    all.iter()
        .filter(|finding| finding.level == Level::Error && finding.rule.code != rule.meta.code)
        .map(|finding| format!("{} {}", finding.rule.code, finding.message))
        .collect()
}

fn cases(name: &str) -> Vec<Utf8PathBuf> {
    let Ok(entries) = folder().join(name).read_dir_utf8() else {
        return Vec::new();
    };
    let mut all: Vec<Utf8PathBuf> = entries
        .map(|entry| entry.expect("an entry"))
        .filter(|entry| entry.file_type().expect("a type").is_dir())
        .map(|entry| entry.into_path())
        .collect();
    all.sort();
    all
}

#[test]
fn each_fixture_shows_its_rule_at_the_stated_places() {
    let mut faults = Vec::new();
    for rule in registry::ALL
        .iter()
        .filter(|rule| !matches!(rule.check, Check::Elsewhere))
    {
        let name = rule.meta.name;
        let all = cases(name);
        let kinds: BTreeSet<&str> = all
            .iter()
            .filter_map(|c| c.file_name()?.split('-').next())
            .collect();
        if kinds != BTreeSet::from(["invalid", "valid"]) {
            faults.push(format!(
                "{name}: needs an invalid-* and a valid-* folder, has {kinds:?}"
            ));
        }
        for case in all {
            let seen = found(&case);
            let places = of_rule(&seen, rule, &case);
            let expected = std::fs::read_to_string(format!("{case}.expect")).unwrap_or_default();
            let expected: Vec<&str> = expected.lines().collect();
            let invalid = case.file_name().unwrap().starts_with("invalid-");
            if places != expected || invalid == expected.is_empty() {
                faults.push(format!("{case}: expected {expected:?}, found {places:?}"));
            }
            for error in other_errors(&seen, rule) {
                faults.push(format!("{case}: another error: {error}"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_examples_of_the_pages_are_what_they_say() {
    let mut faults = Vec::new();
    for rule in registry::ALL
        .iter()
        .filter(|rule| !matches!(rule.check, Check::Elsewhere))
    {
        for (section, expected) in [("Invalid", true), ("Valid", false)] {
            let all = examples(rule.page, section);
            if all.is_empty() {
                faults.push(format!("{}: no example under {section}", rule.meta.name));
            }
            for (number, example) in all.iter().enumerate() {
                let scratch = tempfile::tempdir().unwrap();
                let target = Utf8PathBuf::try_from(scratch.path().to_owned())
                    .unwrap()
                    .join("set");
                let target = write(&target, example);
                let seen = found(&target);
                let fired = seen.iter().any(|finding| finding.rule.code == rule.meta.code);
                if fired != expected {
                    faults.push(format!("{}: {section} {number}: {seen:#?}", rule.meta.name));
                }
                for error in other_errors(&seen, rule) {
                    faults.push(format!(
                        "{}: {section} {number}: another error: {error}",
                        rule.meta.name
                    ));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// What a task has that an example does not show.
const BASE: [(&str, &str); 5] = [
    (
        "task.toml",
        "schema_version = \"1.4\"\n\n[environment]\ndocker_image = \"debian:12\"\n",
    ),
    ("instruction.md", "Write the answer.\n"),
    ("environment/Dockerfile", "FROM debian:12\n"),
    (
        "tests/test.sh",
        "#!/bin/bash\necho 1 > /logs/verifier/reward.txt\n",
    ),
    ("solution/solve.sh", "#!/bin/bash\ntrue\n"),
];

/// Writes an example with what it leaves out; returns the folder to look at.
fn write(set: &Utf8Path, example: &[ExampleFile]) -> Utf8PathBuf {
    let is_set = example
        .iter()
        .any(|file| file.path == "dataset.toml" || file.path.ends_with("/task.toml"));
    let mut tasks = BTreeSet::new();
    for file in example {
        let path = if is_set {
            file.path.clone()
        } else {
            format!("task/{}", file.path)
        };
        if file.link {
            let path = set.join(&path);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            std::os::unix::fs::symlink(&file.text, path).expect("a link");
        } else {
            put(&set.join(&path), &file.text);
        }
        if let Some((task, _)) = path.split_once('/') {
            tasks.insert(task.to_owned());
        }
    }
    if tasks.is_empty() {
        tasks.insert("task".to_owned());
    }
    for task in &tasks {
        let folder = set.join(task);
        for (path, text) in BASE {
            if !folder.join(path).exists() {
                put(&folder.join(path), text);
            }
        }
    }
    if is_set { set.to_owned() } else { set.join("task") }
}

fn put(path: &Utf8Path, text: &str) {
    std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
    std::fs::write(path, text).expect("a file");
}

#[test]
fn registry_pages_and_fixtures_have_the_same_names() {
    let registered: BTreeSet<String> = registry::ALL
        .iter()
        .map(|rule| rule.meta.name.to_owned())
        .collect();
    assert_eq!(registered.len(), registry::ALL.len(), "a name twice");
    let codes: Vec<&str> = registry::ALL.iter().map(|rule| rule.meta.code).collect();
    assert!(codes.is_sorted(), "{codes:?}");
    let pages = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("pages");
    let pages: BTreeSet<String> = pages
        .read_dir_utf8()
        .unwrap()
        .filter_map(|entry| Some(entry.unwrap().file_name().strip_suffix(".md")?.to_owned()))
        .collect();
    assert_eq!(pages, registered);
    let fixtures: BTreeSet<String> = folder()
        .read_dir_utf8()
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_owned())
        .collect();
    assert_eq!(fixtures, registered);
    for rule in registry::ALL {
        assert!(
            rule.page.starts_with(&format!("# {}\n", rule.meta.name)),
            "{}",
            rule.meta.name
        );
    }
}
