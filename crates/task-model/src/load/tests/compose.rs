//! Compose files: unreadable ones, and what a separate verifier's may hold.

use findings::Level;

use super::support::{Disk, TOML, changed, codes, done, message, place, task};
use crate::Contract;

const SEPARATE: &str = "[environment]\ndocker_image = \"debian:12\"\n[verifier.environment]\n";

/// Codes and whether Gym and Harbor load a task whose separate verifier is built, with this Compose file.
fn built(compose: &str) -> (Vec<&'static str>, bool, bool) {
    changed(|d| {
        d.write("t/task.toml", SEPARATE);
        d.write("t/tests/Dockerfile", "FROM x\nCOPY . /tests\n");
        d.write("t/tests/docker-compose.yaml", compose);
    })
}

/// The same where the verifier's image is the task's own.
fn prebuilt(compose: &str) -> (Vec<&'static str>, bool, bool) {
    changed(|d| {
        d.write(
            "t/task.toml",
            format!("{TOML}[verifier]\nenvironment_mode = \"separate\"\n"),
        );
        d.write("t/tests/docker-compose.yaml", compose);
    })
}

#[test]
fn a_separate_verifiers_compose_file_may_name_and_build_main() {
    let all = "name: v\nversion: '3'\nx-a: 1\nservices:\n  main:\n    image: v\n    build: .\n    pull_policy: build\n";
    assert_eq!(built(all), (vec![], true, true));
    assert_eq!(built("services: {}\n"), (vec![], true, true));
    assert_eq!(built("services:\n"), (vec![], true, true));
    assert_eq!(
        prebuilt("services: {main: {pull_policy: missing}}\n"),
        (vec![], true, true)
    );
}

#[test]
fn what_is_more_keeps_gym_from_loading() {
    let refused = (vec!["GD505"], false, true);
    for compose in [
        "services: {main: {environment: [A=1]}}\n",
        "services: {main: {image: a}, db: {image: b}}\n",
        "services: {db: {image: b}}\n",
        "services: {}\nnetworks: {}\n",
        "include: [a.yaml]\n",
        "x-a: &a {command: x}\nservices: {main: {<<: *a}}\n",
    ] {
        assert_eq!(built(compose), refused, "{compose}");
        assert!(!prebuilt(compose).1, "{compose}");
    }
    for compose in [
        "services: {main: {image: a}}\n",
        "services: {main: {build: .}}\n",
        "services: {main: {pull_policy: build}}\n",
        "services: {main: {pull_policy: [build]}}\n",
    ] {
        assert_eq!(prebuilt(compose), refused, "{compose}");
    }
    let many = built("networks: {}\nservices: {main: {ports: []}, a: {}, b: {}}\n");
    assert_eq!(many.0, ["GD505"; 4]);
}

#[test]
fn the_place_and_the_word_are_told() {
    let disk = Disk::new();
    disk.task("t").write("t/task.toml", SEPARATE);
    disk.write("t/tests/Dockerfile", "FROM x\n");
    disk.write(
        "t/tests/docker-compose.yaml",
        "services:\n  main:\n    image: v\n    ports: [\"1:1\"]\n",
    );
    let dataset = disk.load_as("t", Contract::Gym);
    assert_eq!(
        place(&disk, &dataset, "GD505"),
        ("t/tests/docker-compose.yaml".into(), 4)
    );
    assert_eq!(
        message(&dataset, "GD505"),
        "Gym takes no `ports` of a separate verifier's service `main`"
    );
    // Harbor runs it: a note there.
    let dataset = disk.load_as("t", Contract::Harbor);
    assert_eq!(codes(&dataset), Vec::<&str>::new());
    let note = dataset.findings.iter().find(|f| f.rule.code == "GD505").unwrap();
    assert_eq!(note.level, Level::Note);
    assert!(task(&dataset, "t").loads.harbor);
}

#[test]
fn a_file_that_cannot_be_read_keeps_gym_from_loading() {
    assert_eq!(built("services: [\n"), (vec!["GD304"], false, true));
    assert_eq!(built(""), (vec!["GD304"], false, true));
    assert_eq!(built("a: \u{1}\n"), (vec!["GD304"], false, true));
    let folder = changed(|d| {
        d.write("t/task.toml", SEPARATE);
        done(
            d.write("t/tests/Dockerfile", "FROM x\n")
                .write("t/tests/docker-compose.yaml/x", ""),
        );
    });
    assert_eq!((&folder.0[..], folder.1), (&["GD001"][..], false));
}

#[test]
fn a_shared_verifiers_compose_file_is_anybodys() {
    let shared = changed(|d| done(d.write("t/tests/docker-compose.yaml", "include: [\n")));
    assert_eq!(shared, (vec![], true, true));
}

#[test]
fn a_step_may_verify_separately() {
    let with = |toml: &str, at: &str| {
        changed(|d| {
            d.write("t/task.toml", toml)
                .write("t/steps/one/instruction.md", "Do.\n")
                .write("t/steps/one/tests/test.sh", "")
                .write("t/steps/one/tests/Dockerfile", "FROM x\n")
                .write(at, "networks: {}\n");
        })
    };
    let separate = format!("{TOML}[[steps]]\nname = \"one\"\n[steps.verifier.environment]\ncpus = 1\n");
    let shared = format!("{TOML}[[steps]]\nname = \"one\"\n");
    for at in [
        "t/steps/one/tests/docker-compose.yaml",
        "t/tests/docker-compose.yaml",
    ] {
        assert_eq!(with(&separate, at).0, ["GD505"], "{at}");
        assert_eq!(with(&shared, at).0, Vec::<&str>::new(), "{at}");
    }
}

#[test]
fn an_environments_compose_file_must_be_yaml() {
    let with = |text: &str| {
        let text = text.to_owned();
        changed(move |d| done(d.write("t/environment/docker-compose.yaml", &text)))
    };
    assert_eq!(with("services: {main: {image: a}}\n"), (vec![], true, true));
    assert_eq!(with("services: {main: {image: a}\n"), (vec!["GD304"], true, true));
    assert_eq!(with("services: {main: a}\n"), (vec!["GD304"], true, true));
}
