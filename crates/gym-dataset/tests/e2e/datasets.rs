//! Datasets with faults: nothing is lost silently, every fault has its place.

use testdata::{Faulty, datasets};

use crate::support::{Tool, each};

fn check(dataset: &Faulty) -> Result<(), String> {
    let path = testdata::root().join("datasets").join(dataset.name);
    let mut arguments = vec![
        "validate",
        path.as_str(),
        "--static",
        "--no-task-data",
        "--format",
        "json",
    ];
    arguments.extend(dataset.flags);
    let name = format!("{} {}", dataset.name, dataset.flags.join(" "));
    let output = Tool::new(arguments).run();
    let report = output.report();
    let findings = report["findings"].as_array().expect("findings");
    if output.code != Some(dataset.exit) {
        return Err(format!("{name}: exit {:?}: {findings:#?}", output.code));
    }
    for (what, expected) in [("seen", dataset.seen), ("loadable", dataset.loadable)] {
        let got = report["coverage"][what].as_u64();
        if let Some(expected) = expected
            && got != Some(expected as u64)
        {
            return Err(format!("{name}: {what} is {got:?}, not {expected}"));
        }
    }
    for &id in dataset.refused {
        let refused = report["tasks"]
            .as_array()
            .expect("tasks")
            .iter()
            .any(|task| task["id"] == id && task["status"] == "refused" && task["loadable"] == false);
        if !refused {
            return Err(format!("{name}: {id} is not refused"));
        }
        if !findings
            .iter()
            .any(|finding| finding["task"] == id && finding["level"] == "error")
        {
            return Err(format!("{name}: no error names {id}"));
        }
    }
    let level = if dataset.exit == 0 { "warning" } else { "error" };
    for &word in dataset.says {
        let said = findings.iter().any(|finding| {
            finding["level"] == level
                && [&finding["message"], &finding["path"], &finding["help"][0]]
                    .iter()
                    .any(|text| holds(text, word))
        });
        if !said {
            return Err(format!("{name}: no {level} says `{word}`: {findings:#?}"));
        }
    }
    Ok(())
}

fn holds(value: &serde_json::Value, word: &str) -> bool {
    value.as_str().is_some_and(|text| text.contains(word))
}

#[test]
fn every_faulty_dataset_is_told_so() {
    each(datasets(), check);
}

#[test]
fn an_empty_dataset_a_wrong_path_and_an_empty_selection_are_three_things() {
    let empty = testdata::root().join("datasets/empty");
    let wrong = testdata::root().join("datasets/quikstart");
    let quickstart = testdata::quickstart();
    let none = Tool::new(["validate", empty.as_str(), "--static"]).run();
    let path = Tool::new(["validate", wrong.as_str(), "--static"]).run();
    let selection = Tool::new(["validate", quickstart.as_str(), "--static", "--task", "no-such-*"]).run();
    for output in [&none, &path, &selection] {
        assert_eq!(output.code, Some(2), "{}\n{}", output.stdout, output.stderr);
    }
    assert!(none.stderr.contains("no task"), "{}", none.stderr);
    assert!(
        path.stderr.contains("quickstart"),
        "the near name is offered: {}",
        path.stderr
    );
    assert!(selection.stderr.contains("no-such-*"), "{}", selection.stderr);
}

#[test]
fn findings_have_places_and_are_sorted() {
    let path = testdata::root().join("datasets/lost-task");
    let report = Tool::new(["validate", path.as_str(), "--static", "--format", "json"])
        .run()
        .report();
    let all = report["findings"].as_array().expect("a list");
    let finding = all.iter().find(|f| f["level"] == "error").expect("an error");
    assert_eq!(finding["task"], "third");
    assert_eq!(finding["line"], 5);
    assert!(
        finding["column"].as_u64().is_some_and(|column| column > 15),
        "{finding}"
    );
    assert!(
        finding["path"]
            .as_str()
            .is_some_and(|path| path.ends_with("third/task.toml")),
        "{finding}"
    );
}
