//! Which findings are shown.

use camino::Utf8Path;
use findings::{Finding, Level, RuleMeta};
use task_model::load::rules as load_rules;
use task_model::{Dataset, LoadOptions, load};

use super::{Choice, Filter, Universe};

fn universe() -> Universe {
    let all: Vec<&'static RuleMeta> = task_model::config::RULES
        .iter()
        .chain(load_rules::RULES)
        .copied()
        .chain(crate::registry::metas())
        .collect();
    Universe {
        all,
        of_runs: Vec::new(),
    }
}

/// A dataset of one task whose files hold these lines besides what is needed; its grader has CRLF line ends.
fn dataset(dataset_toml: &str, task_toml: &str) -> (tempfile::TempDir, Dataset) {
    let scratch = tempfile::tempdir().unwrap();
    let root = Utf8Path::from_path(scratch.path()).unwrap();
    let put = |path: &str, text: &str| {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    put(
        "dataset.toml",
        &format!("[dataset]\nname = \"a/b\"\n{dataset_toml}"),
    );
    let base = "schema_version = \"1.4\"\nunknown_key = 1\n[environment]\ndocker_image = \"debian:12\"\n";
    put("one/task.toml", &format!("{base}{task_toml}"));
    put("one/instruction.md", "x\n");
    put("one/environment/Dockerfile", "FROM debian:12\n");
    put(
        "one/tests/test.sh",
        "#!/bin/bash\r\ntest -e /app/x && echo 1 > /logs/verifier/reward.txt\r\n",
    );
    put("one/solution/solve.sh", "#!/bin/bash\ntrue\n");
    let mut dataset = load(root, &LoadOptions::default()).unwrap();
    dataset.findings.extend(crate::check(&dataset, |_, _| true));
    (scratch, dataset)
}

fn names(dataset_toml: &str, task_toml: &str, words: &Choice) -> Vec<&'static str> {
    let (_scratch, mut dataset) = dataset(dataset_toml, task_toml);
    let mut filter = Filter::of(&mut dataset, words, false, &universe()).unwrap();
    let mut all = std::mem::take(&mut dataset.findings);
    filter.apply(&mut all);
    all.extend(filter.unused(&universe(), false));
    let mut names: Vec<&str> = all.iter().map(|finding: &Finding| finding.rule.name).collect();
    names.sort_unstable();
    names
}

fn ignore(word: &str) -> Choice {
    Choice {
        ignore: vec![word.to_owned()],
        ..Choice::default()
    }
}

const ALL: [&str; 2] = ["carriage-return-in-script", "unknown-key"];

#[test]
fn rules_that_are_off_are_not_shown_and_words_turn_them_on() {
    assert_eq!(names("", "", &Choice::default()), ALL);
    let words = Choice {
        select: vec!["root-agent".to_owned(), "GD709".to_owned()],
        ..Choice::default()
    };
    assert_eq!(
        names("", "", &words),
        ["root-agent", "unpinned-image", "unpinned-image"]
    );
}

#[test]
fn words_are_codes_beginnings_names_and_harbors_names() {
    assert_eq!(names("", "", &ignore("GD801")), [ALL[1]]);
    assert_eq!(names("", "", &ignore("gd8")), [ALL[1]]);
    assert_eq!(names("", "", &ignore("unknown-config-field")), [ALL[0]]);
    assert_eq!(names("", "", &ignore("ALL")), [""; 0]);
    let (_scratch, mut dataset) = dataset("", "");
    let unknown = Filter::of(&mut dataset, &ignore("shared_verifier"), false, &universe()).unwrap_err();
    assert_eq!(
        unknown.to_string(),
        "`shared_verifier` names no rule; did you mean `shared-verifier`?"
    );
}

#[test]
fn harbors_table_touches_its_own_rules_only() {
    let table = "[metadata.harbor.lint]\nselect = [\"root-agent\"]\n";
    assert_eq!(names(table, "", &Choice::default()), [ALL[0], "root-agent"]);
    let own = "[metadata.harbor.lint]\nselect = [\"shared-verifier\"]\n";
    assert_eq!(names(table, own, &Choice::default()), [ALL[0], "shared-verifier"]);
    let wrong = "[metadata.harbor.lint]\nignore = [\"GD801\"]\n";
    assert_eq!(
        names(wrong, "", &Choice::default()),
        [ALL[0], "lint-settings", ALL[1]]
    );
}

#[test]
fn what_makes_harbor_refuse_its_table_is_told() {
    for refused in [
        "ignore = [\"ALL\"]",
        "foo = 1",
        "suppress = [{rule = \"root-agent\", reason = \"x\"}]",
    ] {
        let table = format!("[metadata.harbor.lint]\n{refused}\n");
        assert_eq!(
            names("", &table, &Choice::default()),
            [ALL[0], "lint-settings", ALL[1]],
            "{refused}"
        );
    }
    let all = "[metadata.harbor.lint]\nselect = [\"ALL\"]\n";
    assert!(!names(all, "", &Choice::default()).contains(&"lint-settings"));
}

