//! How commands and sandboxes end, and what is left of them: nothing.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command as Process, Stdio};
use std::time::{Duration, Instant};

use sandbox::{Command, Embedded, Ended, Engine as _, SandboxError, View};

use crate::support::{Caller, apart, bash, bytes, done, engine, for_each_caller, ok, read, start, text};

fn limited(script: &str, millis: u64) -> Command {
    Command {
        time_limit: Some(Duration::from_millis(millis)),
        ..bash(script)
    }
}

/// Processes of this machine whose command line holds the word.
pub(crate) fn with_word(word: &str) -> usize {
    let holds = |pid: &fs::DirEntry| {
        fs::read(pid.path().join("cmdline"))
            .is_ok_and(|line| line.windows(word.len()).any(|part| part == word.as_bytes()))
    };
    fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter(|pid| holds(pid))
        .count()
}

fn gone(word: &str) {
    let began = Instant::now();
    while with_word(word) > 0 {
        assert!(
            began.elapsed() < Duration::from_secs(10),
            "{} processes with {word}",
            with_word(word)
        );
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A word for command lines that no other test uses.
fn word(test: &str) -> String {
    format!("{test}{}", std::process::id())
}

#[test]
fn codes_and_signals_are_told() {
    for_each_caller(|_, engine| {
        let mut sandbox = start(engine);
        assert_eq!(sandbox.run(&bash("exit 3")).unwrap().ended, Ended::Code(3));
        assert_eq!(
            sandbox.run(&bash("kill -TERM $$")).unwrap().ended,
            Ended::Signal(15)
        );
        let exit = sandbox.run(&bash("echo out; sleep 0.2; echo err >&2")).unwrap();
        assert_eq!((exit.ended, text(&exit).as_str()), (Ended::Code(0), "out\nerr\n"));
        assert!((0.2..5.0).contains(&exit.seconds), "{exit:?}");
    });
}

#[test]
fn what_cannot_be_started_is_a_fault_that_names_it() {
    for_each_caller(|_, engine| {
        let mut sandbox = start(engine);
        let mut refused = |argv: &[&str], cwd: &str| {
            let argv = argv.iter().map(|word| (*word).to_owned()).collect();
            sandbox
                .run(&Command {
                    argv,
                    cwd: cwd.into(),
                    ..bash("")
                })
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            refused(&["no-such-program"], "/app"),
            "`no-such-program` is not in the sandbox"
        );
        assert_eq!(refused(&["/no/such"], "/app"), "`/no/such` is not in the sandbox");
        assert!(refused(&["true"], "/no/folder").starts_with("enter `/no/folder` in the sandbox: "));
        assert!(refused(&["/etc/passwd"], "/app").starts_with("execute `/etc/passwd` in the sandbox: "));
        assert!(refused(&["tr\0ue"], "/app").contains("NUL"));
        assert_eq!(ok(&mut *sandbox, "echo fine"), "fine\n");
    });
}

#[test]
fn a_time_limit_kills_everything_the_command_started_and_nothing_else() {
    for_each_caller(|_, engine| {
        let mut sandbox = start(engine);
        ok(&mut *sandbox, "sleep 1001 & echo $! > /app/server");
        let began = Instant::now();
        let script = "trap '' TERM; setsid sleep 1002 & (setsid setsid bash -c 'ulimit -q 5; sleep 1003' &) ; (sleep 1004 &); echo 1 > /logs/verifier/reward.txt; echo said; sleep 1005";
        let exit = sandbox.run(&limited(script, 500)).unwrap();
        assert_eq!((exit.ended, text(&exit).as_str()), (Ended::TimedOut, "said\n"));
        assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
        let shown = ok(
            &mut *sandbox,
            "for p in /proc/[0-9]*; do tr '\\0' ' ' < $p/cmdline; echo; done | grep '^sleep'; kill -0 $(cat /app/server) && echo lives",
        );
        assert_eq!(shown, "sleep 1001 \nlives\n");
        assert_eq!(
            read(&mut *sandbox, View::Work, "/logs/verifier/reward.txt"),
            bytes("1\n")
        );
    });
}

#[test]
fn a_verifier_at_its_time_limit_leaves_its_reward_and_no_process() {
    for_each_caller(|_, engine| {
        let mut sandbox = start(engine);
        ok(&mut *sandbox, "sleep 1001 &");
        sandbox.isolate(&["/logs/verifier".into()]).unwrap();
        let script = "setsid sleep 1002 & echo 0.5 > /logs/verifier/reward.txt; (while :; do (setsid sleep 1003 &); sleep 0.001; done)";
        let command = Command {
            view: View::Apart,
            ..limited(script, 300)
        };
        assert_eq!(sandbox.run(&command).unwrap().ended, Ended::TimedOut);
        assert_eq!(
            read(&mut *sandbox, View::Apart, "/logs/verifier/reward.txt"),
            bytes("0.5\n")
        );
        assert_eq!(
            done(
                &mut *sandbox,
                &apart("for p in /proc/[0-9]*; do tr '\\0' ' ' < $p/cmdline; echo; done | grep '^sleep'")
            ),
            "sleep 1001 \n"
        );
    });
}

#[test]
fn a_background_child_that_holds_the_output_does_not_hold_the_command() {
    for_each_caller(|_, engine| {
        let mut sandbox = start(engine);
        let began = Instant::now();
        let exit = sandbox
            .run(&bash("(while :; do echo noise; done) & sleep 0.1; echo done"))
            .unwrap();
        assert_eq!(exit.ended, Ended::Code(0));
        assert!(began.elapsed() < Duration::from_secs(5));
        assert_eq!(ok(&mut *sandbox, "echo next"), "next\n");
        sandbox.close().unwrap();
    });
}

#[test]
fn close_and_drop_leave_no_process_and_no_cgroup() {
    for_each_caller(|caller, engine| {
        let word = word(&format!("closing{caller:?}"));
        for close in [true, false] {
            let mut sandbox = start(engine);
            ok(
                &mut *sandbox,
                &format!("setsid bash -c 'sleep 1000; : {word}' & echo"),
            );
            // In the middle of an exec a process shows no command line.
            let began = Instant::now();
            while with_word(&word) == 0 {
                assert!(began.elapsed() < Duration::from_secs(10));
            }
            if close {
                sandbox.close().unwrap();
            } else {
                drop(sandbox);
            }
            assert_eq!(with_word(&word), 0);
        }
    });
}

#[test]
fn an_engine_can_be_stopped_from_another_thread() {
    for_each_caller(|_, engine| {
        let mut sandbox = start(engine);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(200));
                engine.stop();
            });
            let began = Instant::now();
            let ended = sandbox.run(&bash("sleep 1000"));
            assert!(matches!(ended, Err(SandboxError::Lost(_))), "{ended:?}");
            assert!(began.elapsed() < Duration::from_secs(5));
        });
        drop(sandbox);
        assert!(matches!(
            engine.start(&crate::support::spec()).err(),
            Some(SandboxError::Lost(_))
        ));
    });
}

