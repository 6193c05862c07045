//! `publish`: what is written, what is said, and what is left when it is killed.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use camino::Utf8Path;

use crate::common::CliTest;
use crate::schema::faults;

const TOML: &str = "[environment]\ndocker_image = \"debian:12\"\n";

/// Writes a dataset of `count` tasks whose instructions hold `mark`.
fn dataset(test: &CliTest, name: &str, count: usize, mark: &str) {
    test.file(
        &format!("{name}/dataset.toml"),
        "[gym]\nlicense = \"MIT\"\n\n[dataset]\nname = \"acme/set\"\n",
    );
    for index in 0..count {
        let task = format!("{name}/task-{index:03}");
        test.file(&format!("{task}/task.toml"), TOML);
        test.file(&format!("{task}/instruction.md"), format!("Do {mark}.\n"));
        test.file(
            &format!("{task}/tests/verifier.py"),
            "def verify(workspace):\n    return 1\n",
        );
        test.file(&format!("{task}/solution/answer.md"), mark);
    }
}

fn publish<'a>(source: &'a str, output: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut args = vec!["publish", "--harbor", source, "--output", output, "--no-harbor"];
    args.extend(more);
    args
}

/// Every file with its bytes; `None` when there is no such folder.
fn contents(root: &Utf8Path) -> Option<BTreeMap<String, Vec<u8>>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in folder.read_dir_utf8().ok()? {
            let path = entry.ok()?.into_path();
            if path.symlink_metadata().ok()?.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(root).unwrap_or(&path).to_string();
                found.insert(name, std::fs::read(&path).ok()?);
            }
        }
    }
    Some(found)
}

fn names(root: &Utf8Path) -> Vec<String> {
    let mut names: Vec<String> = root
        .read_dir_utf8()
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn the_object_says_what_was_written() {
    let test = CliTest::new();
    dataset(&test, "set", 2, "x");
    let (code, object) = test.json(&publish(
        "set",
        "out",
        &["--format", "json", "--archive", "packages"],
    ));
    assert_eq!(code, Some(0), "{object}");
    assert_eq!(faults("publish.schema.json", &object), Vec::<String>::new());
    assert_eq!(object["output"], "out");
    assert_eq!(object["dataset"]["name"], "acme/set");
    assert_eq!(object["tasks"][1]["id"], "task-001");
    assert_eq!(object["tasks"][1]["grader"], "shim");
    assert_eq!(object["tasks"][1]["solution"], "answer.md");
    assert_eq!(object["checks"][0]["ok"], true);
    assert_eq!(object["checks"][1]["ran"], false);
    let (code, digests) = test.json(&["digest", "out", "--format", "json"]);
    assert_eq!(code, Some(0));
    assert_eq!(digests["tasks"][1]["digest"], object["tasks"][1]["digest"]);
    assert_eq!(digests["dataset"]["digest"], object["dataset"]["digest"]);
    assert_eq!(
        names(&test.root().join("packages")),
        ["SHA256SUMS", "task-000.tar.gz", "task-001.tar.gz"]
    );
}

#[test]
fn a_dry_run_and_a_refusal_write_nothing() {
    let test = CliTest::new();
    dataset(&test, "set", 2, "x");
    let ran = test.run(&publish("set", "out", &["--dry-run"]));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.ends_with("would publish 2 tasks to out\n"), "{ran:?}");
    test.file(
        "set/task-000/tests/verifier.py",
        "def verify(response):\n    return 1\n",
    );
    test.file("set/task-001/.gitignore", "*.sh\n");
    let (code, object) = test.json(&publish("set", "out", &["--format", "json"]));
    assert_eq!(code, Some(1));
    assert_eq!(faults("publish.schema.json", &object), Vec::<String>::new());
    assert_eq!(
        (&object["ok"], &object["output"]),
        (&false.into(), &serde_json::Value::Null)
    );
    let findings = object["findings"].as_array().unwrap();
    let rules: Vec<&str> = findings
        .iter()
        .filter(|f| f["level"] == "error")
        .map(|f| f["rule"].as_str().unwrap())
        .collect();
    assert!(rules.contains(&"GD652") && rules.contains(&"GD659"), "{rules:?}");
    assert_eq!(names(test.root()), ["set"]);
}

#[test]
fn outputs_that_are_not_free_are_refused() {
    let test = CliTest::new();
    dataset(&test, "set", 1, "x");
    for (output, words) in [
        ("set/out", "lies inside the source"),
        (".", "holds the source"),
        (
            "full",
            "is not empty; `--force` replaces it\n = help: a folder that is absent or empty needs no `--force`",
        ),
        ("set/dataset.toml", "lies inside the source"),
    ] {
        test.file("full/keep", "kept");
        let ran = test.run(&publish("set", output, &[]));
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.stdout.contains(words), "{ran:?}");
    }
    assert_eq!(names(test.root()), ["full", "set"]);
    let (code, object) = test.json(&publish("gone", "out", &["--format", "json"]));
    assert_eq!(code, Some(2));
    assert!(
        object["findings"][0]["message"]
            .as_str()
            .unwrap()
            .contains("gone")
    );
}

