//! The rules, a folder a family, a file a rule.

pub(crate) mod container;
pub(crate) mod dataset;
pub(crate) mod files;
pub(crate) mod harbor;
pub(crate) mod image;
pub(crate) mod settings;
pub(crate) mod shell;