/// The tool of the next test: starts a sandbox with a background process, says so, and waits to be killed.
#[test]
#[ignore = "started by `a_killed_tool_leaves_no_process_and_no_cgroup` as a process of its own"]
fn tool_that_is_killed() {
    let (caller, word) = (
        std::env::args().any(|word| word == "--exact"),
        std::env::vars().find(|(name, _)| name == "KILLED_WORD"),
    );
    let Some((_, word)) = word else { return };
    assert!(caller);
    let caller = if word.contains("Root") {
        Caller::Root
    } else {
        Caller::Plain
    };
    let engine = engine(caller).unwrap();
    let mut sandbox = start(&engine);
    let command = bash(&format!(
        "setsid bash -c 'sleep 1000; : {word}' & echo ready > /app/x; sleep 1000; : {word}"
    ));
    std::thread::spawn({
        move || {
            while with_word(&format!("sleep 1000; : {word}")) < 2 {
                std::thread::sleep(Duration::from_millis(10));
            }
            println!("ready");
        }
    });
    drop(sandbox.run(&command));
}

#[test]
fn a_killed_tool_leaves_no_process_and_no_cgroup() {
    for_each_caller(|caller, engine| {
        let word = word(&format!("killing{caller:?}"));
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(&folder, PermissionsExt::from_mode(0o755)).unwrap();
        let mut tool = Process::new(std::env::current_exe().unwrap())
            .args([
                "--ignored",
                "--exact",
                "--nocapture",
                "endings::tool_that_is_killed",
            ])
            .env("KILLED_WORD", &word)
            .env("TMPDIR", folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(tool.stdout.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap().contains("ready")));
        tool.kill().unwrap();
        tool.wait().unwrap();
        gone(&word);
        // A helper that another test kills leaves its own to the next sandbox.
        gone_cgroups(|| start(engine).close().unwrap());
    });
}

