//! The tool, Harbor in one process, and `find | xargs cat`, on the same dataset.

use std::collections::BTreeMap;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use camino::Utf8Path;
use serde::Deserialize;

use super::bare;
use super::measure::{median, output, time};
use super::{Line, Options};

/// Measures Harbor in one process: imports are not counted, every pass is.
const HARBOR: &str = include_str!("harbor.py");

/// What harbor.py prints.
#[derive(Deserialize)]
struct Harbor {
    /// Task to whether it loads.
    loads: BTreeMap<String, bool>,
    /// Task to its content hash.
    digests: BTreeMap<String, String>,
    /// Seconds of each pass.
    load_seconds: Vec<f64>,
    digest_seconds: Vec<f64>,
}

pub(super) fn run(
    options: &Options,
    binary: &Utf8Path,
    dataset: &Utf8Path,
    files: usize,
) -> Result<Vec<Line>> {
    let validate = || {
        let mut command = Command::new(binary);
        command.args([
            "validate",
            dataset.as_str(),
            "--static",
            "--contract",
            "harbor",
            "--format",
            "json",
        ]);
        command
    };
    let digest = || {
        let mut command = Command::new(binary);
        command.args(["digest", dataset.as_str(), "--format", "json"]);
        command
    };
    let cat = || {
        let mut command = Command::new("sh");
        command.args([
            "-c",
            "find \"$1\" -type f -print0 | xargs -0 cat",
            "sh",
            dataset.as_str(),
        ]);
        command
    };
    let harbor = options
        .python
        .as_deref()
        .map(|python| harbor(python, dataset, options.rounds))
        .transpose()?;
    if let Some(harbor) = &harbor {
        let report = output(&mut validate(), &[0, 1])?;
        compare(
            harbor,
            &serde_json::from_slice(&report)?,
            &serde_json::from_slice(&output(&mut digest(), &[0, 1])?)?,
        )?;
    }
    if let (true, Some(harbor)) = (options.equal, &harbor) {
        return Ok(vec![equal(harbor)]);
    }
    let (mut ours, mut ours_digest, mut reading, mut floor) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..options.rounds.max(3) {
        reading.push(time(&mut cat(), &[0])?);
        floor.push(bare::read(dataset, files)?);
        ours.push(time(&mut validate(), &[0, 1])?);
        ours_digest.push(time(&mut digest(), &[0, 1])?);
    }
    let (ours, ours_digest, reading) = (median(ours), median(ours_digest), median(reading));
    let floor = median(floor);
    let mut lines = vec![
        Line::new("  find | xargs cat", milliseconds(reading)),
        Line::new(
            "  opening and reading them on all cores, no more",
            milliseconds(floor),
        ),
        against("  validate --static", ours, "cat", reading, 3.0),
        against("  digest", ours_digest, "cat", reading, 2.0),
    ];
    if let Some(harbor) = &harbor {
        let loading = seconds(&harbor.load_seconds);
        let hashing = seconds(&harbor.digest_seconds);
        // Where even this is below 100, no program that reads the files can reach it.
        let most = loading.as_secs_f64() / floor.as_secs_f64();
        lines.push(Line::new(
            "  Harbor loads them, against that reading alone",
            format!("{most:.0} x"),
        ));
        lines.push(faster("  Harbor loads them as tasks", loading, ours));
        lines.push(faster("  Harbor hashes them", hashing, ours_digest));
        lines.push(Line::new(
            "  equal: accept decisions and content hashes",
            format!("{} tasks", harbor.loads.len()),
        ));
    }
    Ok(lines)
}

fn equal(harbor: &Harbor) -> Line {
    let refused = harbor.loads.values().filter(|&&loads| !loads).count();
    let tasks = format!("{} tasks, {refused} of them refused", harbor.loads.len());
    Line::new("  equal: accept decisions and content hashes", tasks)
}

fn harbor(python: &Utf8Path, dataset: &Utf8Path, rounds: usize) -> Result<Harbor> {
    // Made absolute and not resolved: the `python` of a virtual environment is a link.
    let mut command = Command::new(std::path::absolute(python)?);
    command
        .args(["-I", "-c", HARBOR, dataset.as_str(), &rounds.to_string()])
        .current_dir("/");
    serde_json::from_slice(&output(&mut command, &[0])?).context("what harbor.py printed")
}

/// Both sides must say the same of every task.
fn compare(harbor: &Harbor, report: &serde_json::Value, digests: &serde_json::Value) -> Result<()> {
    let tasks = report["tasks"].as_array().context("`tasks` of the report")?;
    ensure!(
        tasks.len() == harbor.loads.len(),
        "{} tasks here, {} there",
        tasks.len(),
        harbor.loads.len()
    );
    for task in tasks {
        let id = task["id"].as_str().context("an id")?;
        let ours = task["loads"]["harbor"].as_bool();
        ensure!(
            ours == harbor.loads.get(id).copied(),
            "{id} loads: {ours:?} here, the other says otherwise"
        );
    }
    for task in digests["tasks"].as_array().context("`tasks` of the digests")? {
        let id = task["id"].as_str().context("an id")?;
        let theirs = harbor.digests.get(id).map(String::as_str);
        ensure!(
            task["digest"].as_str() == theirs,
            "{id}: {} here, {theirs:?} there",
            task["digest"]
        );
    }
    Ok(())
}

fn seconds(passes: &[f64]) -> Duration {
    median(
        passes
            .iter()
            .map(|&seconds| Duration::from_secs_f64(seconds))
            .collect(),
    )
}

fn milliseconds(time: Duration) -> String {
    format!("{:8.1} ms", time.as_secs_f64() * 1e3)
}

fn against(what: &str, ours: Duration, name: &str, other: Duration, most: f64) -> Line {
    let ratio = ours.as_secs_f64() / other.as_secs_f64();
    Line::new(what, format!("{}, {ratio:.2} x {name}", milliseconds(ours)))
        .goal(format!("at most {most:.0} x"), ratio <= most)
}

fn faster(what: &str, theirs: Duration, ours: Duration) -> Line {
    let ratio = theirs.as_secs_f64() / ours.as_secs_f64();
    Line::new(what, format!("{}, {ratio:.0} x ours", milliseconds(theirs)))
        .goal("at least 100 x", ratio >= 100.0)
}
