//! `schema task` and `schema dataset`: what loads without a remark is valid, common faults are not.

use jsonschema::Validator;
use serde_json::Value;

use crate::common::CliTest;

fn validator(what: &str) -> Validator {
    let ran = CliTest::new().run(&["schema", what]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    jsonschema::validator_for(&serde_json::from_str(&ran.stdout).unwrap()).unwrap()
}

fn faults(validator: &Validator, toml: &str) -> Vec<String> {
    let value: Value = toml::from_str(toml).unwrap();
    let faults = validator.iter_errors(&value);
    faults.map(|e| format!("{}: {e}", e.instance_path())).collect()
}

#[test]
fn files_without_a_remark_are_valid() {
    let task = validator("task");
    let dataset = validator("dataset");
    let sets = testdata::datasets().iter();
    let folders = sets.map(|d| testdata::root().join("datasets").join(d.name));
    let mut seen = (0, 0);
    for folder in folders.chain([testdata::root().join("tasks")]) {
        let test = CliTest::new();
        let (_, report) = test.json(&["validate", folder.as_str(), "--static", "--format", "json"]);
        let findings = report["findings"].as_array().unwrap();
        let remarked = |path: &str| {
            let mut of_path = findings
                .iter()
                .filter(|f| f["level"] != "note" && f["path"] == path);
            of_path.next().is_some()
        };
        for one in report["tasks"].as_array().into_iter().flatten() {
            let path = format!("{}/task.toml", one["path"].as_str().unwrap());
            if one["loads"]["harbor"] == true && !remarked(&path) {
                let text = std::fs::read_to_string(&path).unwrap();
                assert_eq!(faults(&task, &text), Vec::<String>::new(), "{path}");
                seen.0 += 1;
            }
        }
        let path = format!("{folder}/dataset.toml");
        if let (Ok(text), false) = (std::fs::read_to_string(&path), remarked(&path)) {
            assert_eq!(faults(&dataset, &text), Vec::<String>::new(), "{path}");
            seen.1 += 1;
        }
    }
    assert!(seen.0 >= 30 && seen.1 >= 3, "{seen:?}");
}

/// Faults between several values, or between a value and files: no schema sees them.
const UNSEEN: [&str; 5] = [
    "duplicate-task-name",
    "gym-network-restriction",
    "gym-unknown-task",
    "nothing-to-build",
    "toml-encoding",
];

#[test]
fn files_with_an_error_are_not_valid_unless_no_schema_can_see_it() {
    let task = validator("task");
    let dataset = validator("dataset");
    let mut seen = 0;
    let mut accepted = std::collections::BTreeSet::new();
    let sets = testdata::datasets().iter();
    let folders = sets.map(|d| testdata::root().join("datasets").join(d.name));
    for folder in folders.chain([testdata::root().join("tasks")]) {
        let args = ["validate", folder.as_str(), "--static", "--format", "json"];
        let (_, report) = CliTest::new().json(&args);
        for finding in report["findings"].as_array().into_iter().flatten() {
            let path = finding["path"].as_str().unwrap_or_default();
            let schema = match path.rsplit('/').next() {
                Some("task.toml") => &task,
                Some("dataset.toml") => &dataset,
                _ => continue,
            };
            let text = std::fs::read_to_string(path).unwrap_or_default();
            let Ok(value) = toml::from_str::<Value>(&text) else {
                continue;
            };
            if finding["level"] != "error" {
                continue;
            }
            if schema.is_valid(&value) {
                accepted.insert(finding["name"].as_str().unwrap().to_owned());
            } else {
                seen += 1;
            }
        }
    }
    assert!(seen >= 10, "{seen}");
    let unseen: Vec<&str> = accepted.iter().map(String::as_str).collect();
    assert_eq!(unseen, UNSEEN, "{seen} are seen");
}

#[test]
fn common_faults_are_not_valid() {
    let task = validator("task");
    assert_eq!(
        faults(
            &task,
            "[environment]\ndocker_image = \"x\"\n[metadata]\nany = [1]\n"
        ),
        Vec::<String>::new()
    );
    for text in [
        "[environment]\ndockerimage = \"x\"\n",
        "[environment]\ncpus = \"many\"\n",
        "[environment]\ncpus = 0\n",
        "[verifier]\ntimeout_sec = \"five\"\n",
        "[verifier]\nenvironment_mode = \"own\"\n",
        "[verifier.env]\nA = 1\n",
        "[environment.healthcheck]\nretries = 1\n",
        "[task]\nname = \"no-org\"\n",
        "[[steps]]\nmin_reward = 1\n",
        "artifacts = \"x\"\n",
        "unknown = 1\n",
    ] {
        assert_ne!(faults(&task, text), Vec::<String>::new(), "{text}");
    }
    let dataset = validator("dataset");
    let good = "[dataset]\nname = \"a/b\"\n[gym]\nlicense = \"MIT\"\n[gym.defaults]\nnum_repeats = 2\n\
                [gym.tasks.\"x\".environment]\ncpus = 2\nmemory_mb = 2048\n";
    assert_eq!(faults(&dataset, good), Vec::<String>::new());
    for text in [
        "[gym]\n",
        "[dataset]\nname = \"b\"\n",
        "[dataset]\nname = \"a/b\"\n[gym]\nlicence = \"MIT\"\n",
        "[dataset]\nname = \"a/b\"\n[gym.defaults]\nnum_repeats = 0\n",
        "[dataset]\nname = \"a/b\"\n[[tasks]]\nname = \"a/c\"\ndigest = \"x\"\n",
        "[dataset]\nname = \"a/b\"\n[gym.tasks.x.environment]\nmemroy_mb = 1\n",
    ] {
        assert_ne!(faults(&dataset, text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn the_report_has_its_schema_too() {
    let test = CliTest::new();
    let report = validator("report");
    let (_, object) = test.json(&["validate", "nowhere", "--format", "json"]);
    assert!(report.is_valid(&object));
    assert!(!report.is_valid(&serde_json::json!({ "schema": 1 })));
}
