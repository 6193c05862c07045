//! Datasets of any size, the same bytes every time.

use std::fs;

use anyhow::Result;
use camino::Utf8Path;

/// Where the generated tasks verify.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Variant {
    /// In the agent's own sandbox.
    Shared,
    /// In a sandbox of their own.
    Separate,
}

impl Variant {
    /// The word for it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Shared => "shared",
            Self::Separate => "separate",
        }
    }
}

/// What was written.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Size {
    pub(crate) files: usize,
    pub(crate) bytes: usize,
}

/// Numbers that look random and are the same every time.
struct Sequence(u64);

impl Sequence {
    fn next(&mut self, below: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }

    fn words(&mut self, count: u64) -> String {
        const WORDS: [&str; 12] = [
            "read", "the", "file", "write", "result", "sort", "lines", "by", "number", "keep", "order",
            "exactly",
        ];
        let mut text = String::new();
        for n in 0..count {
            text.push_str(
                WORDS
                    .get(usize::try_from(self.next(12)).unwrap_or(0))
                    .copied()
                    .unwrap_or("word"),
            );
            text.push(if n % 14 == 13 { '\n' } else { ' ' });
        }
        text.push('\n');
        text
    }
}

/// Writes `count` tasks of five files and some 2.7 kB each. One in fifty does not load in Harbor.
pub(crate) fn dataset(root: &Utf8Path, count: usize, variant: Variant) -> Result<Size> {
    let mut size = Size::default();
    let mut sequence = Sequence(7);
    for n in 0..count {
        let task = root.join(format!("task-{n:05}"));
        let mut put = |path: &str, text: String| -> Result<()> {
            let path = task.join(path);
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)?;
            }
            size.files += 1;
            size.bytes += text.len();
            fs::write(path, text)?;
            Ok(())
        };
        put("task.toml", task_toml(n, variant))?;
        put("instruction.md", sequence.words(120 + sequence.0 % 120))?;
        put(
            "environment/Dockerfile",
            format!("FROM python:3.12-slim\nENV TASK={n}\nWORKDIR /app\n"),
        )?;
        put("tests/test.sh", test_sh(&mut sequence))?;
        put(
            "solution/solve.sh",
            format!("#!/bin/bash\nset -eu\n{}", comment(&sequence.words(60))),
        )?;
    }
    Ok(size)
}

fn task_toml(n: usize, variant: Variant) -> String {
    let mode = match variant {
        Variant::Shared => "",
        Variant::Separate => "environment_mode = \"separate\"\n",
    };
    let timeout = if n % 50 == 49 {
        "\"soon\"".to_owned()
    } else {
        format!("{}.0", 60 + n % 600)
    };
    format!(
        r#"schema_version = "1.4"
artifacts = ["/app/out-{n}.txt"]

[task]
name = "bench/task-{n:05}"
version = "1.0.{n}"
description = "Generated task number {n}"
authors = [{{ name = "A. Author", email = "author@example.org" }}]
keywords = ["bench", "group-{}"]

[metadata]
difficulty = "{}"
category = "generated"
tags = ["one", "two", "three"]

[agent]
timeout_sec = {}.0

[verifier]
timeout_sec = {timeout}
{mode}
[verifier.env]
CASE = "{n}"

[environment]
build_timeout_sec = 600.0
cpus = {}
memory_mb = {}
storage_mb = 10240

[environment.env]
TASK = "{n}"
"#,
        n % 10,
        if n.is_multiple_of(3) { "easy" } else { "hard" },
        300 + n % 300,
        1 + n % 4,
        1024 * (1 + n % 4),
    )
}

fn test_sh(sequence: &mut Sequence) -> String {
    let mut text = String::from("#!/bin/bash\nset -u\n");
    for n in 0..8 {
        let line = comment(&sequence.words(9));
        text.push_str(&line);
        text.push_str("grep -q 'value ");
        text.push_str(&n.to_string());
        text.push_str("' out.txt || failed=1\n");
    }
    text.push_str("if [ -z \"${failed:-}\" ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt\n");
    text
}

fn comment(text: &str) -> String {
    text.lines().map(|line| format!("# {line}\n")).collect()
}

/// Writes `count` tasks that do nothing, in an image.
pub(super) fn idle_tasks(root: &Utf8Path, count: u32, image: &str) -> Result<()> {
    for n in 0..count {
        let task = root.join(format!("nothing-{n:02}"));
        for part in ["tests", "solution"] {
            fs::create_dir_all(task.join(part))?;
        }
        fs::write(
            task.join("task.toml"),
            format!("[environment]\ndocker_image = \"{image}\"\n"),
        )?;
        fs::write(task.join("instruction.md"), "Do nothing.\n")?;
        fs::write(task.join("solution/solve.sh"), "true\n")?;
        fs::write(task.join("tests/test.sh"), "echo 1 > /logs/verifier/reward.txt\n")?;
    }
    Ok(())
}
