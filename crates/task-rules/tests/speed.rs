//! What a large file costs.

use std::time::Instant;

use camino::Utf8Path;
use task_model::{Dataset, LoadOptions, load};

/// A task whose grader and Dockerfile hold these texts.
fn task(root: &Utf8Path, test_sh: &str, dockerfile: &str) -> Dataset {
    let put = |path: &str, text: &str| {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    };
    put(
        "task.toml",
        "schema_version = \"1.4\"\n[environment]\ndocker_image = \"debian:12\"\n",
    );
    put("instruction.md", "x\n");
    put("environment/Dockerfile", dockerfile);
    put("solution/solve.sh", "#!/bin/bash\ntrue\n");
    put("tests/test.sh", test_sh);
    load(root, &LoadOptions::default()).expect("it loads")
}

#[test]
fn a_script_of_one_long_line_costs_little() {
    let scratch = tempfile::tempdir().expect("a folder");
    let root = Utf8Path::from_path(scratch.path()).expect("UTF-8").join("task");
    let data = "QUJD".repeat(600_000);
    let test_sh = format!(
        "#!/bin/bash\nset -e\necho '{data}' | base64 -d | tar xz -C /tests\npytest /tests\necho 1 > /logs/verifier/reward.txt\n"
    );
    let dataset = task(&root, &test_sh, "FROM debian:12\n");
    let begun = Instant::now();
    let found = task_rules::check(&dataset, |_, _| true);
    let spent = begun.elapsed();
    assert!(
        found
            .iter()
            .any(|finding| finding.rule.name == "errexit-before-reward")
    );
    // Without optimisation and on a busy machine; optimised it is under a tenth of that.
    assert!(spent.as_millis() < 3000, "{spent:?}");
}

#[test]
fn scripts_of_very_many_commands_cost_their_length() {
    let lines = |count: usize| -> String {
        let line = |n: usize| {
            format!(
                "cat f{n}\ncat /tests/m{n}\n>/tests/n{n}\n. ~/.bashrc\napt-get install p{n} && nproc\necho 1 > /logs/verifier/reward.txt\n"
            )
        };
        (0..count).map(line).collect()
    };
    let spent = |count: usize| {
        let scratch = tempfile::tempdir().expect("a folder");
        let root = Utf8Path::from_path(scratch.path()).expect("UTF-8").join("task");
        let script = format!("#!/bin/bash\n{}", lines(count));
        let run = lines(count).trim_end().replace('\n', "; \\\n");
        let dataset = task(&root, &script, &format!("FROM ubuntu:24.04\nRUN {run}\n"));
        let begun = Instant::now();
        let found = task_rules::check(&dataset, |_, _| true);
        assert!(!found.is_empty());
        begun.elapsed()
    };
    let (short, long) = (spent(200), spent(3_000));
    // Fifteen times the length; what grows with its square costs two hundred times as much.
    assert!(long < short * 100, "{short:?}, {long:?}");
}

#[test]
fn a_long_chain_of_stages_costs_its_length() {
    let scratch = tempfile::tempdir().expect("a folder");
    let root = Utf8Path::from_path(scratch.path()).expect("UTF-8").join("task");
    let stages: String = (0..40_000)
        .map(|n| format!("FROM a{n} AS a{}\n", n + 1))
        .collect();
    let dockerfile = format!("FROM alpine:3 AS a0\n{stages}");
    let dataset = task(&root, "#!/bin/bash\ntrue\n", &dockerfile);
    let begun = Instant::now();
    let found = task_rules::check(&dataset, |_, _| true);
    let spent = begun.elapsed();
    // It is followed to its end.
    assert!(
        found
            .iter()
            .any(|finding| finding.rule.name == "image-without-bash")
    );
    // Looking each name up in all of the stages takes minutes.
    assert!(spent.as_millis() < 5000, "{spent:?}");
}
