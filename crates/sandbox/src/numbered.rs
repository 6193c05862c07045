//! Files under a host folder whose names are numbers: no name inside a sandbox decides a path on the host.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;

use camino::{Utf8Path, Utf8PathBuf};

/// Makes such files, one after the other.
#[derive(Debug)]
pub(crate) struct Numbered<'a> {
    into: &'a Utf8Path,
    next: u64,
}

impl<'a> Numbered<'a> {
    pub(crate) fn new(into: &'a Utf8Path) -> Self {
        Self { into, next: 0 }
    }

    /// Makes a file whose name is a number that is not taken, for this user alone.
    ///
    /// # Errors
    /// The system's word, and the path that it is about.
    pub(crate) fn create(&mut self) -> Result<(Utf8PathBuf, File), (Utf8PathBuf, io::Error)> {
        loop {
            let path = self.into.join(self.next.to_string());
            self.next += 1;
            let opened = OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(0o600)
                .open(&path);
            match opened {
                Ok(file) => return Ok((path, file)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err((path, error)),
            }
        }
    }
}
