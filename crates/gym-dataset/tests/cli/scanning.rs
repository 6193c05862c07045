//! What code scanning and annotations read: files named from the repository's root, pages, fixes, suppressions.

use serde_json::{Value, json};

use crate::common::CliTest;
use crate::since::git;

/// A task with an older key, in a folder below a repository's root.
fn set() -> CliTest {
    let test = CliTest::new();
    git(&test, &["init", "-q"]);
    let toml = "[environment]\ndocker_image = \"x\"\nmemory = \"2G\"\nunknown = 1\n";
    test.file("data/set/a/task.toml", toml);
    test.file("data/set/a/instruction.md", "Do it.\n");
    test.file("data/set/a/tests/test.sh", "#!/bin/bash\n");
    test
}

/// Runs in `data` and returns stdout.
fn print(test: &CliTest, more: &[&str]) -> String {
    let args = [&["validate", "set", "--static"], more].concat();
    let out = test
        .command(&args)
        .current_dir(test.root().join("data"))
        .output()
        .unwrap();
    assert!(out.status.code().is_some_and(|code| code < 2), "{out:?}");
    String::from_utf8(out.stdout).unwrap()
}

fn results(test: &CliTest, more: &[&str]) -> Vec<Value> {
    let text = print(test, &[&["--format", "sarif"], more].concat());
    let log: Value = serde_json::from_str(&text).unwrap();
    log["runs"][0]["results"].as_array().unwrap().clone()
}

#[test]
fn files_are_named_from_the_repositorys_root() {
    let test = set();
    for result in results(&test, &[]) {
        let file = &result["locations"][0]["physicalLocation"]["artifactLocation"];
        assert_eq!(file["uriBaseId"], "%SRCROOT%");
        let uri = file["uri"].as_str().unwrap();
        assert!(uri.starts_with("data/set/a/"), "{uri}");
    }
    let annotations = print(&test, &["--format", "github"]);
    assert!(
        annotations.contains("::warning file=data/set/a/task.toml,line=4,"),
        "{annotations}"
    );
}

#[test]
fn a_finding_that_can_be_fixed_carries_the_edit() {
    let all = results(&set(), &[]);
    let legacy = all.iter().find(|r| r["ruleId"] == "GD121").unwrap();
    let change = &legacy["fixes"][0]["artifactChanges"][0];
    assert_eq!(change["artifactLocation"]["uri"], "data/set/a/task.toml");
    assert_eq!(
        change["replacements"],
        json!([
            {
                "deletedRegion": { "startLine": 3, "startColumn": 1, "endLine": 3, "endColumn": 7 },
                "insertedContent": { "text": "memory_mb" },
            },
            {
                "deletedRegion": { "startLine": 3, "startColumn": 10, "endLine": 3, "endColumn": 14 },
                "insertedContent": { "text": "2048" },
            },
        ])
    );
    let message = legacy["message"]["text"].as_str().unwrap();
    assert!(message.ends_with("`--fix` does it"), "{message}");
    let other = all.iter().find(|r| r["ruleId"] != "GD121").unwrap();
    assert_eq!(other.get("fixes"), None);
}

#[test]
fn a_rule_of_ours_carries_its_page() {
    let test = set();
    test.file("data/set/a/tests/test.sh", "#!/bin/bash\r\ntrue\r\n");
    let log: Value = serde_json::from_str(&print(&test, &["--format", "sarif"])).unwrap();
    let rules = log["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap();
    let rule = rules.iter().find(|r| r["id"] == "GD801").unwrap();
    let page = rule["help"]["markdown"].as_str().unwrap();
    assert!(page.starts_with("# carriage-return-in-script\n"), "{page}");
}

#[test]
fn what_a_suppression_hides_is_listed_with_its_reason_when_asked_for() {
    let test = set();
    let settings =
        "[[metadata.gym-dataset.lint.suppress]]\nrule = \"legacy-key\"\nreason = \"older readers\"\n";
    let toml = std::fs::read_to_string(test.root().join("data/set/a/task.toml")).unwrap();
    test.file("data/set/a/task.toml", format!("{toml}{settings}"));
    let shown = |more: &[&str]| -> Vec<Value> {
        let all = results(&test, more).into_iter();
        all.filter(|r| r["ruleId"] == "GD121").collect()
    };
    assert_eq!(shown(&[]), Vec::<Value>::new());
    let hidden = shown(&["--show-suppressed"]);
    assert_eq!(
        hidden[0]["suppressions"],
        json!([{ "kind": "inSource", "status": "accepted", "justification": "older readers" }])
    );
    let place = &hidden[0]["relatedLocations"][0]["physicalLocation"]["region"]["startLine"];
    assert_eq!(*place, 5);
}

#[test]
fn ten_of_a_level_are_annotated_the_worst_first_and_the_others_listed() {
    let test = set();
    for i in 0..12 {
        test.file(
            &format!("data/set/bad-{i:02}/task.toml"),
            "[environment]\ncpus = \"many\"\n",
        );
    }
    let out = print(&test, &["--format", "github"]);
    let lines: Vec<&str> = out.lines().collect();
    let of = |word: &str| lines.iter().filter(|l| l.starts_with(word)).count();
    assert_eq!(of("::error "), 10, "{out}");
    let last_error = lines.iter().rposition(|l| l.starts_with("::error ")).unwrap();
    let warning = lines.iter().position(|l| l.starts_with("::warning ")).unwrap();
    assert!(last_error < warning, "{out}");
    assert!(
        lines
            .iter()
            .any(|l| l.starts_with("set/bad-11/task.toml:2:8: error[GD")),
        "{out}"
    );
}
