//! Images of the store, made here of this machine's own programs: no engine is needed to make them.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use testdata::Need;

use crate::support::{Tool, has, task, temp_dir, write};

/// What the scripts of these tests use.
const PROGRAMS: [&str; 8] = ["bash", "sh", "cat", "chmod", "cp", "mkdir", "mktemp", "rm"];

/// A store and a folder for tasks.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn path(&self) -> &Utf8Path {
        Utf8Path::from_path(self.folder.path()).expect("UTF-8")
    }

    fn store(&self) -> Utf8PathBuf {
        self.path().join("store")
    }

    /// Adds an image of bash, a few programs and `files`.
    fn image(&self, name: &str, files: &[(&str, &str)]) {
        let image = self.path().join("image");
        for (path, text) in files {
            write(&image.join("root").join(path), text);
        }
        std::fs::create_dir_all(image.join("root")).expect("a folder");
        let layer = image.join("layer.tar");
        let mut tar = Command::new("tar");
        tar.args(["-chf", layer.as_str(), "--transform", "s,^/,,", "-P"])
            .args(system_files())
            .args(["-C", image.join("root").as_str(), "."]);
        assert!(tar.status().expect("tar").success());
        let sum = Sha256::digest(std::fs::read(&layer).expect("a layer"));
        let hex: String = sum.iter().map(|byte| format!("{byte:02x}")).collect();
        let architecture = match std::env::consts::ARCH {
            "x86_64" => "amd64",
            "aarch64" => "arm64",
            other => other,
        };
        let config = json!({
            "os": "linux", "architecture": architecture, "config": {"WorkingDir": "/app"},
            "rootfs": {"type": "layers", "diff_ids": [format!("sha256:{hex}")]},
        });
        let manifest = json!([{"Config": "config.json", "RepoTags": [name], "Layers": ["layer.tar"]}]);
        write(&image.join("config.json"), config.to_string());
        write(&image.join("manifest.json"), manifest.to_string());
        let store = self.store();
        let added = Tool::new(["image", "add", image.as_str(), "--image-store", store.as_str()]).run();
        assert_eq!(added.code, Some(0), "{}", added.stderr);
        std::fs::remove_dir_all(&image).expect("removed");
    }

    /// Writes a task that passes in this image.
    fn task(&self, id: &str, image: &str) {
        let at = |path: &str| self.path().join("tasks").join(id).join(path);
        write(
            &at("task.toml"),
            format!("[environment]\ndocker_image = \"{image}\"\n"),
        );
        write(&at("instruction.md"), "Do it.\n");
        write(&at("solution/solve.sh"), "#!/bin/bash\necho done > /app/done\n");
        write(
            &at("tests/test.sh"),
            "#!/bin/bash\n[ -s /app/done ] && echo 1 > /logs/verifier/reward.txt\n",
        );
        for script in ["solution/solve.sh", "tests/test.sh"] {
            let executable = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(at(script), executable).expect("executable");
        }
    }

    fn validate(&self, more: &[&str]) -> Tool {
        let (tasks, store) = (self.path().join("tasks"), self.store());
        let first = ["validate", tasks.as_str(), "--image-store", store.as_str()];
        Tool::new([&first, more].concat())
    }
}

/// The programs with the libraries that they need, as absolute paths.
fn system_files() -> Vec<String> {
    let mut files: Vec<String> = PROGRAMS.iter().map(|name| format!("/bin/{name}")).collect();
    let ldd = Command::new("ldd").args(&files).output().expect("ldd");
    let text = String::from_utf8_lossy(&ldd.stdout).into_owned();
    let library = |line: &str| {
        Some(
            line.split_whitespace()
                .find(|word| word.starts_with("/lib"))?
                .to_owned(),
        )
    };
    files.extend(text.lines().filter_map(library));
    files.sort();
    files.dedup();
    files
}

