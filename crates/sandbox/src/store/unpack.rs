//! Unpacking an image, once, and putting it in its place in one step.

use std::fs::{self, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt as _;

use super::digest::Hashing;
use super::index::About;
use super::layer::Unpacker;
use super::layout::{Found, Layer, mismatch, missing};
use super::source::Source;
use super::temp::Temp;
use super::{Bounds, InUse, Store, StoreError, cause, io_error, packed};

/// Bytes of a tar stream for each entry beside its contents, at most on average.
const ENTRY_OVERHEAD: u64 = 4096;

impl Store {
    /// Unpacks an image unless it is there; its size, and a hold on it until it has a name.
    pub(super) fn unpack(
        &self,
        source: &Source,
        image: &Found,
        temp: &Temp,
    ) -> Result<(u64, InUse), StoreError> {
        // A second process waits, and then finds it.
        let _adding = self.lock("adding.lock")?;
        if let Some(there) = self.there(&image.id)? {
            return Ok(there);
        }
        let folder = self.image_folder(&image.id)?;
        let new = temp.path().join("image");
        let root = new.join("root");
        let failed = io_error(format!("unpack an image into `{new}`"));
        for path in [&new, &root] {
            fs::DirBuilder::new().mode(0o700).create(path).map_err(&failed)?;
        }
        let opened: OwnedFd = File::open(&root).map_err(&failed)?.into();
        let mut unpacker = Unpacker::new(
            opened,
            (temp.trash()?, self.pool(temp)?),
            self.owners,
            self.bounds,
        );
        unpacker.root_folder();
        for layer in &image.layers {
            one_layer(&mut unpacker, source, layer, self.bounds)?;
        }
        let left = unpacker.finish()?;
        let about = About {
            bytes: self.bounds.bytes.saturating_sub(left.bytes),
            config: String::from_utf8(image.config.clone())
                .map_err(|_| StoreError::Refused("the image's configuration is not UTF-8".to_owned()))?,
        };
        super::config::settings(about.config.as_bytes()).map_err(|error| {
            StoreError::Refused(format!("the image's configuration cannot be read: {error}"))
        })?;
        let written = serde_json::to_vec(&about)
            .map_err(io::Error::other)
            .and_then(|bytes| fs::write(new.join("image.json"), bytes))
            .and_then(|()| Ok(rustix::fs::syncfs(File::open(&new)?)?));
        written.map_err(&failed)?;
        let parent = folder.parent().unwrap_or(&self.folder);
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(parent)
            .map_err(&failed)?;
        let _lock = self.lock("lock")?;
        // Without its `image.json` it is nothing: what is left of a removal that was cut off.
        let parent_open: OwnedFd = File::open(parent).map_err(&failed)?.into();
        let name = folder.file_name().unwrap_or_default();
        if fs::symlink_metadata(&folder).is_ok() {
            super::temp::remove(&parent_open, name).map_err(|error| failed(error.into()))?;
        }
        fs::rename(&new, &folder).map_err(&failed)?;
        let held = self.use_image(&image.id)?;
        held.map(|held| (about.bytes, held))
            .ok_or_else(|| StoreError::Refused(format!("`{folder}` vanished")))
    }

    fn there(&self, id: &str) -> Result<Option<(u64, InUse)>, StoreError> {
        let _lock = self.lock("lock")?;
        let about = self.about(id)?;
        let held = self.use_image(id)?;
        Ok(about.zip(held).map(|(about, held)| (about.bytes, held)))
    }
}

/// Puts one layer on, and checks every digest that names it.
fn one_layer(
    unpacker: &mut Unpacker,
    source: &Source,
    layer: &Layer,
    bounds: Bounds,
) -> Result<(), StoreError> {
    let (file, size) = source.read(&layer.file)?.ok_or_else(|| missing(&layer.file))?;
    let broken = |error: io::Error| {
        StoreError::Refused(format!(
            "the layer `{}` cannot be read: {}",
            layer.file,
            cause(&error)
        ))
    };
    let most = bounds
        .entries
        .saturating_mul(ENTRY_OVERHEAD)
        .saturating_add(bounds.bytes);
    let mut packed = Hashing::new(file, size);
    let stream = packed::unpacked(&mut packed).map_err(broken)?;
    let mut stream = Hashing::new(stream, most);
    unpacker.layer(&mut stream)?;
    let unpacked_digest = stream.finish().map_err(broken)?;
    let digest = packed.finish().map_err(broken)?;
    if layer.digest.as_ref().is_some_and(|named| *named != digest) || layer.unpacked != unpacked_digest {
        return Err(mismatch(&layer.file));
    }
    Ok(())
}
