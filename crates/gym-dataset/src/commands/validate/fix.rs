//! `--fix`: planned edits are shown, or written into the tasks. Nothing else writes there.

use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use anyhow::{Context as _, bail};
use camino::{Utf8Path, Utf8PathBuf};
use rustix::fs::{Mode, OFlags};
use task_model::Dataset;
use task_rules::fix::{self, FileEdit};

use super::load;
use crate::cli::{ValidateArgs, ValidateFormat};
use crate::lint::Lint;
use crate::output::Printer;
use crate::settings::Settings;

/// Edits the selected tasks of every target, then the digests that follow from that; or shows what would be edited.
///
/// # Errors
/// A target cannot be loaded; a file cannot be written, or is another than when it was read.
pub(super) fn apply(args: &ValidateArgs, settings: &Settings, printer: &mut Printer) -> anyhow::Result<()> {
    let mut datasets = load::read(args, settings)?.datasets;
    load::check(&mut datasets);
    let _filters = Lint::of(args, &mut datasets)?;
    let edits = of_tasks(&datasets, settings);
    if args.dry_run {
        let digests = of_datasets(&datasets, &edits, settings);
        for edit in edits.iter().chain(&digests) {
            show(edit, args.format, printer)?;
        }
        return Ok(());
    }
    for edit in &edits {
        write(edit, settings, printer)?;
    }
    if !edits.is_empty() {
        datasets = load::read(args, settings)?.datasets;
    }
    for edit in of_datasets(&datasets, &[], settings) {
        write(&edit, settings, printer)?;
    }
    Ok(())
}

/// Plans the edits that take shown findings of selected tasks away, each once however many targets or rows it belongs to.
fn of_tasks(datasets: &[Dataset], settings: &Settings) -> Vec<FileEdit> {
    let shown: BTreeSet<(Utf8PathBuf, &str)> = datasets
        .iter()
        .flat_map(|dataset| &dataset.findings)
        .filter_map(|finding| {
            Some((
                settings.shown(finding.location.as_ref()?.path()),
                finding.rule.name,
            ))
        })
        .collect();
    let wanted = |path: &Utf8Path, rule: &str| shown.contains(&(settings.shown(path), rule));
    let mut seen = BTreeSet::new();
    let mut edits = Vec::new();
    for task in datasets.iter().flat_map(|d| &d.tasks).filter(|t| t.selected) {
        if seen.insert(real(&task.folder, settings)) {
            edits.extend(fix::folder(&task.folder, &wanted));
        }
    }
    edits
}

fn of_datasets(datasets: &[Dataset], pending: &[FileEdit], settings: &Settings) -> Vec<FileEdit> {
    let mut seen = BTreeSet::new();
    datasets
        .iter()
        .filter(|dataset| seen.insert(real(&dataset.root, settings)))
        .filter_map(|dataset| fix::dataset(dataset, pending))
        .collect()
}

fn real(folder: &Utf8Path, settings: &Settings) -> Utf8PathBuf {
    let full = settings.cwd.join(folder);
    full.canonicalize_utf8().unwrap_or(full)
}

/// Prints the diff: beside the report for people, apart from one for programs.
fn show(edit: &FileEdit, format: ValidateFormat, printer: &mut Printer) -> anyhow::Result<()> {
    match format {
        ValidateFormat::Human | ValidateFormat::Concise => printer.text(&edit.diff()),
        ValidateFormat::Json
        | ValidateFormat::Jsonl
        | ValidateFormat::Github
        | ValidateFormat::Sarif
        | ValidateFormat::Junit
        | ValidateFormat::Markdown => printer.aside(&edit.diff()),
    }
}

fn write(edit: &FileEdit, settings: &Settings, printer: &mut Printer) -> anyhow::Result<()> {
    let path = &edit.path;
    replace(&settings.cwd.join(path), &edit.before, &edit.after())
        .with_context(|| format!("cannot fix `{path}`"))?;
    printer.note(&format!(
        "fixed {}: {}",
        settings.shown(path),
        edit.why.join("; ")
    ))
}

/// Puts `after` in the place of a file that holds `before`, whole or not at all; its permissions stay.
fn replace(path: &Utf8Path, before: &str, after: &str) -> anyhow::Result<()> {
    let folder = path.parent().context("it is in no folder")?;
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let opened = rustix::fs::open(path.as_str(), flags, Mode::empty()).map_err(std::io::Error::from)?;
    let file = std::fs::File::from(opened);
    let meta = file.metadata()?;
    if !meta.is_file() {
        bail!("it is no regular file");
    }
    let mut now = Vec::new();
    let bound = before.len() as u64 + 1;
    (&file).take(bound).read_to_end(&mut now)?;
    if now != before.as_bytes() {
        bail!("it has changed since it was read");
    }
    let mut new = tempfile::Builder::new()
        .prefix(".gym-dataset-")
        .tempfile_in(folder)?;
    new.write_all(after.as_bytes())?;
    let made = new.as_file().metadata()?;
    if (made.uid(), made.gid()) != (meta.uid(), meta.gid()) {
        // Only root may give a file away; for others it is theirs from now on.
        let _kept = std::os::unix::fs::fchown(new.as_file(), Some(meta.uid()), Some(meta.gid()));
    }
    let mode = meta.permissions().mode() & 0o7777;
    new.as_file()
        .set_permissions(std::fs::Permissions::from_mode(mode))?;
    new.persist(path)?;
    Ok(())
}
