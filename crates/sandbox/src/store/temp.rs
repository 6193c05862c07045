//! Locks, and folders in which something is being made.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};

use camino::{Utf8Path, Utf8PathBuf};
use rustix::fs::FlockOperation;
use rustix::io::Errno;

use super::trash::Trash;
use super::{Store, StoreError, io_error};

/// A folder of ours. Its lock says that its maker lives; dropping it removes it.
pub(super) struct Temp {
    parent: OwnedFd,
    name: String,
    path: Utf8PathBuf,
    lock: OwnedFd,
}

impl Temp {
    pub(super) fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// An empty folder in which trees of this file system are taken apart.
    pub(super) fn trash(&self) -> Result<Trash, StoreError> {
        let path = self.path.join("trash");
        match fs::create_dir(&path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => File::open(&path),
        }
        .map(|folder| Trash::new(folder.into()))
        .map_err(io_error(format!("make `{path}`")))
    }
}

impl Drop for Temp {
    fn drop(&mut self) {
        let _ = remove(&self.parent, &self.name);
        // Only now may somebody else think that it is nobody's.
        let _ = rustix::fs::flock(&self.lock, FlockOperation::Unlock);
    }
}

/// Removes a folder of ours with all that is in it.
pub(super) fn remove(parent: &OwnedFd, name: &str) -> Result<(), Errno> {
    // The trees in it are moved beside it to be taken apart; what a crash leaves of that is of the same kind.
    let flags = rustix::fs::OFlags::RDONLY
        | rustix::fs::OFlags::DIRECTORY
        | rustix::fs::OFlags::NOFOLLOW
        | rustix::fs::OFlags::CLOEXEC;
    let folder = rustix::fs::openat(parent, name, flags, rustix::fs::Mode::empty())?;
    let mut trash = Trash::new(rustix::io::fcntl_dupfd_cloexec(&folder, 3)?);
    for child in super::trash::names(&folder)? {
        trash.remove(&folder, child.to_bytes())?;
    }
    drop(trash);
    rustix::fs::unlinkat(parent, name, rustix::fs::AtFlags::REMOVEDIR)
}

impl Store {
    /// Makes the folders of the store, closed to others.
    pub(super) fn make_folders(&self) -> Result<(), StoreError> {
        for folder in [
            self.folder.clone(),
            self.folder.join("tmp"),
            self.folder.join("images"),
        ] {
            let mut builder = fs::DirBuilder::new();
            builder.recursive(true).mode(0o700);
            builder
                .create(&folder)
                .map_err(io_error(format!("make `{folder}`")))?;
        }
        Ok(())
    }

    /// Waits for a lock of the store.
    pub(super) fn lock(&self, name: &str) -> Result<OwnedFd, StoreError> {
        let file = self.lock_file(name)?;
        loop {
            match rustix::fs::flock(&file, FlockOperation::LockExclusive) {
                Ok(()) => return Ok(file),
                Err(Errno::INTR) => {}
                Err(error) => return Err(self.unlockable(name)(error.into())),
            }
        }
    }

    /// The same without waiting.
    pub(super) fn try_lock(&self, name: &str) -> Result<Option<OwnedFd>, StoreError> {
        let file = self.lock_file(name)?;
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(file)),
            Err(Errno::WOULDBLOCK) => Ok(None),
            Err(error) => Err(self.unlockable(name)(error.into())),
        }
    }

    fn lock_file(&self, name: &str) -> Result<OwnedFd, StoreError> {
        let path = self.folder.join(name);
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(0o600);
        let opened = options.open(&path).or_else(|error| match error.kind() {
            // A store on a read-only disk can still be read from.
            io::ErrorKind::ReadOnlyFilesystem => File::open(&path),
            _ => Err(error),
        });
        opened.map(OwnedFd::from).map_err(self.unlockable(name))
    }

    fn unlockable(&self, name: &str) -> impl Fn(io::Error) -> StoreError {
        io_error(format!("lock `{}`", self.folder.join(name)))
    }

    /// The same for a moment, unless there is no store.
    pub(super) fn lock_if_there(&self) -> Result<Option<OwnedFd>, StoreError> {
        match fs::metadata(self.folder.join("images")) {
            Ok(_) => self.lock("lock").map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(io_error(format!("read `{}`", self.folder))(error)),
        }
    }

    /// A new folder of ours.
    pub(super) fn temp(&self) -> Result<Temp, StoreError> {
        // Nobody cleans between its making and its lock.
        let _lock = self.lock("lock")?;
        let parent = self.folder.join("tmp");
        let failed = io_error(format!("make a folder in `{parent}`"));
        let mut number = 0_u64;
        let path = loop {
            let path = parent.join(format!("{}-{number}", std::process::id()));
            match fs::DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => break path,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                Err(error) => return Err(failed(error)),
            }
        };
        let lock: OwnedFd = File::open(&path).map_err(&failed)?.into();
        rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive)
            .map_err(|error| failed(error.into()))?;
        Ok(Temp {
            parent: File::open(&parent).map_err(&failed)?.into(),
            name: path.file_name().unwrap_or_default().to_owned(),
            path,
            lock,
        })
    }

    /// Removes the folders of makers that are gone; the store is locked.
    pub(super) fn clean_temps(&self, dry_run: bool) -> Result<Vec<String>, StoreError> {
        let folder = self.folder.join("tmp");
        let failed = io_error(format!("clean `{folder}`"));
        let parent: OwnedFd = match File::open(&folder) {
            Ok(opened) => opened.into(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(failed(error)),
        };
        let mut lines = Vec::new();
        let mut names = super::trash::names(&parent).map_err(|error| failed(error.into()))?;
        names.sort();
        for name in names {
            let Ok(name) = name.into_string() else { continue };
            let path = folder.join(&name);
            let Ok(opened) = File::open(&path) else { continue };
            if rustix::fs::flock(&opened, FlockOperation::NonBlockingLockExclusive).is_err() {
                continue;
            }
            if !dry_run {
                remove(&parent, &name).map_err(|error| failed(error.into()))?;
            }
            lines.push(format!("unfinished image `{path}`"));
        }
        Ok(lines)
    }
}
