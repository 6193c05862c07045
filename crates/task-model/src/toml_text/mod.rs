//! TOML 1.0 as Python's `tomllib` reads it: universal newlines, big integers, and a span for every value.
//!
//! [`parse()`] takes the bytes of a file and returns its text (for findings to point into), its root [`Table`] when
//! the file is TOML, and every fault found. Both task.toml and dataset.toml come through here.
//!
//! ```
//! let parsed = task_model::toml_text::parse("task.toml", b"[agent]\ntimeout_sec = 60\n");
//! let root = parsed.root.expect("this is TOML");
//! let limit = root.table("agent").and_then(|agent| agent.get("timeout_sec"));
//! assert_eq!(limit.and_then(|value| value.as_i64()), Some(60));
//! ```
//!
//! Spans are byte ranges of the original text: CRLF line ends and lone CRs stay where they were, while the values
//! of multi-line strings hold LF only, as Python's universal newlines make them.
//!
//! Where we stop and `tomllib` goes on, on purpose: a file of more than [`MAX_BYTES`] or more than four million
//! tokens, keys and values nested more than 1,000 levels, and brackets nested so deep that Python's
//! recursion limit is near (450 arrays, 300 inline tables; Python ends at 495 and 329 when nothing else is on its
//! stack).

mod build;
mod complaint;
mod decode;
mod events;
mod nodes;
mod parse;
mod rules;
mod scalar;
mod splice;
mod value;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;

pub use decode::MAX_BYTES;
pub use parse::{Parsed, parse};
pub use rules::RULES;
pub use splice::splice;
pub use value::{Entry, Integer, Key, Table, TableKind, Value, ValueKind};
