//! The tool's side of reading a tree out.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::net::UnixStream;

use camino::{Utf8Path, Utf8PathBuf};

use super::session::lost;
use crate::api::SandboxError;
use crate::files::{Entry, EntryKind};
use crate::numbered::Numbered;
use crate::wire::{self, EntryHead, EntryShape};

/// Receives entries until their end. After an error the rest is read and dropped, so that the conversation stays in step.
pub(super) fn receive(socket: &mut UnixStream, into: &Utf8Path) -> Result<Vec<Entry>, SandboxError> {
    let mut numbered = Numbered::new(into);
    let mut entries = Vec::new();
    let mut failed = None;
    while let Some(head) = wire::receive::<Option<EntryHead>>(socket).map_err(lost)? {
        let kind = match head.kind {
            EntryShape::Folder => EntryKind::Folder,
            EntryShape::Link(target) => EntryKind::Link(target),
            EntryShape::File => {
                let sink = if failed.is_none() {
                    numbered.create().map_err(|(path, error)| written(&path, error))
                } else {
                    Err(super::session::unexpected())
                };
                match contents(socket, sink)? {
                    Ok(path) => EntryKind::HostFile(path),
                    Err(error) => {
                        failed.get_or_insert(error);
                        continue;
                    }
                }
            }
        };
        entries.push(Entry {
            path: head.path.into(),
            mode: head.mode,
            kind,
        });
    }
    entries.sort_by(|one, other| one.path.cmp(&other.path));
    failed.map_or(Ok(entries), Err)
}

/// Receives one file; the inner error is of the host's file.
fn contents(
    socket: &mut UnixStream,
    mut sink: Result<(Utf8PathBuf, File), SandboxError>,
) -> Result<Result<Utf8PathBuf, SandboxError>, SandboxError> {
    loop {
        let piece = wire::receive_piece(socket).map_err(lost)?;
        if piece.is_empty() {
            return Ok(sink.map(|(path, _)| path));
        }
        if let Ok((path, file)) = &mut sink
            && let Err(error) = file.write_all(&piece)
        {
            sink = Err(written(path, error));
        }
    }
}

fn written(path: &Utf8Path, source: io::Error) -> SandboxError {
    SandboxError::Io {
        what: format!("write `{path}`"),
        source,
    }
}
