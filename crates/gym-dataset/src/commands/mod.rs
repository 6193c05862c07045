//! One module a command.

pub(crate) mod clean;
pub(crate) mod completions;
pub(crate) mod digest;
pub(crate) mod image;
pub(crate) mod init;
pub(crate) mod publish;
pub(crate) mod render;
pub(crate) mod reward;
pub(crate) mod rule;
pub(crate) mod schema;
pub(crate) mod validate;
