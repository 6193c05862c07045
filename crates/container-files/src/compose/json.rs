//! Nodes as JSON for a Compose file without variables.

use serde_json::{Map, Number, Value as Json};

use crate::yaml::{Node, Value};

/// Returns a node as JSON, every `$` doubled so that Compose fills in nothing more.
pub(super) fn json(node: &Node) -> Json {
    match &node.value {
        Value::Scalar { text, plain } => scalar(text, *plain),
        Value::Sequence(items) => Json::Array(items.iter().map(json).collect()),
        Value::Mapping(entries) => {
            let entries = entries.iter();
            let pair = |(key, value): &(Node, Node)| (key.text().unwrap_or_default().to_owned(), json(value));
            Json::Object(entries.map(pair).collect::<Map<_, _>>())
        }
    }
}

/// Returns text as JSON, every `$` doubled.
pub(super) fn text(text: &str) -> Json {
    Json::String(text.replace('$', "$$"))
}

/// Says whether Compose takes a text for true, quoted or not, where a yes or no must stand.
pub(super) fn is_true(text: &str) -> bool {
    matches!(
        text,
        "true" | "True" | "TRUE" | "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON"
    )
}

/// A plain scalar is what the YAML library under Compose takes it for.
fn scalar(written: &str, plain: bool) -> Json {
    if !plain {
        return text(written);
    }
    match written {
        "" | "~" | "null" | "Null" | "NULL" => Json::Null,
        "true" | "True" | "TRUE" => Json::Bool(true),
        "false" | "False" | "FALSE" => Json::Bool(false),
        _ => number(written).unwrap_or_else(|| text(written)),
    }
}

fn number(written: &str) -> Option<Json> {
    let digits = written.strip_prefix('-').unwrap_or(written);
    let octal = digits
        .strip_prefix("0o")
        .or_else(|| digits.strip_prefix('0'))
        .filter(|o| !o.is_empty() && o.bytes().all(|b| matches!(b, b'0'..=b'7')));
    if let Some(octal) = octal.filter(|_| digits == written) {
        return i64::from_str_radix(octal, 8).ok().map(Json::from);
    }
    let simple = digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.ends_with(|c: char| c.is_ascii_digit())
        && digits.bytes().all(|b| b.is_ascii_digit() || b == b'.')
        && written.len() <= 32;
    if simple {
        written.parse::<Number>().ok().map(Json::Number)
    } else {
        None
    }
}
