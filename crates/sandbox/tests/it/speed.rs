//! What a trial's sandbox costs.

use std::time::{Duration, Instant};

use crate::engines::embedded_image;
use crate::support::{Caller, apart, done, file, for_each_caller, is_root, ok, read, root, start};
use sandbox::{Sandbox, View};

#[test]
fn a_whole_trial_adds_little() {
    for_each_caller(|caller, engine| measure(&format!("{caller:?}"), &|| start(engine)));
    let caller = if is_root() { Caller::Root } else { Caller::Plain };
    if let Some(subject) = embedded_image(caller) {
        measure(&format!("{caller:?}, image"), &|| subject.start());
    }
}

#[expect(clippy::print_stdout, reason = "the figures are for whoever asks for them")]
fn measure(name: &str, start: &dyn Fn() -> Box<dyn Sandbox>) {
    let trial = || {
        let began = Instant::now();
        let mut sandbox = start();
        sandbox
            .upload(
                View::Work,
                "/solution".into(),
                &root(),
                &[file("solve.sh", 0o755, "exit 0\n")],
            )
            .unwrap();
        ok(&mut *sandbox, ":");
        sandbox
            .isolate(&["/tests".into(), "/logs/verifier".into()])
            .unwrap();
        sandbox
            .upload(
                View::Apart,
                "/tests".into(),
                &root(),
                &[file("test.sh", 0o755, "echo 1\n")],
            )
            .unwrap();
        done(&mut *sandbox, &apart("echo 1 > /logs/verifier/reward.txt"));
        read(&mut *sandbox, View::Apart, "/logs/verifier/reward.txt");
        sandbox.close().unwrap();
        began.elapsed()
    };
    let mut times: Vec<Duration> = (0..10).map(|_| trial()).collect();
    times.sort();
    println!("{name}: fastest {:?}, median {:?}", times[0], times[5]);
    // Far above what it takes (10 to 25 ms): this is a debug build on a machine that does other things too.
    assert!(times[0] < Duration::from_millis(150), "{times:?}");
}
