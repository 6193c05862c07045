//! task.toml: values that load and are not meant.

pub(crate) mod literal_secret;
pub(crate) mod odd_timeout;
