//! How containers end, and what is left of them and of their clients: nothing.

use std::io::{BufRead as _, BufReader};
use std::process::{Command as Process, Stdio};
use std::time::{Duration, Instant};

use sandbox::{Ended, SandboxError, View};

use crate::endings::with_word;
use crate::engines::{client, for_each_container_engine};
use crate::support::{bash, ok};

/// The containers of this process and of those it started, by the label's process.
fn containers_of(engine: &str, pid: u32) -> Vec<String> {
    let label = "{{.Names}} {{.Label \"gym-dataset.owner\"}}";
    let format = if engine == "docker" {
        label
    } else {
        "{{.Names}} {{index .Labels \"gym-dataset.owner\"}}"
    };
    let all = client(
        engine,
        &[
            "ps",
            "--all",
            "--filter",
            "label=gym-dataset.owner",
            "--format",
            format,
        ],
    );
    let ours = format!("/{pid}/");
    all.lines()
        .filter_map(|line| line.split_once(' '))
        .filter(|(_, owner)| owner.contains(&ours))
        .map(|(name, _)| name.to_owned())
        .collect()
}

fn exists(engine: &str, container: &str) -> bool {
    client(engine, &["ps", "--all", "--format", "{{.Names}}"])
        .lines()
        .any(|name| name == container)
}

/// A sandbox's own name, for tests that go behind its back.
fn name_of(kept: &str) -> String {
    kept.split(' ')
        .find(|word| word.starts_with("gym-dataset-"))
        .unwrap()
        .to_owned()
}

#[test]
fn close_and_drop_leave_no_container_and_keep_does() {
    for_each_container_engine(|subject| {
        for close in [true, false] {
            let seconds = format!("60{}{}", 100 + u32::from(close), std::process::id());
            let word = format!("sleep\0{seconds}");
            let mut sandbox = subject.start();
            ok(&mut *sandbox, &format!("setsid sleep {seconds} & echo"));
            assert!(with_word(&word) > 0);
            if close {
                sandbox.close().unwrap();
            } else {
                drop(sandbox);
            }
            assert_eq!(with_word(&word), 0);
        }
        let mut sandbox = subject.start();
        ok(&mut *sandbox, "echo kept > /app/kept");
        let enter = sandbox.keep().unwrap().unwrap();
        let name = name_of(&enter);
        assert!(
            enter.starts_with(subject.name()) && exists(subject.name(), &name),
            "{enter}"
        );
        assert_eq!(
            client(subject.name(), &["exec", &name, "cat", "/app/kept"]),
            "kept\n"
        );
        // Its owner lives: it stays.
        let lines = subject.engine.clean().unwrap();
        assert!(
            !lines.iter().any(|line| line.contains(&name)) && exists(subject.name(), &name),
            "{lines:?}"
        );
        client(subject.name(), &["rm", "--force", &name]);
    });
}

#[test]
fn an_engine_can_be_stopped_from_another_thread() {
    for_each_container_engine(|subject| {
        let seconds = 62_000 + std::process::id() % 1000;
        let mut sandbox = subject.start();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let began = Instant::now();
                while with_word(&format!("sleep\0{seconds}\0")) == 0
                    && began.elapsed() < Duration::from_secs(20)
                {
                    std::thread::sleep(Duration::from_millis(20));
                }
                subject.engine.stop();
            });
            let began = Instant::now();
            let ended = sandbox.run(&bash(&format!("sleep {seconds}")));
            assert!(matches!(ended, Err(SandboxError::Lost(_))), "{ended:?}");
            assert!(began.elapsed() < Duration::from_secs(30));
        });
        assert!(matches!(sandbox.run(&bash("true")), Err(SandboxError::Lost(_))));
        drop(sandbox);
        assert!(matches!(
            subject.engine.start(&subject.spec()).err(),
            Some(SandboxError::Lost(_))
        ));
        assert_eq!(with_word(&format!("sleep\0{seconds}\0")), 0);
    });
}

#[test]
fn a_container_that_somebody_removes_is_lost() {
    for_each_container_engine(|subject| {
        let mut sandbox = subject.start();
        let mine = containers_of(subject.name(), std::process::id());
        let shown = ok(&mut *sandbox, "cat /proc/self/cgroup; hostname");
        assert!(shown.ends_with("sandbox\n"), "{shown}");
        let marker = format!("/app/marker{}", std::process::id());
        ok(&mut *sandbox, &format!("touch {marker}"));
        let name = mine
            .into_iter()
            .find(|name| client(subject.name(), &["exec", name, "ls", &marker]).contains("marker"))
            .unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(700));
                client(subject.name(), &["rm", "--force", &name]);
            });
            // The command may be seen to be killed a moment before the container is seen to be gone.
            let ended = sandbox.run(&bash("sleep 1000")).map(|exit| exit.ended);
            assert!(
                matches!(ended, Err(SandboxError::Lost(_)) | Ok(Ended::Signal(9))),
                "{}: {ended:?}",
                subject.name()
            );
        });
        assert!(matches!(sandbox.run(&bash("true")), Err(SandboxError::Lost(_))));
        assert!(matches!(
            sandbox.read(View::Work, "/app/x".into(), 1),
            Err(SandboxError::Lost(_))
        ));
        sandbox.close().unwrap();
    });
}

/// The tool of the next test: starts a container, runs a command in it, and waits to be killed.
#[test]
#[ignore = "started by `a_killed_tool_leaves_no_client_and_clean_finds_the_rest` as a process of its own"]
fn tool_that_is_killed() {
    let Some((_, engine)) = std::env::vars().find(|(name, _)| name == "KILLED_ENGINE") else {
        return;
    };
    for_each_container_engine(|subject| {
        if subject.name() != engine {
            return;
        }
        let mut sandbox = subject.start();
        println!("ready {}", std::process::id());
        drop(sandbox.run(&bash("sleep 64321")));
    });
}

#[test]
fn a_killed_tool_leaves_no_client_and_clean_finds_the_rest() {
    for_each_container_engine(|subject| {
        let engine = subject.name();
        let living = subject.start();
        let before = containers_of(engine, std::process::id()).len();
        let mut tool = Process::new(std::env::current_exe().unwrap())
            .args([
                "--ignored",
                "--exact",
                "--nocapture",
                "containers::endings::tool_that_is_killed",
            ])
            .env("KILLED_ENGINE", engine)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(tool.stdout.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap().contains("ready ")));
        let left = containers_of(engine, tool.id());
        assert_eq!(left.len(), 1);
        // Its client runs, or is about to.
        let exec = format!("exec\0--interactive\0--user\00\0{}", left[0]);
        let began = Instant::now();
        while with_word(&exec) == 0 {
            assert!(
                began.elapsed() < Duration::from_secs(20),
                "{} has no client",
                left[0]
            );
            std::thread::sleep(Duration::from_millis(5));
        }
        tool.kill().unwrap();
        tool.wait().unwrap();
        let began = Instant::now();
        while with_word(&exec) > 0 {
            assert!(began.elapsed() < Duration::from_secs(5), "a client is left");
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(exists(engine, &left[0]));
        let said = subject.engine.clean().unwrap();
        assert!(
            said.iter()
                .any(|line| line.starts_with(&format!("{engine}: removed container "))),
            "{said:?}"
        );
        assert!(!exists(engine, &left[0]));
        assert!(
            containers_of(engine, std::process::id()).len() >= before.min(1),
            "the living stay"
        );
        living.close().unwrap();
    });
}
