//! `image`: the store of images for the embedded engine.

use findings::sanitize;
use sandbox::Stored;

use crate::cli::{ImageAddArgs, ImageArgs, ImageCommand, ImageListArgs, TextFormat};
use crate::engine;
use crate::exit::{Ending, UsageError};
use crate::output::Printer;
use crate::report::{ImageListReport, ListedImage, SCHEMA};
use crate::settings::Settings;

/// Does what the subcommand says.
pub(crate) fn run(args: &ImageArgs, settings: &Settings, printer: &mut Printer) -> anyhow::Result<Ending> {
    match &args.command {
        ImageCommand::Add(args) => add(args, settings, printer),
        ImageCommand::List(args) => list(args, settings, printer),
    }
}

fn add(args: &ImageAddArgs, settings: &Settings, printer: &mut Printer) -> anyhow::Result<Ending> {
    let store = engine::store(args.image_store.as_deref(), settings)?;
    let from = settings.cwd.join(&args.from);
    if let Err(cause) = std::fs::metadata(&from) {
        return Err(UsageError::because(format!(
            "cannot read {}: {cause}; give a tar archive or the folder of an OCI layout",
            args.from
        )));
    }
    for image in store.add(&from, args.name.as_deref())? {
        printer.line(&format!(
            "added {}  {}  {}",
            image.name,
            image.id,
            size(image.bytes)
        ))?;
    }
    Ok(Ending::Good)
}

fn list(args: &ImageListArgs, settings: &Settings, printer: &mut Printer) -> anyhow::Result<Ending> {
    let store = engine::store(args.image_store.as_deref(), settings)?;
    let images = store.list()?;
    match args.format {
        TextFormat::Json => printer.json(&ImageListReport {
            schema: SCHEMA,
            store: settings.shown(store.folder()),
            images: images.into_iter().map(listed).collect(),
        })?,
        TextFormat::Text if images.is_empty() => {
            let folder = settings.shown(store.folder());
            printer.note(&format!(
                "no images in {folder}; `gym-dataset image add` puts one there"
            ))?;
        }
        TextFormat::Text => {
            let width = images
                .iter()
                .map(|image| image.name.len())
                .max()
                .unwrap_or_default();
            for image in &images {
                let name = sanitize::line(&image.name);
                printer.line(&format!("{name:width$}  {}  {}", image.id, size(image.bytes)))?;
            }
        }
    }
    Ok(Ending::Good)
}

fn listed(image: Stored) -> ListedImage {
    ListedImage {
        name: image.name,
        id: image.id,
        manifest: image.manifest,
        bytes: image.bytes,
    }
}

/// Bytes for people.
fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..0x10_0000 => format!("{} KiB", bytes >> 10),
        0x10_0000..0x4000_0000 => format!("{} MiB", bytes >> 20),
        _ => format!("{} GiB", bytes >> 30),
    }
}
