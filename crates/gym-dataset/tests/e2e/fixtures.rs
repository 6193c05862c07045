//! The fixtures and the sample dataset on Docker.

use crate::engines::{PASSED, docker, validate, variable};
use crate::support::{Tool, task};

/// Status and failure kind.
type Ends = (&'static str, Option<&'static str>);

/// Fixtures that end otherwise on a container engine than on the host's root, and how; `None` when that depends on what
/// the engine can fetch, or on who wins a race that a shared container cannot end.
const OTHERWISE: [(&str, Option<Ends>); 8] = [
    // The image's working directory is root's.
    ("agent-nobody", Some(("failed", None))),
    ("compose", None),
    ("image-required-add", Some(PASSED)),
    ("image-required-copy", Some(PASSED)),
    ("image-required-run", Some(PASSED)),
    ("planted-reward", None),
    // An image may be written to.
    ("secluded", Some(("failed", None))),
    ("separate-builds", Some(PASSED)),
];

/// The fixtures' images are the engine's image with Python under their names.
fn name_images() -> Option<()> {
    let host = variable("GYM_DATASET_TEST_DOCKER")?;
    for name in ["debian:12", "python:3.12-slim"] {
        let tagged = std::process::Command::new("docker")
            .args(["tag", "gym-dataset-test/python:1", name])
            .env("DOCKER_HOST", &host)
            .status()
            .expect("docker runs");
        assert!(tagged.success(), "{name}");
    }
    Some(())
}

#[test]
fn fixtures_and_the_sample_dataset_end_on_docker_as_they_should() {
    if name_images().is_none() {
        return;
    }
    let tasks = testdata::root().join("tasks");
    let gym = |folder: &str| validate(folder, "docker");
    let Some(tool) = docker(gym(testdata::quickstart().as_str())) else {
        return;
    };
    let output = tool.run();
    assert_eq!(output.code, Some(0), "{:#}", output.report());
    let mut wrong = Vec::new();
    for chunk in plain_cases().chunks(16) {
        let mut arguments: Vec<&str> = vec![
            "validate",
            tasks.as_str(),
            "--sandbox",
            "docker",
            "--pull",
            "never",
        ];
        arguments.extend(["--contract", "gym", "--format", "json"]);
        for case in chunk {
            arguments.extend(["--task", case.task]);
        }
        let report = docker(Tool::new(arguments)).expect("as above").run().report();
        for case in chunk {
            let expected = match OTHERWISE.iter().find(|(id, _)| *id == case.task) {
                Some((_, None)) => continue,
                Some((_, Some(ending))) => *ending,
                None => (case.status.as_str(), case.kind),
            };
            let task = task(&report, case.task);
            let got = (
                task["status"].as_str().unwrap_or_default(),
                task["failure_kind"].as_str(),
            );
            if got != expected {
                wrong.push(format!(
                    "{}: {got:?}, not {expected:?}: {}",
                    case.task, task["reason"]
                ));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

/// Cases of the gym contract without further options.
fn plain_cases() -> Vec<testdata::Case> {
    let plain = testdata::cases().iter().copied();
    plain
        .filter(|case| case.contract == "gym" && case.flags.is_empty())
        .collect()
}
