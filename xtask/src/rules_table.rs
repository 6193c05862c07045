//! `cargo xtask rules-table DIR`: how often each rule fires on datasets that somebody else made.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use anyhow::{Context as _, ensure};
use camino::Utf8PathBuf;
use findings::Level;
use task_model::LoadOptions;
use task_rules::registry;

use crate::{root, say};

/// Options of `rules-table`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// A folder with one folder a dataset, named `owner+repository`.
    dir: Utf8PathBuf,
    /// The commit of a dataset, for the page: `owner/repository=HASH`.
    #[arg(long, value_name = "NAME=HASH")]
    commit: Vec<String>,
}

/// One dataset's column.
struct Column {
    name: String,
    tasks: usize,
    by_rule: BTreeMap<&'static str, BTreeSet<String>>,
    /// The strongest level that each rule's findings have.
    levels: BTreeMap<&'static str, Level>,
}

/// Writes docs/reference/rules-on-public-datasets.md.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let mut folders: Vec<Utf8PathBuf> = Vec::new();
    for entry in options
        .dir
        .read_dir_utf8()
        .with_context(|| options.dir.to_string())?
    {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            folders.push(entry.into_path());
        }
    }
    folders.sort();
    let mut columns = Vec::new();
    for folder in &folders {
        let name = folder.file_name().unwrap_or_default().replace('+', "/");
        let mut dataset =
            task_model::load(folder, &LoadOptions::default()).with_context(|| folder.to_string())?;
        shim_builder::apply(&mut dataset);
        task_rules::apply(&mut dataset);
        let mut by_rule: BTreeMap<&'static str, BTreeSet<String>> = BTreeMap::new();
        let mut levels = BTreeMap::new();
        for finding in &dataset.findings {
            let task = finding.task.clone().unwrap_or_default();
            by_rule.entry(finding.rule.code).or_default().insert(task);
            let level = levels.entry(finding.rule.code).or_insert(finding.level);
            *level = finding.level.min(*level);
            if finding.level == Level::Error && registry::find(finding.rule.code).is_some() {
                let place = finding
                    .location
                    .as_ref()
                    .map(|location| location.path().to_string());
                say(&format!(
                    "error-level, look at it: {} {}: {}",
                    finding.rule.code,
                    place.unwrap_or_default(),
                    finding.message
                ));
            }
        }
        columns.push(Column {
            name,
            tasks: dataset.tasks.len(),
            by_rule,
            levels,
        });
    }
    ensure!(!columns.is_empty(), "{} holds no dataset", options.dir);
    let path = root().join("docs/reference/rules-on-public-datasets.md");
    std::fs::write(&path, page(&columns, &options.commit)).with_context(|| path.to_string())?;
    say(&format!("wrote {path}"));
    Ok(())
}

fn page(columns: &[Column], commits: &[String]) -> String {
    let mut out = String::from(
        "<!-- Written by `cargo xtask rules-table DIR`; change that instead. -->\n\n# Rules on public datasets\n\n\
         In how many tasks each rule speaks, rules that are off included. A rule that is not listed is silent on all of them. \
         An error is meant for what is broken: [each of them](../design/errors-on-public-datasets.md) was looked at.\n\n",
    );
    let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    // Writing to a string cannot fail.
    let _written = writeln!(out, "| rule | level | {} |", names.join(" | "));
    let _written = writeln!(out, "|---|---|{}", "---|".repeat(columns.len()));
    let counts: Vec<String> = columns.iter().map(|column| column.tasks.to_string()).collect();
    let _written = writeln!(out, "| *tasks* | | {} |", counts.join(" | "));
    for rule in gym_dataset::reference::rules() {
        let hits: Vec<usize> = columns
            .iter()
            .map(|c| c.by_rule.get(rule.code).map_or(0, BTreeSet::len))
            .collect();
        if hits.iter().all(|hits| *hits == 0) {
            continue;
        }
        let off = if !registry::is_on(rule.code) { ", off" } else { "" };
        let hits: Vec<String> = hits.iter().map(ToString::to_string).collect();
        let strongest = columns
            .iter()
            .filter_map(|column| column.levels.get(rule.code))
            .min();
        let level = strongest.copied().unwrap_or(rule.level).as_str();
        let _written = writeln!(
            out,
            "| {} `{}` | {level}{off} | {} |",
            rule.code,
            rule.name,
            hits.join(" | ")
        );
    }
    out.push_str("\nThe commits:\n\n");
    for column in columns {
        let commit = commits.iter().find_map(|commit| {
            let (name, hash) = commit.split_once('=')?;
            (name == column.name).then_some(hash)
        });
        let _written = writeln!(
            out,
            "- [{0}](https://github.com/{0}) at {1}",
            column.name,
            commit.map_or_else(|| "an unnamed commit".to_owned(), |hash| format!("`{hash}`"))
        );
    }
    out
}