/// No cgroup of a sandbox whose outer process has ended.
fn gone_cgroups(meanwhile: impl Fn()) {
    let began = Instant::now();
    loop {
        let left: Vec<String> = ["", "memory", "pids", "cpu"]
            .into_iter()
            .filter_map(|folder| fs::read_dir(format!("/sys/fs/cgroup/{folder}")).ok())
            .flat_map(|entries| {
                entries
                    .flatten()
                    .map(|entry| entry.file_name().to_string_lossy().into_owned())
            })
            .filter(|name| {
                name.strip_prefix("gym-dataset-sandbox-")
                    .and_then(|rest| rest.split('-').next())
                    .is_some_and(|pid| fs::metadata(format!("/proc/{pid}")).is_err())
            })
            .collect();
        if left.is_empty() {
            return;
        }
        assert!(began.elapsed() < Duration::from_secs(10), "{left:?}");
        meanwhile();
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_killed_helper_takes_the_sandbox_with_it() {
    for_each_caller(|caller, engine| {
        let word = word(&format!("orphan{caller:?}"));
        let mut spec = crate::support::spec();
        spec.folders.push((format!("/{word}").into(), 0o755));
        let mut sandbox = engine.start(&spec).unwrap();
        let inner = crate::support::inner_process(&word);
        let stat = fs::read_to_string(format!("/proc/{inner}/stat")).unwrap();
        let outer: i32 = stat
            .rsplit_once(") ")
            .unwrap()
            .1
            .split(' ')
            .nth(1)
            .unwrap()
            .parse()
            .unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(300));
                let outer = rustix::process::Pid::from_raw(outer).unwrap();
                rustix::process::kill_process(outer, rustix::process::Signal::KILL).unwrap();
            });
            let ended = sandbox.run(&bash(&format!("setsid sleep 1000 & sleep 1000; : {word}")));
            assert!(matches!(ended, Err(SandboxError::Lost(_))), "{ended:?}");
        });
        gone(&word);
        assert!(sandbox.close().is_err());
        // The next sandboxes remove the cgroups that the killed helper could not.
        gone_cgroups(|| start(engine).close().unwrap());
    });
}

#[test]
fn the_engine_says_what_it_keeps_apart() {
    for_each_caller(|caller, engine| {
        engine.probe().unwrap();
        let words = engine.isolation();
        assert!(words.contains(&"seccomp".to_owned()) && words.contains(&"user-namespace".to_owned()));
        assert_eq!(words.contains(&"shifted-ids".to_owned()), caller == Caller::Root);
        assert_eq!(engine.name(), "embedded");
    });
}

#[test]
fn a_helper_that_is_no_helper_is_a_fault_and_not_a_hang() {
    for helper in [
        vec!["/bin/true".into()],
        vec!["/no/such/program".into()],
        Vec::new(),
    ] {
        let engine = Embedded::new(helper);
        assert!(engine.probe().is_err());
    }
}
