//! Images: what they are built from.

pub(crate) mod separate_image_without_tests;
