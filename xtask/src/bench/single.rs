//! Numbers of the tool alone: memory, start-up, a huge script, a trial.

use std::fs;
use std::process::Command;
use std::time::Duration;

use anyhow::Result;
use camino::Utf8Path;

use super::Line;
use super::generate::{Variant, dataset, idle_tasks};
use super::measure::{median, peak_memory, time};

const TRIALS: u32 = 20;

pub(super) fn run(binary: &Utf8Path, folder: &Utf8Path) -> Result<Vec<Line>> {
    Ok(vec![
        version(binary)?,
        memory(binary, folder)?,
        huge_script(binary, folder)?,
        trial(binary, folder)?,
    ])
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn version(binary: &Utf8Path) -> Result<Line> {
    let times = (0..40)
        .map(|_| time(Command::new(binary).arg("--version"), &[0]))
        .collect::<Result<Vec<_>>>()?;
    let took = median(times);
    Ok(Line::new("--version", format!("{:8.1} ms", millis(took))).goal("below 10 ms", millis(took) < 10.0))
}

fn memory(binary: &Utf8Path, folder: &Utf8Path) -> Result<Line> {
    let root = folder.join("ten-thousand");
    dataset(&root, 10_000, Variant::Shared)?;
    let mut command = Command::new(binary);
    command.args(["validate", root.as_str(), "--static", "--format", "json"]);
    let peak = peak_memory(&mut command)? as f64 / 1e6;
    fs::remove_dir_all(&root)?;
    Ok(Line::new(
        "validate --static of 10,000 tasks: memory",
        format!("{peak:8.0} MB"),
    )
    .goal("below 150 MB", peak < 150.0))
}

/// A task whose test.sh carries an archive in one line of 2.4 MB.
fn huge_script(binary: &Utf8Path, folder: &Utf8Path) -> Result<Line> {
    let root = folder.join("huge");
    dataset(&root, 1, Variant::Shared)?;
    let line = "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo0MjEz".repeat(60_000);
    let script = format!(
        "#!/bin/bash\necho '{line}' | base64 -d > /tmp/archive\necho 1 > /logs/verifier/reward.txt\n"
    );
    fs::write(root.join("task-00000/tests/test.sh"), script)?;
    let mut times = Vec::new();
    for _ in 0..9 {
        times.push(time(
            Command::new(binary).args(["validate", root.as_str(), "--static"]),
            &[0],
        )?);
    }
    let took = millis(median(times));
    Ok(
        Line::new("validate --static, a test.sh of 2.4 MB", format!("{took:8.1} ms"))
            .goal("below 50 ms", took < 50.0),
    )
}

/// Tasks that do nothing, one after the other, less what their scripts take by themselves.
fn trial(binary: &Utf8Path, folder: &Utf8Path) -> Result<Line> {
    let root = folder.join("trials");
    idle_tasks(&root, TRIALS, "debian:12")?;
    let results = folder.join("results");
    let command = || {
        let mut command = Command::new(binary);
        command.args([
            "validate",
            root.as_str(),
            "--sandbox",
            "embedded",
            "--jobs",
            "1",
            "--results",
            results.as_str(),
        ]);
        time(&mut command, &[0])
    };
    let Ok(_) = command() else {
        return Ok(Line::new(
            "an embedded trial",
            "not measured: the engine cannot run here",
        ));
    };
    let whole = median(vec![command()?, command()?, command()?]) / TRIALS;
    let mut bare = Vec::new();
    for _ in 0..20 {
        bare.push(time(Command::new("bash").args(["-c", "true"]), &[0])?);
    }
    let added = millis(whole.saturating_sub(median(bare) * 2));
    Ok(Line::new(
        "an embedded trial beside its two scripts",
        format!("{added:8.1} ms"),
    )
    .goal("below 60 ms", added < 60.0))
}
