//! Merge keys: `<<: *defaults`, `<<: [*a, *b]`.

use super::node::{Node, Value};
use super::read::YamlFault;

/// Fills in what `<<` stands for: keys written beside it win, then those of earlier mappings.
pub(super) fn merged(entries: Vec<(Node, Node)>) -> Result<Vec<(Node, Node)>, YamlFault> {
    let is_merge =
        |key: &Node| matches!(&key.value, Value::Scalar { text, plain: true } if text.as_str() == "<<");
    if !entries.iter().any(|(key, _)| is_merge(key)) {
        return Ok(entries);
    }
    let (merges, mut kept): (Vec<_>, Vec<_>) = entries.into_iter().partition(|(key, _)| is_merge(key));
    let mut names: std::collections::BTreeSet<String> = kept
        .iter()
        .filter_map(|(k, _)| k.text().map(str::to_owned))
        .collect();
    for (key, value) in merges {
        for source in sources(&key, value)? {
            for (key, value) in source {
                if names.insert(key.text().unwrap_or_default().to_owned()) {
                    kept.push((key, value));
                }
            }
        }
    }
    Ok(kept)
}

fn sources(key: &Node, value: Node) -> Result<Vec<Vec<(Node, Node)>>, YamlFault> {
    let wrong = || YamlFault::new("`<<` takes a mapping or a list of mappings", key.span.clone());
    match value.value {
        Value::Mapping(entries) => Ok(vec![entries]),
        Value::Sequence(items) => items
            .into_iter()
            .map(|item| match item.value {
                Value::Mapping(entries) => Ok(entries),
                Value::Scalar { .. } | Value::Sequence(_) => Err(wrong()),
            })
            .collect(),
        Value::Scalar { .. } => Err(wrong()),
    }
}
