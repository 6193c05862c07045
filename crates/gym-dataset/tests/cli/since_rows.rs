//! `--since` where a folder is not a task: rows of templates, submodules, worktrees, shallow clones.

use crate::common::CliTest;
use crate::since::{git, picked, repository, task};

const ROWS: &str =
    "{\"task_id\": \"x\", \"n\": 1}\n{\"task_id\": \"y\", \"n\": 2}\n{\"task_id\": \"z\", \"n\": 3}\n";

/// A template of three rows beside a task, committed.
fn template() -> CliTest {
    let test = CliTest::new();
    task(&test, "set/plain");
    task(&test, "set/many");
    test.file("set/many/instruction.template.md", "Do it {{ n }} times.\n");
    std::fs::remove_file(test.root().join("set/many/instruction.md")).unwrap();
    test.file("set/many/tasks.jsonl", ROWS);
    git(&test, &["init", "-q"]);
    git(&test, &["add", "."]);
    git(&test, &["commit", "-qm", "one"]);
    git(&test, &["tag", "one"]);
    test
}

#[test]
fn of_a_template_only_the_rows_that_changed_are_picked() {
    let test = template();
    assert_eq!(picked(&test, "set", "one").1, Vec::<String>::new());
    // One changed, one new, one moved, one gone.
    test.file(
        "set/many/tasks.jsonl",
        "\n{\"task_id\": \"y\", \"n\": 20}\r\n{\"task_id\": \"x\", \"n\": 1}\n{\"task_id\": \"w\", \"n\": 4}\n",
    );
    assert_eq!(picked(&test, "set", "one").1, ["w", "y"]);
    git(&test, &["commit", "-qam", "two"]);
    assert_eq!(picked(&test, "set", "one").1, ["w", "y"]);
    assert_eq!(picked(&test, "set/many", "one").1, ["w", "y"]);
    assert_eq!(picked(&test, "set", "HEAD").1, Vec::<String>::new());
}

#[test]
fn any_other_file_of_a_template_picks_all_of_its_rows() {
    let test = template();
    test.file("set/many/tasks.jsonl", ROWS.replace("3}", "30}"));
    test.file("set/many/tests/test.sh", "#!/bin/bash\necho more\n");
    assert_eq!(picked(&test, "set", "one").1, ["x", "y", "z"]);
}

#[test]
fn rows_without_an_earlier_form_are_all_new() {
    let test = repository();
    git(&test, &["rm", "-q", "set/a/instruction.md"]);
    git(&test, &["commit", "-qm", "two"]);
    git(&test, &["tag", "two"]);
    test.file("set/a/instruction.template.md", "Do it {{ n }} times.\n");
    git(&test, &["add", "."]);
    git(&test, &["commit", "-qm", "three"]);
    git(&test, &["tag", "three"]);
    test.file("set/a/tasks.jsonl", ROWS);
    assert_eq!(picked(&test, "set", "three").1, ["x", "y", "z"]);
    // A row that no commit could read is a changed one.
    git(&test, &["add", "."]);
    test.file("set/a/tasks.jsonl", "not JSON\n");
    git(&test, &["commit", "-qam", "four"]);
    test.file("set/a/tasks.jsonl", ROWS);
    assert_eq!(picked(&test, "set", "HEAD").1, ["x", "y", "z"]);
}

#[test]
fn a_submodule_is_looked_into() {
    let inner = repository();
    let test = CliTest::new();
    task(&test, "own");
    git(&test, &["init", "-q"]);
    git(
        &test,
        &["submodule", "--quiet", "add", inner.root().as_str(), "sub"],
    );
    git(&test, &["add", "."]);
    git(&test, &["commit", "-qm", "one"]);
    assert_eq!(picked(&test, "sub/set", "HEAD").1, Vec::<String>::new());
    assert_eq!(picked(&test, ".", "HEAD").1, Vec::<String>::new());
    test.file("sub/set/a/instruction.md", "More.\n");
    assert_eq!(
        picked(&test, ".", "HEAD").1,
        ["a"],
        "a change in its working tree"
    );
    git(&test, &["-C", "sub", "commit", "-qam", "two"]);
    assert_eq!(picked(&test, ".", "HEAD").1, ["a"], "another commit of it");
    git(&test, &["commit", "-qam", "two"]);
    assert_eq!(picked(&test, ".", "HEAD").1, Vec::<String>::new());
    assert_eq!(picked(&test, ".", "HEAD~1").1, ["a"]);
}

#[test]
fn a_repository_inside_that_git_does_not_track_is_new_as_a_whole() {
    let test = repository();
    task(&test, "set/nested/t");
    git(&test, &["-C", "set/nested", "init", "-q"]);
    git(&test, &["-C", "set/nested", "add", "."]);
    git(&test, &["-C", "set/nested", "commit", "-qm", "inner"]);
    assert_eq!(picked(&test, "set", "one").1, ["t"]);
}

#[test]
fn a_worktree_is_compared_with_its_own_files() {
    let test = repository();
    git(&test, &["worktree", "add", "-q", "other", "one"]);
    test.file("set/a/instruction.md", "More.\n");
    assert_eq!(picked(&test, "other/set", "one").1, Vec::<String>::new());
    test.file("other/set/b/instruction.md", "More.\n");
    assert_eq!(picked(&test, "other/set", "one").1, ["b"]);
}

#[test]
fn a_shallow_clone_without_the_commit_says_what_to_do() {
    let test = repository();
    test.file("set/a/instruction.md", "More.\n");
    git(&test, &["commit", "-qam", "two"]);
    let url = format!("file://{}", test.root());
    git(&test, &["clone", "-q", "--depth", "1", &url, "shallow"]);
    assert_eq!(picked(&test, "shallow/set", "HEAD").1, Vec::<String>::new());
    let ran = test.run(&["validate", "shallow/set", "--static", "--since", "one"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("git fetch --unshallow"), "{}", ran.stderr);
}

#[test]
fn a_row_that_can_no_longer_be_read_is_an_error_of_the_change() {
    let test = template();
    let errors = || {
        let (code, object) = test.json(&[
            "validate", "set", "--static", "--since", "one", "--format", "json",
        ]);
        let found = object["findings"].as_array().unwrap().iter();
        let codes = found.filter(|f| f["level"] == "error").map(|f| f["rule"].clone());
        (code, codes.collect::<Vec<_>>())
    };
    // One of three, and all there are.
    test.file("set/many/tasks.jsonl", ROWS.replace("\"n\": 2}", "\"n\": 2"));
    assert_eq!(errors(), (Some(1), vec!["GD210".into()]));
    test.file("set/many/tasks.jsonl", "{\n");
    assert_eq!(errors(), (Some(1), vec!["GD210".into()]));
}
