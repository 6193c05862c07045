//! What an agent's image gives away, and a verifier that lacks a program.

use oracle::TaskOutcome;
use sandbox::Ended;
use task_model::{Contract, Task};

use crate::fake::{Fake, exit};
use crate::grounds::{gym, image};
use crate::tasks::{found, options, run, task, tree};

const TEST_SH: &str = "python3 /tests/test_outputs.py && echo 1 > /logs/verifier/reward.txt\n";
const OUTPUTS: &str = "assert open('/app/out.txt').read() == 'forty-two'\n";

fn two_files() -> Task {
    let mut task = task(|_| ());
    task.tree = tree(&[
        ("instruction.md", "Do it.\n"),
        ("tests/test.sh", TEST_SH),
        ("tests/test_outputs.py", OUTPUTS),
        ("tests/__init__.py", ""),
        (
            "tests/data/expected.json",
            "{\"a field of an answer\": \"forty-two\"}\n",
        ),
        (
            "solution/solve.sh",
            "echo forty-two > /app/out.txt # the answer\n",
        ),
    ]);
    task
}

fn message(outcome: &TaskOutcome) -> Option<&str> {
    let found = outcome
        .findings
        .iter()
        .find(|f| f.rule.name == "tests-in-agent-image");
    found.map(|finding| finding.message.as_str())
}

fn looks(fake: &Fake) -> usize {
    fake.trace()
        .iter()
        .filter(|call| *call == "look for tests")
        .count()
}

#[test]
fn an_image_with_the_grader_or_the_solution_in_it_is_told_once() {
    for (path, bytes) in [
        ("/tests/test.sh", "anything"),
        ("/tests/__init__.py", ""),
        ("/solution/solve.sh", "anything"),
        ("/srv/app/test_outputs.py", OUTPUTS),
        ("/srv/app/tests/test_outputs.py", OUTPUTS),
    ] {
        let fake = image("debian:12").holds(path, bytes.as_bytes());
        let mut options = options(Contract::Gym);
        options.repeat = 2;
        options.nop = true;
        let outcome = run(&two_files(), &fake, &options);
        let wanted = format!("the agent's image holds `{path}` before the work begins");
        assert_eq!(message(&outcome), Some(wanted.as_str()));
        assert_eq!(looks(&fake), 1, "asked once a task");
    }
    let fake = image("debian:12")
        .holds("/solution/solve.sh", b"x")
        .holds("/tests/test.sh", b"x")
        .holds("/tests/test_outputs.py", b"x");
    assert_eq!(
        message(&gym(&two_files(), &fake)),
        Some(
            "the agent's image holds `/solution/solve.sh` and 2 more files of tests or solution before the work begins"
        )
    );
}

#[test]
fn files_that_only_share_a_name_with_the_grader_are_fine() {
    let fake = image("debian:12")
        .holds("/srv/app/test.sh", b"make check\n")
        .holds(
            "/srv/app/tests/test_outputs.py",
            b"def test_of_the_project(): pass\n",
        )
        .holds("/srv/app/tests/__init__.py", b"")
        .holds(
            "/tests/data/expected.json",
            b"{\"a field of an answer\": \"forty-two\"}\n",
        );
    assert_eq!(message(&gym(&two_files(), &fake)), None);
}

#[test]
fn the_hosts_root_is_not_looked_into() {
    let fake = Fake::new()
        .reward("reward.txt", b"1")
        .holds("/tests/test.sh", b"x");
    assert_eq!(message(&gym(&two_files(), &fake)), None);
    assert_eq!(looks(&fake), 0);
}

#[test]
fn a_solution_that_fails_where_the_verifier_lacks_a_program_is_told() {
    let without = |reward: &'static [u8], log: &'static str| {
        let fake = Fake::new().verify(move |world, command| {
            world.write(command.view, "/logs/verifier/reward.txt", reward);
            exit(Ended::Code(0), log)
        });
        gym(&two_files(), &fake)
    };
    let log = "/tests/test.sh: line 1: uvx: command not found\n";
    let outcome = without(b"0", log);
    assert_eq!(found(&outcome), ["missing-command-in-verifier"]);
    assert_eq!(
        outcome.findings[0].message,
        "the reference solution got 0 while test.sh did not find the command `uvx`"
    );
    assert!(found(&without(b"1", log)).is_empty());
    assert!(found(&without(b"0", "1 failed\n")).is_empty());
}
