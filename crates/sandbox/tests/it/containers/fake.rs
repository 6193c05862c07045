//! Failures that a real engine does not produce on demand, from a client that is a script.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command as Process, Stdio};
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use sandbox::{
    Container, DownloadBounds, Engine as _, ImageError, ImageRequest, Pull, RootFs, Sandbox, SandboxError,
    Spec, View,
};
use tempfile::TempDir;

use crate::support::{bash, file, root, spec};

const INFO: &str = r#"echo '{"Driver":"overlay2","ServerVersion":"28","OSType":"linux","PidsLimit":true}'"#;
const INSPECT: &str = r#"printf '[{"Id":"sha256:%064d","Config":{}}]' 7"#;
const ABSENT: &str = "echo 'Could not find the file' >&2; exit 1";

/// A client that answers as a healthy engine does, but for some commands: patterns of a shell's `case`, and what is run instead.
struct Fake {
    folder: TempDir,
    engine: Container,
}

impl Fake {
    fn new(cases: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let top = Utf8Path::from_path(folder.path()).unwrap();
        let mut script = format!("#!/bin/sh\necho \"$*\" >> {top}/log\ncase \"$*\" in\n");
        let healthy = [
            ("info*", INFO),
            ("image\\ inspect*", INSPECT),
            ("cp\\ -\\ *", "cat > /dev/null"),
            ("cp*", ABSENT),
            ("exec*", "cat > /dev/null"),
            ("container\\ inspect*", "echo true"),
            ("create*|start*|rm*|kill*", ":"),
        ];
        for (pattern, body) in cases.iter().chain(&healthy) {
            let _ = writeln!(script, "{pattern}) {body};;");
        }
        script.push_str("*) echo unknown >&2; exit 1;;\nesac\n");
        let program = top.join("client");
        // Written by another process: one that this test has open for writing could be busy through a fork of another's.
        let mut writer = Process::new("sh")
            .args(["-c", "cat > \"$0\" && chmod 755 \"$0\"", program.as_str()])
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        writer.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
        assert!(writer.wait().unwrap().success());
        let env = vec![("PATH".into(), "/usr/bin:/bin".into())];
        Self {
            engine: Container::docker(program, env),
            folder,
        }
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    fn start(&self) -> Result<Box<dyn Sandbox>, SandboxError> {
        self.engine.start(&image_spec())
    }
}

fn image_spec() -> Spec {
    Spec {
        root: RootFs::Image("some-image".into()),
        folders: Vec::new(),
        ..spec()
    }
}

/// What an exec's script is answered with: its word is the first in the lines it would print.
const WORD: &str = r#"word=$(sed -n 's/.*echo "\([0-9a-f]*-[0-9]*\) began.*/\1/p' | head -n 1)
  echo "$word began 1 (sh) R 0 1 1 0 -1 4 9 0 1 0 1 0 0 0 20 0 1 0 1703 23" >&2"#;

#[test]
fn an_engine_that_does_not_answer_is_unavailable_with_a_remedy() {
    let gone =
        "echo 'Cannot connect to the Docker daemon at unix:///x. Is the docker daemon running?' >&2; exit 1";
    for (body, expected) in [
        (gone, "start its engine or set DOCKER_HOST"),
        ("echo hello", "not what an engine says"),
        ("head -c 1000000 /dev/urandom", "not what an engine says"),
        ("kill -9 $$", "does not answer"),
        (
            r#"echo '{"ServerVersion":"28","OSType":"windows"}'"#,
            "no Linux containers",
        ),
    ] {
        let fake = Fake::new(&[("info*", body)]);
        let refused = fake.engine.probe().unwrap_err().to_string();
        assert!(refused.contains(expected), "{refused}");
        assert!(matches!(fake.start().err(), Some(SandboxError::Unavailable(_))));
        assert!(!fake.engine.applies().builds);
    }
    let none = Container::docker(Utf8PathBuf::from("/no/such/client"), Vec::new());
    assert_eq!(
        none.probe().unwrap_err().to_string(),
        "there is no `/no/such/client` here, install docker"
    );
}

#[test]
fn an_engine_that_hangs_is_given_up() {
    let fake = Fake::new(&[("info*", "sleep 1000 & wait")]);
    let began = Instant::now();
    let refused = fake.engine.probe().unwrap_err().to_string();
    assert!(refused.contains("did not end in time"), "{refused}");
    assert!(began.elapsed() < Duration::from_secs(40));
}

#[test]
fn a_refused_create_leaves_nothing_and_says_why() {
    let fake = Fake::new(&[(
        "create*",
        "echo 'docker: Error response from daemon: no room for it.' >&2; exit 125",
    )]);
    let refused = fake.start().err().unwrap();
    assert_eq!(refused.to_string(), "the engine's `create`: no room for it");
    // The engine may have made it all the same.
    assert!(
        fake.log().contains("rm --force --volumes gym-dataset-"),
        "{}",
        fake.log()
    );
}

#[test]
fn an_image_that_vanishes_before_the_create_is_said_to_be_gone() {
    let fake = Fake::new(&[(
        "create*",
        "echo 'Error response from daemon: No such image: x' >&2; exit 1",
    )]);
    let refused = fake.start().err().unwrap();
    assert!(
        matches!(&refused, SandboxError::Unavailable(reason) if reason.0.contains("is not there any more")),
        "{refused}"
    );
}

#[test]
fn a_full_disk_and_a_lost_engine_are_told_apart_while_files_are_put_in() {
    for (cause, lost) in [
        ("write /x: no space left on device", false),
        ("error during connect: EOF", true),
        ("Error response from daemon: No such container: x", true),
    ] {
        let body = format!("head -c 100 > /dev/null; echo '{cause}' >&2; exit 1");
        let answer = r#"word=$(sed -n 's/.*echo "\([0-9a-f]*-[0-9]*\) .k".*/\1/p' | head -n 1); echo "$word folder
$word absent" >&2"#;
        let fake = Fake::new(&[
            ("exec*", answer),
            (
                "cp\\ -\\ *:/",
                &format!("if [ -e \"$0.full\" ]; then {body}; fi; cat > /dev/null"),
            ),
        ]);
        let mut sandbox = fake.start().unwrap();
        std::fs::write(fake.folder.path().join("client.full"), "").unwrap();
        let large = "x".repeat(1 << 20);
        let refused = sandbox
            .upload(View::Work, "/app".into(), &root(), &[file("f", 0o644, &large)])
            .unwrap_err();
        if lost {
            assert!(matches!(refused, SandboxError::Lost(_)), "{refused:?}");
        } else {
            assert_eq!(
                refused.to_string(),
                "write `/app` in the sandbox: no space left in the sandbox"
            );
        }
    }
}

#[test]
fn an_engine_lost_while_a_command_runs_is_lost_and_no_verdict() {
    let dies = format!("{WORD}; sleep 0.2; echo 'error during connect: unexpected EOF' >&2; exit 1");
    let gone = "cat > /dev/null; echo 'Cannot connect to the Docker daemon at unix:///x' >&2; exit 1";
    for exec in [dies.as_str(), gone] {
        // After the first the engine is gone for good.
        let body = format!("if mkdir \"$0.once\" 2>/dev/null; then {exec}; else {gone}; fi");
        let fake = Fake::new(&[("exec*", &body), ("kill*", gone)]);
        let mut sandbox = fake.start().unwrap();
        let refused = sandbox.run(&bash("true")).unwrap_err();
        assert!(matches!(refused, SandboxError::Lost(_)), "{refused:?}");
    }
}

#[test]
fn a_command_that_is_told_nothing_is_lost() {
    let fake = Fake::new(&[("exec*", "cat > /dev/null")]);
    let mut sandbox = fake.start().unwrap();
    assert!(matches!(sandbox.run(&bash("true")), Err(SandboxError::Lost(_))));
    for garbage in [
        "echo no lines of ours >&2",
        "head -c 300000 /dev/urandom; head -c 300000 /dev/urandom >&2",
    ] {
        let fake = Fake::new(&[("exec*", garbage)]);
        let mut sandbox = fake.start().unwrap();
        assert!(sandbox.run(&bash("true")).is_err());
        assert!(sandbox.isolate(&["/tests".into()]).is_err());
        assert!(sandbox.read(View::Work, "/tests/x".into(), 10).is_err());
    }
}

#[test]
fn garbage_instead_of_a_stream_or_an_image_is_an_error() {
    for garbage in ["head -c 100000 /dev/urandom", "echo short", "printf '%01000d' 3"] {
        let looks = r#"word=$(sed -n 's/.*echo "\([0-9a-f]*-[0-9]*\) .k".*/\1/p' | head -n 1); echo "$word folder" >&2"#;
        let fake = Fake::new(&[("cp*", garbage), ("exec*", looks)]);
        let mut sandbox = fake.start().unwrap();
        assert!(sandbox.read(View::Work, "/app/x".into(), 10).is_err());
        assert!(sandbox.list(View::Work, "/app".into()).is_err());
        assert!(sandbox.user(None).is_err());
        let bounds = DownloadBounds {
            bytes: 1000,
            entries: 10,
        };
        let into = Utf8Path::from_path(fake.folder.path()).unwrap();
        assert!(sandbox.download(View::Work, "/app".into(), into, bounds).is_err());
        let fake = Fake::new(&[("image\\ inspect*", garbage)]);
        let asked = fake.engine.prepare(&ImageRequest::Named {
            name: "x".into(),
            pull: Pull::Never,
        });
        assert!(
            matches!(asked, Err(ImageError::Engine(SandboxError::Lost(_)))),
            "{asked:?}"
        );
    }
}

#[test]
fn a_pull_that_fails_is_asked_for_once_and_says_why() {
    let fake = Fake::new(&[
        ("image\\ inspect*", "echo 'Error: No such image: x' >&2; exit 1"),
        (
            "pull*",
            "echo 'Error response from daemon: Get \"https://r/v2/\": dial tcp: lookup r: no such host' >&2; exit 1",
        ),
    ]);
    let request = ImageRequest::Named {
        name: "r/x:1".into(),
        pull: Pull::Missing,
    };
    for _ in 0..2 {
        let refused = fake.engine.prepare(&request).unwrap_err();
        assert!(
            matches!(&refused, ImageError::Unavailable(reason) if reason.contains("cannot be pulled: Get \"https://r/v2/\": dial tcp")),
            "{refused:?}"
        );
    }
    assert_eq!(fake.log().matches("pull --quiet r/x:1").count(), 1);
}

#[test]
fn a_container_that_cannot_be_removed_is_said_to_be_left() {
    let fake = Fake::new(&[(
        "rm*",
        "echo 'Error response from daemon: device or resource busy' >&2; exit 1",
    )]);
    let refused = fake.start().unwrap().close().unwrap_err().to_string();
    assert!(
        refused.contains("may be left: device or resource busy"),
        "{refused}"
    );
}

#[test]
fn what_cannot_be_limited_is_not_asked_for() {
    let fake = Fake::new(&[(
        "info*",
        r#"echo '{"ServerVersion":"28","Driver":"vfs","SecurityOptions":["name=rootless"]}'"#,
    )]);
    let mut spec = image_spec();
    spec.limits.cpus = Some(1.5);
    drop(fake.engine.start(&spec).unwrap());
    let log = fake.log();
    for word in ["--cpus", "--memory", "--pids-limit", "--gpus"] {
        assert!(!log.contains(word), "{log}");
    }
    assert!(
        fake.engine
            .notes()
            .iter()
            .any(|note| note.contains("each start can take a minute"))
    );
    let applies = fake.engine.applies();
    assert!(!applies.cpus && !applies.memory && applies.builds);
    let fake = Fake::new(&[(
        "info*",
        r#"echo '{"ServerVersion":"28","MemoryLimit":true,"CpuCfsQuota":true,"CpuCfsPeriod":true,"PidsLimit":true,"Runtimes":{"nvidia":{}}}'"#,
    )]);
    spec.limits.gpus = 2;
    drop(fake.engine.start(&spec).unwrap());
    let log = fake.log();
    for words in [
        "--cpus 1.500",
        "--memory 4294967296b --memory-swap 4294967296b",
        "--pids-limit 2048",
        "--gpus 2",
        "--network none",
    ] {
        assert!(log.contains(words), "{words}: {log}");
    }
}
