//! Files that images have in common, kept once: hard links to one file for each content with its mode, owner and time.
//!
//! Two files of one image are never the same file unless the image says so: programs such as `mv` can tell.

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};

use camino::Utf8PathBuf;
use rustix::fs::{AtFlags, Mode};
use rustix::io::Errno;

use super::temp::Temp;
use super::{Store, StoreError, io_error};

/// Says that somebody adds files that may not be on the disk yet.
const ADDING: &str = "adding";

/// The pool while an image is being unpacked.
pub(super) struct Pool {
    folder: OwnedFd,
    path: Utf8PathBuf,
    /// Of the image at hand.
    used: BTreeSet<String>,
}

impl Pool {
    /// Puts a finished file in its place: a link to the one that the pool has, or this one, which the pool then has too.
    /// `made`: the folder and name of the finished file, which is gone after.
    pub(super) fn place(
        &mut self,
        key: &str,
        made: (&OwnedFd, &str),
        place: (&OwnedFd, &[u8]),
    ) -> Result<(), Errno> {
        if self.used.insert(key.to_owned()) {
            let (start, rest) = key.split_at_checked(2).ok_or(Errno::INVAL)?;
            let shelf = format!("{start}/{rest}");
            match rustix::fs::linkat(&self.folder, shelf.as_str(), place.0, place.1, AtFlags::empty()) {
                Ok(()) => return rustix::fs::unlinkat(made.0, made.1, AtFlags::empty()),
                Err(Errno::NOENT) => self.keep(start, &shelf, made)?,
                // As many links as a file can have.
                Err(Errno::MLINK) => {}
                Err(error) => return Err(error),
            }
        }
        rustix::fs::renameat(made.0, made.1, place.0, place.1)
    }

    fn keep(&self, start: &str, shelf: &str, made: (&OwnedFd, &str)) -> Result<(), Errno> {
        match rustix::fs::mkdirat(&self.folder, start, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error),
        }
        rustix::fs::linkat(made.0, made.1, &self.folder, shelf, AtFlags::empty())
    }
}

impl Drop for Pool {
    /// Also what a refused image left is whole, once it is on the disk. Only a crash leaves the mark.
    fn drop(&mut self) {
        if rustix::fs::syncfs(&self.folder).is_ok() {
            drop(fs::remove_file(self.path.join(ADDING)));
        }
    }
}

impl Store {
    /// Opens the pool; adding is locked. What a crash may have left half-written is given up: the images keep their files,
    /// the pool forgets them.
    pub(super) fn pool(&self, temp: &Temp) -> Result<Pool, StoreError> {
        let path = self.pool_folder();
        let failed = io_error(format!("make `{path}`"));
        if fs::symlink_metadata(path.join(ADDING)).is_ok() {
            let old = temp.path().join("pool");
            fs::rename(&path, &old).map_err(&failed)?;
        }
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&path)
            .and_then(|()| File::create(path.join(ADDING))?.sync_all())
            .and_then(|()| File::open(&path)?.sync_all())
            .map_err(&failed)?;
        Ok(Pool {
            folder: File::open(&path).map_err(&failed)?.into(),
            path,
            used: BTreeSet::new(),
        })
    }

    /// Removes the pool's files that no image has any more, unless somebody adds an image just now; the store is locked.
    pub(super) fn clean_pool(&self, dry_run: bool) -> Result<Option<String>, StoreError> {
        let path = self.pool_folder();
        let failed = io_error(format!("clean `{path}`"));
        let Some(_adding) = self.try_lock("adding.lock")? else {
            return Ok(None);
        };
        let shelves = match path.read_dir_utf8() {
            Ok(shelves) => shelves,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        let mut gone = 0_u64;
        for shelf in shelves {
            let shelf = shelf.map_err(&failed)?;
            if !shelf.file_type().map_err(&failed)?.is_dir() {
                continue;
            }
            for file in shelf.path().read_dir_utf8().map_err(&failed)? {
                let file = file.map_err(&failed)?.into_path();
                if fs::symlink_metadata(&file).map_err(&failed)?.nlink() == 1 {
                    gone += 1;
                    if !dry_run {
                        fs::remove_file(&file).map_err(&failed)?;
                    }
                }
            }
        }
        Ok((gone > 0).then(|| format!("{gone} file(s) of images that are gone")))
    }

    fn pool_folder(&self) -> Utf8PathBuf {
        self.folder.join("files").join(self.owners_name())
    }
}
