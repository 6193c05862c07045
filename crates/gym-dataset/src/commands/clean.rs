//! `clean`: removes what runs that were killed left behind, and nothing that is not ours or still in use.

use sandbox::Engine as _;

use crate::cli::CleanArgs;
use crate::engine;
use crate::exit::Ending;
use crate::output::Printer;
use crate::settings::Settings;
use findings::sanitize;

/// Cleans the image store, the folder for temporary files and every container engine that answers.
pub(crate) fn run(args: &CleanArgs, settings: &Settings, printer: &mut Printer) -> anyhow::Result<Ending> {
    let store = engine::store(args.image_store.as_deref(), settings)?;
    let word = if args.dry_run { "would remove" } else { "removed" };
    let mut nothing = true;
    for line in store.clean(args.dry_run)? {
        nothing = false;
        printer.line(&format!("image store: {word} {}", sanitize::line(&line)))?;
    }
    for (folder, failed) in oracle::clean_scratch(&settings.scratch, settings.clock, args.dry_run) {
        nothing = false;
        let folder = sanitize::line(folder.as_str());
        match failed {
            None => printer.line(&format!("temporary files: {word} folder `{folder}`"))?,
            Some(cause) => printer.line(&format!("temporary files: folder `{folder}` stays: {cause}"))?,
        }
    }
    if args.dry_run {
        return Ok(Ending::Good);
    }
    for engine in engine::containers(settings) {
        // One that does not answer runs nothing of ours.
        if let Err(reason) = engine.probe() {
            printer.note(&format!("{} was not asked: {reason}", engine.name()))?;
            continue;
        }
        for line in engine.clean()? {
            nothing = false;
            printer.line(&sanitize::line(&line))?;
        }
    }
    if nothing {
        printer.line("nothing to remove")?;
    }
    Ok(Ending::Good)
}
