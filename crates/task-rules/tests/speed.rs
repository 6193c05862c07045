//! What a large file costs.

use std::time::Instant;

use camino::Utf8Path;
use task_model::{LoadOptions, load};

#[test]
fn a_script_of_one_long_line_costs_little() {
    let scratch = tempfile::tempdir().expect("a folder");
    let root = Utf8Path::from_path(scratch.path()).expect("UTF-8").join("task");
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
    put("environment/Dockerfile", "FROM debian:12\n");
    put("solution/solve.sh", "#!/bin/bash\ntrue\n");
    let data = "QUJD".repeat(600_000);
    put(
        "tests/test.sh",
        &format!(
            "#!/bin/bash\nset -e\necho '{data}' | base64 -d | tar xz -C /tests\npytest /tests\necho 1 > /logs/verifier/reward.txt\n"
        ),
    );
    let dataset = load(&root, &LoadOptions::default()).expect("it loads");
    let begun = Instant::now();
    let found = task_rules::check(&dataset);
    let spent = begun.elapsed();
    assert!(
        found
            .iter()
            .any(|finding| finding.rule.name == "errexit-before-reward")
    );
    // Without optimisation and on a busy machine; optimised it is under a tenth of that.
    assert!(spent.as_millis() < 3000, "{spent:?}");
}
