//! `schema`: JSON Schemas for editors and other programs.

use crate::cli::{SchemaArgs, SchemaOf};
use crate::exit::Ending;
use crate::output::Printer;
use crate::reference;

/// Runs the command.
pub(crate) fn run(args: &SchemaArgs, printer: &mut Printer) -> anyhow::Result<Ending> {
    let name = match args.what {
        SchemaOf::Task => "task.schema.json",
        SchemaOf::Dataset => "dataset.schema.json",
        SchemaOf::Report => "validate.schema.json",
    };
    // Printed as it is committed.
    for page in reference::schemas().into_iter().filter(|page| page.name == name) {
        printer.text(&page.text)?;
    }
    Ok(Ending::Good)
}
