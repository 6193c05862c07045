//! `--fix`: files on disk before and after.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

use crate::common::CliTest;

const OLD: &str = "version = \"1.0\" # first\r\n[task]\r\nname = \"o/a\"\r\n[environment]\r\ndocker_image = \"d\"\r\nmemory = \"2G\"\r\n";
const NEW: &str = "schema_version = \"1.0\" # first\r\n[task]\r\nname = \"o/a\"\r\n[environment]\r\ndocker_image = \"d\"\r\nmemory_mb = 2048\r\n";

fn set(test: &CliTest) {
    let stale = "0".repeat(64);
    test.file(
        "set/dataset.toml",
        format!("[dataset]\nname = \"o/set\"\n[[tasks]]\nname = \"o/a\"\ndigest = \"sha256:{stale}\"\n"),
    );
    test.file("set/a/task.toml", OLD);
    test.file("set/a/instruction.md", "Do it.\r\n");
    test.file("set/a/tests/test.sh", "#!/bin/bash\r\ntrue\r\n");
    // What the task is about.
    test.file("set/a/tests/fixtures/in.sh", "\u{feff}#!/bin/sh\r\ntrue\r\n");
}

fn read(test: &CliTest, path: &str) -> String {
    std::fs::read_to_string(test.root().join(path)).unwrap()
}

/// What was found by name, and stderr.
fn found(test: &CliTest, args: &[&str]) -> (Vec<String>, String) {
    let args = [&["validate", "set", "--static", "--format", "json"], args].concat();
    let ran = test.run(&args);
    let object: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let findings = object["findings"].as_array().unwrap().iter();
    let names = findings.map(|f| f["name"].as_str().unwrap().to_owned()).collect();
    (names, ran.stderr)
}

#[test]
fn a_set_is_fixed_once_and_the_run_sees_it_fixed() {
    let test = CliTest::new();
    set(&test);
    let script = test.root().join("set/a/tests/test.sh");
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o750)).unwrap();
    let (names, _) = found(&test, &[]);
    assert!(names.contains(&"legacy-key".to_owned()), "{names:?}");
    assert!(
        names.contains(&"carriage-return-in-script".to_owned()),
        "{names:?}"
    );
    let (names, notes) = found(&test, &["--fix"]);
    assert!(!names.contains(&"legacy-key".to_owned()), "{names:?}");
    assert!(
        !names.contains(&"carriage-return-in-script".to_owned()),
        "{names:?}"
    );
    assert!(
        notes.contains(
            "note: fixed set/a/task.toml: write `schema_version` for `version`; write `memory_mb` for `memory`\n"
        ),
        "{notes}"
    );
    assert_eq!(read(&test, "set/a/task.toml"), NEW);
    assert_eq!(read(&test, "set/a/tests/test.sh"), "#!/bin/bash\ntrue\n");
    assert_eq!(read(&test, "set/a/instruction.md"), "Do it.\r\n");
    assert_eq!(
        read(&test, "set/a/tests/fixtures/in.sh"),
        "\u{feff}#!/bin/sh\r\ntrue\r\n"
    );
    assert_eq!(std::fs::metadata(&script).unwrap().mode() & 0o7777, 0o750);
    let digest = test.run(&["digest", "set", "--format", "json"]).stdout;
    let stated = read(&test, "set/dataset.toml");
    let stated = stated.split("sha256:").nth(1).unwrap().get(..64).unwrap();
    assert!(digest.contains(stated), "{stated} is not in {digest}");
    let (_, notes) = found(&test, &["--fix"]);
    assert_eq!(notes, "");
    let left: Vec<_> = std::fs::read_dir(test.root().join("set/a")).unwrap().collect();
    assert_eq!(left.len(), 3, "{left:?}");
}

#[test]
fn a_dry_run_shows_what_a_run_does_and_writes_nothing() {
    let test = CliTest::new();
    set(&test);
    let args = ["validate", "set", "--static", "--fix", "--format", "concise"];
    let shown = test.run(&[args.as_slice(), &["--dry-run"]].concat());
    assert_eq!(read(&test, "set/a/task.toml"), OLD);
    assert!(
        shown
            .stdout
            .starts_with("diff --git a/set/a/task.toml b/set/a/task.toml\n--- a/set/a/task.toml\n+++ b/set/a/task.toml\n@@ -1,6 +1,6 @@\n"),
        "{shown:?}"
    );
    assert_eq!(shown.code, Some(1), "the script's line ends are still there");
    // The digest shown is the one that is written.
    assert!(test.run(&args).stderr.contains("fixed set/dataset.toml"));
    let manifest = read(&test, "set/dataset.toml");
    let digest = manifest.lines().last().unwrap();
    assert!(shown.stdout.contains(&format!("+{digest}\n")), "{shown:?}");
    let again = test.run(&[args.as_slice(), &["--dry-run"]].concat());
    assert!(!again.stdout.contains("+++"), "{again:?}");
}

