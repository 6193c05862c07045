//! `ports` of a service: whether one is the host's own.

use crate::yaml::{Node, Value};

/// Says whether `ports` name a port of the host, which two trials cannot both have; without one the engine picks any that
/// is free.
pub(super) fn fixed(ports: &Node) -> bool {
    match &ports.value {
        Value::Sequence(items) => items.iter().any(is_fixed),
        _ => !ports.is_null(),
    }
}

fn is_fixed(port: &Node) -> bool {
    let given = |text: &str| !matches!(text, "" | "0");
    if port.entries().is_some() {
        let published = port.get("published").filter(|published| !published.is_null());
        return published.is_some_and(|published| published.text().is_none_or(given));
    }
    // `address:host:container/protocol`, the first two at will.
    let Some(text) = port.text() else { return true };
    let before = text.rsplit_once(':').map(|(before, _)| before);
    before.is_some_and(|before| given(before.rsplit(':').next().unwrap_or_default()))
}
