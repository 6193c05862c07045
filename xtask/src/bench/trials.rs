//! Trials per minute: tasks that do nothing, side by side, on the embedded engine and on the private Docker.

use std::process::Command;

use anyhow::Result;
use camino::Utf8Path;

use super::Line;
use super::generate::idle_tasks;
use super::measure::{median, time};
use crate::engine::Engine;

const TRIALS: u32 = 20;

/// Measures both; Docker only when `cargo xtask engine up` has started it.
pub(super) fn run(binary: &Utf8Path, folder: &Utf8Path) -> Result<Vec<Line>> {
    let root = folder.join("many-trials");
    idle_tasks(&root, TRIALS, "gym-dataset-test/bash:1")?;
    let engine = Engine::default();
    let mut lines = vec![line(binary, folder, &root, "embedded", None)];
    lines.push(if engine.is_up() {
        line(binary, folder, &root, "docker", Some(&engine))
    } else {
        Line::new(name("docker"), "not measured: `cargo xtask engine up` first")
    });
    Ok(lines)
}

fn name(sandbox: &str) -> String {
    format!("trials per minute, {sandbox}, side by side")
}

fn line(
    binary: &Utf8Path,
    folder: &Utf8Path,
    root: &Utf8Path,
    sandbox: &str,
    engine: Option<&Engine>,
) -> Line {
    let results = folder.join("many-results");
    let once = || {
        let mut command = Command::new(binary);
        command.args(["validate", root.as_str(), "--sandbox", sandbox]);
        command.args(["--results", results.as_str()]);
        if let Some(engine) = engine {
            engine.point(&mut command);
        }
        time(&mut command, &[0])
    };
    // The first asks for the image.
    let times: Result<Vec<_>> = (0..4).map(|_| once()).collect();
    match times {
        Ok(mut times) => {
            times.remove(0);
            let per_minute = f64::from(TRIALS) * 60.0 / median(times).as_secs_f64();
            Line::new(name(sandbox), format!("{per_minute:8.0}"))
        }
        Err(_) => Line::new(name(sandbox), "not measured: the engine cannot run here"),
    }
}
