//! Builds an image from a context that is sent as a stream.

use super::Shared;
use crate::image::{Image, ImageError, ImageRequest};

/// Builds, unless an image of the same digest is there.
pub(super) fn build(shared: &Shared, request: &ImageRequest) -> Result<Image, ImageError> {
    let _ = request;
    Err(ImageError::Required(format!("{} cannot build yet", shared.name)))
}