#[test]
fn a_suppression_has_a_reason_and_is_used() {
    let table = |rest: &str| {
        format!("[[metadata.gym-dataset.lint.suppress]]\nrule = \"carriage-return-in-script\"\n{rest}")
    };
    let good = table("reason = \"read by a program of Windows\"\npath = \"tests/test.sh\"\n");
    assert_eq!(names("", &good, &Choice::default()), [ALL[1]]);
    assert_eq!(names(&good, "", &Choice::default()), [ALL[1]]);
    let elsewhere = table("reason = \"x\"\npath = \"solution/solve.sh\"\n");
    assert_eq!(
        names("", &elsewhere, &Choice::default()),
        [ALL[0], ALL[1], "unused-suppression"]
    );
    assert_eq!(
        names("", &table(""), &Choice::default()),
        [ALL[0], "lint-settings", ALL[1]]
    );
}

#[test]
fn the_path_of_a_suppression_is_a_path_of_the_task() {
    let with = |path: &str| {
        format!(
            "[[metadata.gym-dataset.lint.suppress]]\nrule = \"GD801\"\nreason = \"x\"\npath = \"{path}\"\n"
        )
    };
    assert_eq!(names("", &with("./tests//test.sh"), &Choice::default()), [ALL[1]]);
    assert_eq!(
        names(&with("one/tests/test.sh"), "", &Choice::default()),
        [ALL[1]]
    );
    assert_eq!(
        names("", &with("test.sh"), &Choice::default()),
        [ALL[0], ALL[1], "unused-suppression"]
    );
}

#[test]
fn a_suppression_of_what_is_off_is_not_called_unused() {
    let of =
        |rule: &str| format!("[[metadata.gym-dataset.lint.suppress]]\nrule = \"{rule}\"\nreason = \"x\"\n");
    assert_eq!(names("", &of("GD801"), &ignore("GD801")), [ALL[1]]);
    assert_eq!(names("", &of("GD80"), &ignore("GD801")), [ALL[1]]);
    assert_eq!(names("", &of("root-agent"), &Choice::default()), ALL);
    let own = "[metadata.gym-dataset.lint]\nignore = [\"unused-suppression\"]\n";
    assert_eq!(
        names("", &format!("{own}{}", of("host-cpu-count")), &Choice::default()),
        ALL
    );
}

#[test]
fn what_is_unused_belongs_to_the_task_that_holds_it() {
    let unused = "[[metadata.gym-dataset.lint.suppress]]\nrule = \"host-cpu-count\"\nreason = \"x\"\n";
    for (shared, own, task) in [("", unused, Some("one")), (unused, "", None)] {
        let (_scratch, mut dataset) = dataset(shared, own);
        let filter = Filter::of(&mut dataset, &Choice::default(), false, &universe()).unwrap();
        let found = filter.unused(&universe(), false);
        let tasks: Vec<Option<&str>> = found.iter().map(|finding| finding.task.as_deref()).collect();
        assert_eq!(tasks, [task]);
    }
}

#[test]
fn tables_of_tasks_that_are_not_selected_are_notes() {
    let wrong = "[metadata.gym-dataset.lint]\nignore = [\"nonsense\"]\n";
    let (_scratch, mut dataset) = dataset("", wrong);
    for task in &mut dataset.tasks {
        task.selected = false;
    }
    let mut filter = Filter::of(&mut dataset, &Choice::default(), true, &universe()).unwrap();
    filter.apply(&mut dataset.findings);
    let mut found = dataset.findings.iter();
    let settings = found
        .find(|finding| finding.rule.name == "lint-settings")
        .unwrap();
    assert_eq!(settings.level, Level::Note);
}

#[test]
fn errors_of_loading_are_always_shown() {
    let (_scratch, mut dataset) = dataset("", "[agent]\ntimeout_sec = \"five\"\n");
    let mut filter = Filter::of(&mut dataset, &ignore("ALL"), false, &universe()).unwrap();
    filter.apply(&mut dataset.findings);
    let names: Vec<&str> = dataset.findings.iter().map(|finding| finding.rule.name).collect();
    assert_eq!(names, ["wrong-type"]);
}

#[test]
fn strict_raises_warnings() {
    let (_scratch, mut dataset) = dataset("", "");
    let mut filter = Filter::of(&mut dataset, &Choice::default(), true, &universe()).unwrap();
    filter.apply(&mut dataset.findings);
    let unknown = dataset
        .findings
        .iter()
        .find(|finding| finding.rule.name == "unknown-key")
        .unwrap();
    assert_eq!(unknown.level, Level::Error);
}
