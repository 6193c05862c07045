//! Help, version, completions.

use std::time::{Duration, Instant};

use crate::common::CliTest;

#[test]
fn the_version_is_printed_at_once() {
    let test = CliTest::new();
    let fastest = (0..5)
        .map(|_| {
            let begun = Instant::now();
            let ran = test.run(&["--version"]);
            assert_eq!(ran.stdout, format!("gym-dataset {}\n", env!("CARGO_PKG_VERSION")));
            begun.elapsed()
        })
        .min()
        .unwrap();
    // The promise is 10 ms for a release build on a quiet machine (`cargo xtask bench`); this one is neither.
    assert!(fastest < Duration::from_millis(100), "{fastest:?}");
}

#[test]
fn every_command_explains_itself() {
    let test = CliTest::new();
    let ran = test.run(&["--help"]);
    assert_eq!(ran.code, Some(0));
    for command in [
        "validate",
        "init",
        "render",
        "digest",
        "reward",
        "completions",
        "image",
        "clean",
    ] {
        assert!(ran.stdout.contains(command), "{command}");
        let own = test.run(&[command, "--help"]);
        assert_eq!(own.code, Some(0));
        assert!(own.stdout.contains("Usage: gym-dataset"), "{}", own.stdout);
    }
}

#[test]
fn no_arguments_are_wrong_usage_with_help() {
    let ran = CliTest::new().run(&[]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("Usage: gym-dataset"), "{}", ran.stderr);
}

#[test]
fn completions_name_the_commands() {
    for shell in ["bash", "zsh", "fish"] {
        let ran = CliTest::new().run(&["completions", shell]);
        assert_eq!(ran.code, Some(0));
        assert!(ran.stdout.contains("validate"));
    }
}
