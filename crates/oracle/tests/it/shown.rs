//! What is shown and kept of a trial: warnings, hints, redaction, logs.

use camino::Utf8PathBuf;
use oracle::Status;
use sandbox::Ended;
use task_model::Contract;
use task_model::config::McpServer;

use crate::ending::{by_work, plain, scored};
use crate::fake::{Fake, exit};
use crate::tasks::{env, found, options, run, spanned, task, tree};

const GYM: Contract = Contract::Gym;

#[test]
fn warnings_name_what_would_surprise() {
    let both = Fake::new().verify(|world, command| {
        world.write(command.view, "/logs/verifier/reward.txt", b"0");
        world.write(command.view, "/logs/verifier/reward.json", br#"{"reward": 1}"#);
        exit(Ended::Code(0), "")
    });
    let outcome = run(&plain(), &both, &options(GYM));
    assert_eq!(outcome.status, Status::Passed);
    assert_eq!(found(&outcome), ["shadowed-reward"]);
    for bytes in [&b"10"[..], b"-1"] {
        let outcome = scored(GYM, "reward.txt", bytes);
        assert_eq!(found(&outcome), ["reward-range"], "{bytes:?}");
    }
}

#[test]
fn hints_point_at_the_missing_network_and_the_missing_program() {
    let fake = |log: &'static str| {
        Fake::new().verify(move |world, command| {
            world.write(command.view, "/logs/verifier/reward.txt", b"0");
            exit(Ended::Code(0), log)
        })
    };
    let outcome = run(
        &plain(),
        &fake("curl: (6) Could not resolve host: x\n"),
        &options(GYM),
    );
    assert!(outcome.reason.unwrap().contains("--network host"));
    let outcome = run(
        &plain(),
        &fake("/tests/test.sh: line 1: pytest: command not found\n"),
        &options(GYM),
    );
    assert!(outcome.reason.unwrap().contains("`pytest`"));
}

#[test]
fn a_granted_value_appears_nowhere() {
    let folder = tempfile::tempdir().unwrap();
    let results = Utf8PathBuf::from_path_buf(folder.path().join("results/set")).unwrap();
    let task = task(|toml| toml.verifier.env = env(&[("K", "${KEY}")]));
    let mut options = options(GYM);
    options
        .grants
        .variables
        .insert("KEY".to_owned(), "s3cret-value".to_owned());
    options.results = Some(results.clone());
    let fake = Fake::new().verify(|world, command| {
        world.write(
            command.view,
            "/logs/verifier/reward.json",
            br#"{"s3cret-value": 0, "b": 0}"#,
        );
        exit(Ended::Code(0), "the key is s3cret-value\n")
    });
    let outcome = run(&task, &fake, &options);
    assert!(!format!("{outcome:?}").contains("s3cret-value"), "{outcome:#?}");
    let mut files = 0;
    for name in ["test-stdout.txt", "reward.json", "trajectory.json", "solve.txt"] {
        let text = std::fs::read_to_string(results.join("t/oracle-1").join(name)).unwrap();
        assert!(!text.contains("s3cret"), "{name}: {text}");
        files += 1;
    }
    assert_eq!(files, 4);
}

#[test]
fn logs_are_kept_per_attempt_and_a_link_in_the_way_is_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let root = Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap();
    let mut options = options(GYM);
    options.nop = true;
    options.results = Some(oracle::prepare_results(&root.join("results"), "set").unwrap());
    let mut task = plain();
    task.id = "größe $x\ny".to_owned();
    let outcome = run(&task, &by_work(b"1", Some(b"0")), &options);
    let logs: Vec<_> = outcome.attempts.iter().map(|a| a.logs.clone().unwrap()).collect();
    assert_eq!(logs[0], root.join("results/set/größe $x%0Ay/oracle-1"));
    assert_eq!(std::fs::read(logs[0].join("reward.txt")).unwrap(), b"1");
    assert_eq!(std::fs::read(logs[1].join("reward.txt")).unwrap(), b"0");
    assert!(!logs[1].join("solve.txt").exists());

    std::fs::remove_dir_all(root.join("results/set/größe $x%0Ay")).unwrap();
    std::os::unix::fs::symlink("/tmp", root.join("results/set/größe $x%0Ay")).unwrap();
    let outcome = run(&task, &by_work(b"1", Some(b"0")), &options);
    assert_eq!(outcome.status, Status::Passed);
    assert_eq!(found(&outcome), ["logs-not-written"]);
    assert!(outcome.attempts.iter().all(|a| a.logs.is_none()));
}

#[test]
fn a_tree_of_odd_names_is_uploaded_as_it_is() {
    let mut task = plain();
    task.tree = tree(&[
        ("tests/test.sh", ""),
        ("tests/a b/ü $x\n.txt", "odd"),
        ("solution/solve.sh", ""),
    ]);
    let fake = Fake::new().verify(|world, command| {
        assert_eq!(
            world.text(command.view, "/tests/a b/ü $x\n.txt").as_deref(),
            Some("odd")
        );
        world.write(command.view, "/logs/verifier/reward.txt", b"1");
        exit(Ended::Code(0), "")
    });
    assert_eq!(run(&task, &fake, &options(GYM)).status, Status::Passed);
}

#[test]
fn what_only_an_agent_uses_is_told_once() {
    let mut task = task(|toml| {
        toml.environment.skills_dir = Some(spanned("/skills".to_owned()));
        toml.environment.mcp_servers = ["files", "web"]
            .map(|name| McpServer {
                name: spanned(name.to_owned()),
            })
            .to_vec();
    });
    task.tree = tree(&[
        ("instruction.md", "<!-- CANARY 1 -->\nDo it.\n"),
        ("tests/test.sh", ""),
        ("solution/solve.sh", ""),
    ]);
    let mut nop = options(Contract::Gym);
    nop.nop = true;
    let outcome = run(&task, &by_work(b"1", Some(b"0")), &nop);
    assert_eq!(found(&outcome), ["not-exercised"]);
    assert_eq!(outcome.findings[0].level, findings::Level::Note);
    assert_eq!(
        outcome.findings[0].message,
        "not exercised by the oracle: skills_dir `/skills`, mcp_servers `files` and `web`, canary lines, which no agent sees"
    );
    assert_eq!(outcome.status, Status::Passed);
}
