//! `--fix` and its diff to the letter: what git applies, modes, overrides, and nothing beside what is said.

use std::os::unix::fs::{MetadataExt as _, symlink};

use camino::Utf8Path;

use crate::common::CliTest;
use crate::since::git;

/// A set with everything that has one right form, names with blanks and other letters included.
fn set() -> CliTest {
    let test = CliTest::new();
    let stale = "0".repeat(64);
    test.file(
        "sub/set/dataset.toml",
        format!(
            "[dataset]\nname = \"o/set\" # kept\n[gym.tasks.\"a ü\".environment]\nallow_internet = false # why\n\
             memory = \"1G\"\n[[tasks]]\nname = \"o/a\"\ndigest = \"sha256:{stale}\"\n[[files]]\npath = \"notes.txt\"\n\
             digest = \"sha256:{stale}\"\n"
        ),
    );
    test.file("sub/set/notes.txt", "Notes.\n");
    test.file(
        "sub/set/a ü/task.toml",
        "version = \"1.0\" # first\r\n[task]\r\nname = \"o/a\"\r\n[environment]\r\ndocker_image = \"d\"\r\nstorage = \"2G\"",
    );
    test.file("sub/set/a ü/instruction.md", "Do it.\r\n");
    test.file("sub/set/a ü/tests/test.sh", "\u{feff}#!/bin/bash\r\n\ttrue\r\n");
    test.file("sub/set/a ü/solution/solve.sh", "#!/bin/bash\ntrue\n");
    test.file("sub/set/a ü/environment/Dockerfile", "FROM d\n");
    test
}

const FIX: [&str; 6] = [
    "validate",
    "set",
    "--static",
    "--fix",
    "--extend-select",
    "script-not-executable",
];

/// Runs in `sub`.
fn run(test: &CliTest, args: &[&str]) -> (String, String) {
    let mut command = test.command(args);
    let out = command.current_dir(test.root().join("sub")).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (text(out.stdout), text(out.stderr))
}

/// Every file with its mode and bytes.
fn state(folder: &Utf8Path, into: &mut Vec<(String, u32, String)>) {
    let mut entries: Vec<_> = folder.read_dir_utf8().unwrap().map(Result::unwrap).collect();
    entries.sort_by(|a, b| a.path().cmp(b.path()));
    for entry in entries {
        let meta = entry.metadata().unwrap();
        if meta.is_dir() && entry.file_name() != ".git" {
            state(entry.path(), into);
        } else if meta.is_file() {
            let bytes = std::fs::read(entry.path()).unwrap();
            let text = String::from_utf8(bytes).unwrap();
            into.push((entry.path().to_string(), meta.mode() & 0o7777, text));
        }
    }
}

fn of_set(test: &CliTest) -> Vec<(String, u32, String)> {
    let mut all = Vec::new();
    state(&test.root().join("sub/set"), &mut all);
    let root = test.root().as_str();
    all.into_iter()
        .map(|(path, mode, text)| (path.replacen(root, "", 1), mode, text))
        .collect()
}

#[test]
fn git_applies_the_diff_and_it_is_what_a_run_writes() {
    let test = set();
    git(&test, &["init", "-q"]);
    git(&test, &["add", "."]);
    let (diff, _) = run(&test, &[FIX.as_slice(), &["--dry-run"]].concat());
    assert!(diff.contains("old mode 100644\nnew mode 100755\n"), "{diff}");
    test.file("fix.diff", &diff);
    let twin = set();
    run(&twin, &FIX);
    git(&test, &["apply", "--whitespace=nowarn", "fix.diff"]);
    assert_eq!(of_set(&test), of_set(&twin));
}

#[test]
fn every_edit_is_made_once_and_nothing_else_changes() {
    let test = set();
    let before = of_set(&test);
    let (_, notes) = run(&test, &FIX);
    let after = of_set(&test);
    assert_eq!(notes.matches("note: fixed ").count(), 4, "{notes}");
    assert!(
        notes.contains("fixed set/a ü/solution/solve.sh: make it executable\n"),
        "{notes}"
    );
    let named = |list: &[(String, u32, String)], end: &str| {
        let one = list.iter().find(|(path, ..)| path.ends_with(end)).unwrap();
        (one.1, one.2.clone())
    };
    assert_eq!(
        named(&after, "tests/test.sh"),
        (0o755, "#!/bin/bash\n\ttrue\n".to_owned())
    );
    assert_eq!(named(&after, "solve.sh"), (0o755, named(&before, "solve.sh").1));
    assert_eq!(
        named(&after, "task.toml").1,
        named(&before, "task.toml")
            .1
            .replace("version", "schema_version")
            .replace("storage = \"2G\"", "storage_mb = 2048")
    );
    let manifest = named(&after, "dataset.toml").1;
    assert!(
        manifest.contains("network_mode = \"no-network\" # why\nmemory_mb = 1024\n[[tasks]]"),
        "{manifest}"
    );
    // What sha256sum says of the file.
    let digest = "8bcc07e3af5963927125230b5cbe9472ed79adbcd37b09082eba58d8ae50ac7d";
    assert!(
        manifest.ends_with(&format!("path = \"notes.txt\"\ndigest = \"sha256:{digest}\"\n")),
        "{manifest}"
    );
    assert!(!manifest.contains(&"0".repeat(64)), "{manifest}");
    for file in ["instruction.md", "notes.txt", "Dockerfile"] {
        assert_eq!(named(&after, file), named(&before, file));
    }
    let (_, notes) = run(&test, &FIX);
    assert!(!notes.contains("fixed"), "{notes}");
    assert_eq!(of_set(&test), after);
}

#[test]
fn a_mode_is_left_alone_unless_its_rule_is_selected() {
    let test = set();
    run(&test, &["validate", "set", "--static", "--fix"]);
    let modes: Vec<u32> = of_set(&test).into_iter().map(|(_, mode, _)| mode).collect();
    assert!(modes.iter().all(|mode| mode & 0o111 == 0), "{modes:?}");
}

#[test]
fn digests_stay_when_their_rule_is_ignored_and_no_task_is_edited() {
    let test = set();
    run(
        &test,
        &[
            "validate",
            "set",
            "--static",
            "--fix",
            "--ignore",
            "GD904,GD121,GD801,GD802",
        ],
    );
    assert_eq!(of_set(&test), of_set(&set()));
}

#[test]
fn a_folder_that_is_a_link_is_not_entered() {
    let test = set();
    let outside = test.file("outside/x.sh", "#!/bin/bash\r\ntrue\r\n");
    let tests = test.root().join("sub/set/a ü/tests");
    symlink(test.root().join("outside"), tests.join("linked")).unwrap();
    run(&test, &FIX);
    assert_eq!(
        std::fs::read_to_string(outside).unwrap(),
        "#!/bin/bash\r\ntrue\r\n"
    );
    assert!(tests.join("linked").is_symlink());
}
