//! The rules, a folder a family, a file a rule.

pub(crate) mod container;
pub(crate) mod harbor;
pub(crate) mod shell;