#[test]
fn a_program_gets_its_report_alone_and_the_diff_beside_it() {
    let test = CliTest::new();
    set(&test);
    let (_, aside) = found(&test, &["--fix", "--dry-run"]);
    assert!(aside.contains("+++ b/set/a/tests/test.sh\n"), "{aside}");
}

#[test]
fn unselected_tasks_links_and_a_datasets_file_above_the_target_stay() {
    let test = CliTest::new();
    set(&test);
    test.file("set/b/task.toml", OLD);
    test.file("set/b/instruction.md", "Do it.\n");
    let outside = test.file("outside.sh", "#!/bin/bash\r\ntrue\r\n");
    symlink(outside, test.root().join("set/a/tests/link.sh")).unwrap();
    let manifest = read(&test, "set/dataset.toml");
    let ran = test.run(&["validate", "set/a", "--static", "--fix"]);
    assert!(ran.stderr.contains("fixed set/a/task.toml"), "{ran:?}");
    assert_eq!(read(&test, "set/b/task.toml"), OLD);
    assert_eq!(read(&test, "set/dataset.toml"), manifest);
    assert_eq!(read(&test, "outside.sh"), "#!/bin/bash\r\ntrue\r\n");
}

#[test]
fn a_template_is_fixed_once_for_all_its_rows() {
    let test = CliTest::new();
    test.file("set/task.toml", OLD);
    test.file("set/instruction.md", "Do {{ what }}.\n");
    test.file("set/tests/test.template.sh", "#!/bin/bash\r\necho {{ what }}\r\n");
    test.file(
        "set/tasks.jsonl",
        "{\"task_id\": \"x\", \"what\": \"a\"}\n{\"task_id\": \"y\", \"what\": \"b\"}\n",
    );
    let (_, notes) = found(&test, &["--fix"]);
    assert_eq!(notes.matches("fixed ").count(), 2, "{notes}");
    assert_eq!(read(&test, "set/task.toml"), NEW);
    assert_eq!(
        read(&test, "set/tests/test.template.sh"),
        "#!/bin/bash\necho {{ what }}\n"
    );
    assert_eq!(found(&test, &["--fix"]).1, "");
}

#[test]
fn a_dry_run_of_nothing_is_wrong_usage() {
    let test = CliTest::new();
    set(&test);
    let ran = test.run(&["validate", "set", "--static", "--dry-run"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("--fix"), "{}", ran.stderr);
}

#[test]
fn what_is_not_shown_is_not_fixed() {
    let test = CliTest::new();
    set(&test);
    let ignored = ["--fix", "--ignore", "legacy-key"];
    let (_, notes) = found(&test, &ignored);
    assert!(
        notes.contains("fixed set/a/tests/test.sh: end lines with LF"),
        "{notes}"
    );
    assert_eq!(read(&test, "set/a/task.toml"), OLD);
    let suppressed = format!("{OLD}[metadata.gym-dataset.lint]\r\nignore = [\"legacy-key\"]\r\n");
    test.file("set/a/task.toml", &suppressed);
    let (names, _) = found(&test, &["--fix"]);
    assert!(!names.contains(&"legacy-key".to_owned()), "{names:?}");
    assert_eq!(read(&test, "set/a/task.toml"), suppressed);
}

#[test]
fn a_target_may_be_the_folder_one_is_in() {
    let test = CliTest::new();
    test.file("task.toml", OLD);
    test.file("instruction.md", "Do it.\n");
    test.file("tests/test.sh", "\u{feff}#!/bin/bash\r\ntrue\r\n");
    let ran = test.run(&["validate", "--static", "--fix"]);
    assert_eq!(read(&test, "task.toml"), NEW, "{ran:?}");
    assert_eq!(read(&test, "tests/test.sh"), "#!/bin/bash\ntrue\n");
}
