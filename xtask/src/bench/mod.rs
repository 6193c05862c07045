//! `cargo xtask bench`: the tool's speed, beside Harbor's and beside reading the same files and nothing else.
//!
//! A race counts only with equal outputs, so the accept decision and the content hash of every task are compared first.
//! All sides are measured in turns within one run, warm, and the median counts.

mod bare;
mod generate;
mod measure;
mod publish;
mod race;
mod single;
mod trials;

use anyhow::{Context as _, Result, ensure};
use camino::{Utf8Path, Utf8PathBuf};

/// Options of `cargo xtask bench`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    /// How many tasks the races have.
    #[arg(long, default_value_t = 1000)]
    tasks: usize,
    /// How often each side runs.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// A Python that has harbor 0.26.0; without it only the other numbers are measured.
    #[arg(long)]
    python: Option<Utf8PathBuf>,
    /// A built binary to measure; the release build of this tree otherwise.
    #[arg(long)]
    binary: Option<Utf8PathBuf>,
    /// Ends with 1 when a number misses its goal.
    #[arg(long)]
    gate: bool,
    /// Where to write the generated datasets, kept afterwards; a temporary folder otherwise.
    #[arg(long)]
    folder: Option<Utf8PathBuf>,
    /// Only checks that both sides say the same of every task; measures nothing.
    #[arg(long, requires = "python")]
    equal: bool,
}

/// One line of the result.
struct Line {
    what: String,
    value: String,
    goal: Option<(String, bool)>,
}

impl Line {
    fn new(what: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            value: value.into(),
            goal: None,
        }
    }

    fn goal(mut self, goal: impl Into<String>, met: bool) -> Self {
        self.goal = Some((goal.into(), met));
        self
    }
}

/// Runs everything and prints the lines.
pub(crate) fn run(options: &Options) -> Result<()> {
    let binary = match &options.binary {
        Some(path) => path.clone(),
        None => build()?,
    };
    let temporary = tempfile::Builder::new().prefix("bench-").tempdir()?;
    let temporary = Utf8Path::from_path(temporary.path()).context("a folder whose name is UTF-8")?;
    let folder = options.folder.as_deref().unwrap_or(temporary);
    let mut lines = Vec::new();
    for variant in [generate::Variant::Shared, generate::Variant::Separate] {
        let dataset = folder.join(variant.name());
        let size = generate::dataset(&dataset, options.tasks, variant)?;
        lines.push(Line::new(
            format!("{} tasks, {} verifier", options.tasks, variant.name()),
            format!("{} files, {:.1} MB", size.files, size.bytes as f64 / 1e6),
        ));
        lines.extend(race::run(options, &binary, &dataset, size.files)?);
        if variant == generate::Variant::Shared && !options.equal {
            lines.extend(publish::run(options, &binary, &dataset, folder)?);
        }
    }
    if !options.equal {
        lines.extend(single::run(&binary, folder)?);
        lines.extend(trials::run(&binary, folder)?);
    }
    print(&lines);
    let missed = lines
        .iter()
        .filter(|line| matches!(line.goal, Some((_, false))))
        .count();
    ensure!(!options.gate || missed == 0, "{missed} goals are missed");
    Ok(())
}

fn build() -> Result<Utf8PathBuf> {
    let root = crate::root();
    let mut cargo = std::process::Command::new("cargo");
    cargo
        .args(["build", "--release", "--locked", "--package", "gym-dataset"])
        .current_dir(&root);
    ensure!(cargo.status()?.success(), "the release build failed");
    Ok(root.join("target/release/gym-dataset"))
}

fn print(lines: &[Line]) {
    for line in lines {
        let goal = match &line.goal {
            None => String::new(),
            Some((goal, true)) => format!("   (goal {goal}: met)"),
            Some((goal, false)) => format!("   (goal {goal}: MISSED)"),
        };
        crate::say(&format!("{:<52} {}{goal}", line.what, line.value));
    }
}