#[test]
fn as_many_jobs_as_you_like_write_the_same_tree() {
    let test = CliTest::new();
    dataset(&test, "set", 12, "x");
    for (output, jobs) in [("one", "1"), ("eight", "8")] {
        assert_eq!(test.run(&publish("set", output, &["--jobs", jobs])).code, Some(0));
    }
    assert_eq!(
        contents(&test.root().join("one")),
        contents(&test.root().join("eight"))
    );
}

/// Kills a publication at `count` moments spread over its length and looks at the output after each.
fn kill_and_look(
    test: &CliTest,
    count: u32,
    more: &[&str],
    sources: [&str; 2],
    allowed: &[Option<BTreeMap<String, Vec<u8>>>],
) {
    let out = test.root().join("out");
    let started = Instant::now();
    assert_eq!(test.run(&publish(sources[0], "measured", &[])).code, Some(0));
    let length = started.elapsed();
    let mut killed = 0;
    for index in 0..count {
        let source = sources[index as usize % 2];
        let mut child = test
            .command(&publish(source, "out", more))
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        // The last moments lie behind the end.
        std::thread::sleep(length * index / count + Duration::from_micros(u64::from(index * 37 % 400)));
        child.kill().unwrap();
        killed += u32::from(child.wait().unwrap().code().is_none());
        let now = contents(&out);
        assert!(
            allowed.contains(&now),
            "after {index} kills: {:?}",
            now.map(|files| files.len())
        );
        if more.is_empty() && now.is_some() {
            std::fs::remove_dir_all(&out).unwrap();
        }
    }
    assert!(
        killed > count / 4,
        "only {killed} of {count} runs were killed before their end"
    );
    // The next run cleans up.
    let mut last = vec!["--force"];
    last.extend(more.iter().filter(|option| **option != "--force"));
    assert_eq!(test.run(&publish(sources[0], "out", &last)).code, Some(0));
    let left: Vec<String> = names(test.root())
        .into_iter()
        .filter(|name| name.starts_with('.'))
        .collect();
    assert_eq!(left, [""; 0], "no staging folder survives the next run");
}

#[test]
fn a_kill_at_any_moment_leaves_the_output_absent_or_whole() {
    let test = CliTest::new();
    dataset(&test, "set", 6, "x");
    assert_eq!(test.run(&publish("set", "whole", &[])).code, Some(0));
    let whole = contents(&test.root().join("whole"));
    kill_and_look(&test, 120, &[], ["set", "set"], &[None, whole]);
}

#[test]
fn a_kill_at_any_moment_of_a_replacement_leaves_the_old_or_the_new() {
    let test = CliTest::new();
    dataset(&test, "old", 6, "the old thing");
    dataset(&test, "new", 7, "the new thing");
    let mut allowed = Vec::new();
    for source in ["old", "new"] {
        let whole = format!("whole-{source}");
        assert_eq!(test.run(&publish(source, &whole, &[])).code, Some(0));
        allowed.push(contents(&test.root().join(whole)));
    }
    assert_eq!(test.run(&publish("old", "out", &[])).code, Some(0));
    kill_and_look(&test, 120, &["--force"], ["new", "old"], &allowed);
}

#[test]
fn two_at_once_do_not_disturb_each_other() {
    let test = CliTest::new();
    dataset(&test, "a", 8, "a");
    dataset(&test, "b", 9, "b");
    let start = |source: &str| {
        test.command(&publish(source, "out", &["--force"]))
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap()
    };
    for _ in 0..6 {
        let (mut first, mut second) = (start("a"), start("b"));
        let codes = [first.wait().unwrap().code(), second.wait().unwrap().code()];
        // One may find that the other came in between; it says so and changes nothing.
        assert!(
            codes.contains(&Some(0)) && codes.iter().all(|code| matches!(code, Some(0 | 1))),
            "{codes:?}"
        );
        let tasks = names(&test.root().join("out")).len();
        assert!(matches!(tasks, 9 | 10), "{tasks} entries");
    }
    assert_eq!(names(test.root()), ["a", "b", "out"]);
}

#[test]
fn a_full_disk_leaves_the_old_output_and_nothing_else() {
    let name = "a_full_disk_leaves_the_old_output_and_nothing_else";
    let test = CliTest::new();
    dataset(&test, "set", 6, &"x".repeat(20_000));
    // A disk of 100 KiB that only this shell sees.
    let script = format!(
        "mkdir disk && mount -t tmpfs -o size=100k tmpfs disk || exit 77\n\
         '{tool}' publish --harbor set --output disk/new --no-harbor; echo \"code $?\"; ls -A disk\n\
         mkdir disk/out; echo old > disk/out/old\n\
         '{tool}' publish --harbor set --output disk/out --no-harbor --force; echo \"code $?\"; ls -A disk disk/out",
        tool = env!("CARGO_BIN_EXE_gym-dataset")
    );
    let out = std::process::Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", &script])
        .current_dir(test.root())
        .output();
    let Some(out) = out.ok().filter(|out| out.status.success()) else {
        println!("skipped by name: {name}: no `unshare` that can mount");
        assert!(
            std::env::var_os("CI").is_none_or(|v| v != "true"),
            "skipped in CI: {name}"
        );
        return;
    };
    let said = String::from_utf8(out.stdout).unwrap();
    assert_eq!(said, "code 2\ncode 2\ndisk:\nout\n\ndisk/out:\nold\n");
    let errors = String::from_utf8(out.stderr).unwrap();
    assert!(errors.contains("No space left on device"), "{errors}");
}
