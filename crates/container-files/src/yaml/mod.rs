//! One YAML document as a tree of nodes with their places, for text that nobody vouches for.
//!
//! Aliases and merge keys are resolved as the YAML library under Compose does it; a document that expands to too much, nests
//! too deep, names a key twice or uses a tag of its own is refused.

mod merge;
mod node;
mod read;

pub use node::{Node, Value};
pub use read::YamlFault;

pub(crate) use read::read;
