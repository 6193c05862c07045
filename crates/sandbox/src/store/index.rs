//! Names and what they lead to, and what is known of an unpacked image.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;

use camino::Utf8PathBuf;
use rustix::fs::FlockOperation;
use serde::{Deserialize, Serialize};

use super::digest::hex_of;
use super::layer::Owners;
use super::{InUse, Store, StoreError, Stored, config, io_error};

/// The only version so far.
const VERSION: u32 = 1;
/// Larger files of the store are not ours.
const MOST: u64 = 64 << 20;

/// `index.json`.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Index {
    version: u32,
    pub(super) images: BTreeMap<String, Named>,
}

/// What a name leads to.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Named {
    pub(super) id: String,
    pub(super) manifest: Option<String>,
}

/// `image.json`.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct About {
    pub(super) bytes: u64,
    /// The image's configuration as it came.
    pub(super) config: String,
}

impl Store {
    /// Where an image with that id is, or would be.
    pub(super) fn image_folder(&self, id: &str) -> Result<Utf8PathBuf, StoreError> {
        let hex =
            hex_of(id).ok_or_else(|| StoreError::Refused(format!("`{id}` is not an image of the store")))?;
        Ok(self.folder.join("images").join(self.owners_name()).join(hex))
    }

    /// Files of different owners never meet.
    pub(super) fn owners_name(&self) -> String {
        match self.owners {
            Owners::From(base) => format!("from-{base}"),
            Owners::Caller => "caller".to_owned(),
        }
    }

    fn read(path: &camino::Utf8Path) -> Result<Option<Vec<u8>>, StoreError> {
        let failed = io_error(format!("read `{path}`"));
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        let mut bytes = Vec::new();
        file.take(MOST).read_to_end(&mut bytes).map_err(failed)?;
        Ok(Some(bytes))
    }

    pub(super) fn index(&self) -> Result<Index, StoreError> {
        let path = self.folder.join("index.json");
        let Some(bytes) = Self::read(&path)? else {
            return Ok(Index {
                version: VERSION,
                images: BTreeMap::new(),
            });
        };
        let index: Option<Index> = serde_json::from_slice(&bytes).ok();
        index.filter(|index| index.version == VERSION).ok_or_else(|| {
            StoreError::Refused(format!(
                "`{path}` is not one that this version writes; remove the store"
            ))
        })
    }

    /// Lets names lead to images.
    pub(super) fn name_all(&self, stored: &[Stored]) -> Result<(), StoreError> {
        let _lock = self.lock("lock")?;
        let mut index = self.index()?;
        for image in stored {
            let named = Named {
                id: image.id.clone(),
                manifest: image.manifest.clone(),
            };
            index.images.insert(image.name.clone(), named);
        }
        let path = self.folder.join("index.json");
        let new = self.folder.join("index.json.new");
        let written = serde_json::to_vec_pretty(&index)
            .map_err(io::Error::other)
            .and_then(|mut bytes| {
                bytes.push(b'\n');
                let mut file = File::create(&new)?;
                file.write_all(&bytes)?;
                file.sync_all()?;
                fs::rename(&new, &path)
            });
        written.map_err(io_error(format!("write `{path}`")))
    }

    /// What is known of an image; `None` when it is not there.
    pub(super) fn about(&self, id: &str) -> Result<Option<About>, StoreError> {
        let path = self.image_folder(id)?.join("image.json");
        let Some(bytes) = Self::read(&path)? else {
            return Ok(None);
        };
        serde_json::from_slice(&bytes).map(Some).map_err(|_| {
            StoreError::Refused(format!(
                "`{path}` is not one that this version writes; remove the store"
            ))
        })
    }

    /// Holds on to an image; the store is locked.
    pub(super) fn use_image(&self, id: &str) -> Result<Option<InUse>, StoreError> {
        let Some(about) = self.about(id)? else {
            return Ok(None);
        };
        let folder = self.image_folder(id)?;
        let failed = io_error(format!("read `{folder}`"));
        let lock: OwnedFd = File::open(&folder).map_err(&failed)?.into();
        rustix::fs::flock(&lock, FlockOperation::NonBlockingLockShared)
            .map_err(|error| failed(error.into()))?;
        let config = config::settings(about.config.as_bytes()).map_err(|error| {
            StoreError::Refused(format!("the configuration of `{id}` cannot be read: {error}"))
        })?;
        Ok(Some(InUse {
            id: id.to_owned(),
            config,
            root: folder.join("root"),
            base: match self.owners {
                Owners::From(base) => Some(base),
                Owners::Caller => None,
            },
            _lock: lock,
        }))
    }

    /// Removes images that no name leads to; the store is locked.
    pub(super) fn clean_images(&self, dry_run: bool) -> Result<Vec<String>, StoreError> {
        let index = self.index()?;
        let failed = io_error(format!("clean `{}`", self.folder));
        let mut lines = Vec::new();
        for owners in sorted(&self.folder.join("images")).map_err(&failed)? {
            for image in sorted(&owners).map_err(&failed)? {
                let hex = image.file_name().unwrap_or_default();
                let id = format!("sha256:{hex}");
                if hex_of(&id).is_none() || index.images.values().any(|named| named.id == id) {
                    continue;
                }
                let opened = File::open(&image).map_err(&failed)?;
                if rustix::fs::flock(&opened, FlockOperation::NonBlockingLockExclusive).is_err() {
                    continue;
                }
                if !dry_run {
                    let parent: OwnedFd = File::open(&owners).map_err(&failed)?.into();
                    super::temp::remove(&parent, hex).map_err(|error| failed(error.into()))?;
                }
                lines.push(format!("image `{id}` without a name"));
            }
        }
        Ok(lines)
    }
}

fn sorted(folder: &camino::Utf8Path) -> io::Result<Vec<Utf8PathBuf>> {
    let mut paths = Vec::new();
    for entry in folder.read_dir_utf8()? {
        paths.push(entry?.into_path());
    }
    paths.sort();
    Ok(paths)
}
