//! Compose files as data: their keys and services with places, read as Compose does before it fills in variables.

mod model;

pub use model::{ComposeFile, Field, Service};

use crate::yaml::{self, Node, YamlFault};

/// Reads a Compose file.
///
/// # Errors
/// When it is no YAML that Compose would take, passes a bound, or is no mapping of services.
pub fn parse(bytes: &[u8]) -> Result<ComposeFile, YamlFault> {
    ComposeFile::of(&yaml::read(bytes)?)
}

/// Returns a fault: `what` is some other kind of value than it must be.
fn wrong_kind(what: &str, node: &Node, wanted: &str) -> YamlFault {
    YamlFault::new(
        format!("{what} is {}, where {wanted} must stand", node.kind()),
        node.span.clone(),
    )
}
