//! The object of `image list --format json`.

use camino::Utf8PathBuf;
use schemars::JsonSchema;
use serde::Serialize;

/// The images of a store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ImageListReport {
    /// Layout version, 1.
    pub schema: u32,
    /// The store's folder.
    #[schemars(with = "String")]
    pub store: Utf8PathBuf,
    /// Sorted by name.
    pub images: Vec<ListedImage>,
}

/// A name and the image it leads to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ListedImage {
    /// In full: registry, repository and tag or digest.
    pub name: String,
    /// The image's own digest, `sha256:` and 64 hex digits.
    pub id: String,
    /// Digest of the manifest it came with.
    pub manifest: Option<String>,
    /// Bytes of all files of all layers.
    pub bytes: u64,
}