fn place(test: &str) -> Option<Place> {
    has(test, &[Need::Embedded]).then(|| Place { folder: temp_dir() })
}

fn named<'a>(report: &'a Value, rule: &str) -> Vec<&'a Value> {
    let findings = report["findings"].as_array().expect("findings");
    findings
        .iter()
        .filter(|finding| finding["name"] == rule)
        .collect()
}

#[test]
fn tests_in_the_agents_image_are_a_warning_and_the_task_passes() {
    let Some(place) = place("tests in the agent's image") else {
        return;
    };
    place.image("test/clean:1", &[]);
    place.image("test/leaks:1", &[("tests/test.sh", "exit 0\n")]);
    place.task("clean", "test/clean:1");
    place.task("leaks", "test/leaks:1");
    let report = place
        .validate(&["--sandbox", "embedded", "--format", "json"])
        .run()
        .report();
    for id in ["clean", "leaks"] {
        let task = task(&report, id);
        assert_eq!(
            (&task["status"], &task["root"]),
            (&json!("passed"), &json!("image")),
            "{task:#}"
        );
    }
    let found = named(&report, "tests-in-agent-image");
    assert_eq!(found.len(), 1, "{report:#}");
    assert_eq!(
        (&found[0]["task"], &found[0]["level"]),
        (&json!("leaks"), &json!("warning"))
    );
    let message = "the agent's image holds `/tests/test.sh` before the work begins";
    assert_eq!(found[0]["message"], message);
}

#[test]
fn auto_says_once_what_it_takes_when_docker_does_not_answer() {
    let Some(place) = place("auto without an engine") else {
        return;
    };
    place.image("test/clean:1", &[]);
    place.task("clean", "test/clean:1");
    let docker = place.path().join("bin/docker");
    write(
        &docker,
        "#!/bin/sh\necho 'Cannot connect to the Docker daemon at tcp://127.0.0.1:1. Is the docker daemon running?' >&2\nexit 1\n",
    );
    std::fs::set_permissions(&docker, std::fs::Permissions::from_mode(0o755)).expect("executable");
    let bin = place.path().join("bin");
    let output = place
        .validate(&["--format", "json"])
        .env("PATH", bin.as_str())
        .env("DOCKER_HOST", "tcp://127.0.0.1:1")
        .run();
    let report = output.report();
    assert_eq!(task(&report, "clean")["status"], "passed", "{report:#}");
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(report["engine"], json!({"name": "embedded", "version": version}));
    let lines: Vec<&str> = output
        .stderr
        .lines()
        .filter(|line| line.contains("auto"))
        .collect();
    assert_eq!(lines.len(), 1, "{}", output.stderr);
    for part in [
        "docker does not answer",
        "set DOCKER_HOST",
        "`--sandbox auto` takes the embedded engine, on images of the store",
    ] {
        assert!(lines[0].contains(part), "{}", lines[0]);
    }
}

#[test]
fn a_store_that_lacks_the_image_is_said_when_the_hosts_root_stands_in() {
    let Some(place) = place("a store without the image") else {
        return;
    };
    place.task("absent", "test/absent:1");
    let arguments = ["--sandbox", "embedded", "--pull", "never", "--format", "json"];
    let report = place.validate(&arguments).run().report();
    assert_eq!(task(&report, "absent")["root"], "host", "{report:#}");
    let found = named(&report, "host-root-for-image");
    assert_eq!(found.len(), 1, "{report:#}");
    assert_eq!(
        found[0]["message"],
        "one task ran on this machine's system folders, not on the image: `test/absent:1` could not be had"
    );
    // Without a word about images, the host's root is what was asked for.
    let tasks = place.path().join("tasks");
    let plain = Tool::new([
        "validate",
        tasks.as_str(),
        "--sandbox",
        "embedded",
        "--format",
        "json",
    ]);
    assert!(named(&plain.run().report(), "host-root-for-image").is_empty());
}
