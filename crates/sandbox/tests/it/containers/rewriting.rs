//! Processes of the work that write into the folders that are emptied for the verifier.

use std::time::Duration;

use sandbox::{FileRead, View};

use crate::engines::for_each_container_engine;
use crate::support::{ok, read};

/// Starts `loop` in the background and waits until it runs.
fn start_loop(line: &str) -> String {
    format!(
        "setsid sh -c 'touch /tmp/begun; while :; do {line}; done' > /dev/null 2>&1 < /dev/null &\n\
         while [ ! -e /tmp/begun ]; do sleep 0.02; done"
    )
}

#[test]
fn a_process_that_keeps_the_verifiers_folder_full_is_ended_and_the_folder_is_empty() {
    for_each_container_engine(|subject| {
        let mut sandbox = subject.start();
        let full =
            "mkdir -p /logs/verifier /tests; echo 1 > /logs/verifier/reward.txt; echo 1 > /tests/test.sh";
        ok(&mut *sandbox, &start_loop(full));
        sandbox
            .isolate(&["/tests".into(), "/logs/verifier".into()])
            .unwrap();
        std::thread::sleep(Duration::from_millis(200));
        for path in ["/logs/verifier/reward.txt", "/tests/test.sh"] {
            assert_eq!(read(&mut *sandbox, View::Apart, path), FileRead::Absent, "{path}");
        }
        assert_eq!(ok(&mut *sandbox, "echo it still runs"), "it still runs\n");
    });
}

#[test]
fn a_server_of_the_work_lives_on_when_the_folders_are_emptied() {
    for_each_container_engine(|subject| {
        let mut sandbox = subject.start();
        ok(&mut *sandbox, &start_loop("date > /tmp/beat; sleep 0.1"));
        sandbox
            .isolate(&["/tests".into(), "/logs/verifier".into()])
            .unwrap();
        ok(&mut *sandbox, "rm -f /tmp/beat; sleep 1; test -s /tmp/beat");
        sandbox.close().unwrap();
    });
}
