//! A scanned text and a row make a file.

use std::sync::Arc;

use findings::{Finding, SourceFile};
use serde_json::{Map, Value};

use super::rows::Row;
use super::scan::{Part, Placeholder};
use crate::load::rules;

/// Why a placeholder has no text in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum NoText {
    /// The row has no such field.
    Unknown,
    /// The value is this, which has no one spelling.
    Kind(&'static str),
}

/// Renders `text`, which `parts` are of; every placeholder without a text goes to `missing` and renders to nothing.
/// Stops once the text is longer than `room` bytes: one value can stand in a file as often as there is place for its name.
pub(super) fn render_text<'a>(
    text: &str,
    parts: &'a [Part],
    id: &str,
    fields: &Map<String, Value>,
    room: u64,
    missing: &mut Vec<(&'a Placeholder, NoText)>,
) -> String {
    let mut out = String::with_capacity(text.len());
    for part in parts {
        if out.len() as u64 > room {
            break;
        }
        match part {
            Part::Text(range) => out.push_str(text.get(range.clone()).unwrap_or_default()),
            Part::Placeholder(placeholder) => match lookup(placeholder, id, fields) {
                Ok(value) => out.push_str(&value),
                Err(why) => missing.push((placeholder, why)),
            },
        }
    }
    out
}

fn lookup(placeholder: &Placeholder, id: &str, fields: &Map<String, Value>) -> Result<String, NoText> {
    let path: Vec<&str> = placeholder.path.iter().map(String::as_str).collect();
    let path = match path.as_slice() {
        ["task_id"] => return Ok(id.to_owned()),
        ["task_data"] if !fields.contains_key("task_data") => return Err(NoText::Kind("an object")),
        ["task_data", rest @ ..] if !rest.is_empty() => rest,
        path => path,
    };
    let mut at: Option<&Value> = None;
    for name in path {
        let next = match at {
            None => fields.get(*name),
            Some(Value::Object(map)) => map.get(*name),
            Some(_) => None,
        };
        at = Some(next.ok_or(NoText::Unknown)?);
    }
    match at {
        Some(Value::String(s)) => Ok(s.clone()),
        Some(Value::Number(n)) => Ok(n.to_string()),
        Some(Value::Bool(_)) => Err(NoText::Kind("a boolean")),
        Some(Value::Null) => Err(NoText::Kind("null")),
        Some(Value::Array(_)) => Err(NoText::Kind("an array")),
        Some(Value::Object(_)) => Err(NoText::Kind("an object")),
        None => Err(NoText::Unknown),
    }
}

/// Returns the finding for a placeholder of `source` that has no text in a row, or in all rows.
pub(super) fn no_text(
    source: &Arc<SourceFile>,
    row: &Row,
    placeholder: &Placeholder,
    why: NoText,
    all: bool,
) -> Finding {
    let name = placeholder.path.join(".");
    let (line, file) = (row.line, "`tasks.jsonl`");
    let finding = match why {
        NoText::Unknown => {
            let message = if all {
                format!("`{{{{ {name} }}}}` names a field that no row of {file} has")
            } else {
                format!("`{{{{ {name} }}}}` names no field of line {line} of {file}")
            };
            let fields: Vec<String> = row.fields.keys().take(20).map(|k| format!("`{k}`")).collect();
            let has = if fields.is_empty() {
                "no field".to_owned()
            } else {
                fields.join(", ")
            };
            Finding::new(&rules::PLACEHOLDER_FIELD, message).help(format!("line {line} of {file} has {has}"))
        }
        NoText::Kind(kind) => {
            let place = if all {
                format!("every row of {file}")
            } else {
                format!("line {line} of {file}")
            };
            let message =
                format!("`{{{{ {name} }}}}` is {kind} in {place}, which has no one spelling in a text");
            Finding::new(&rules::PLACEHOLDER_KIND, message).help("write it as a string in the row")
        }
    };
    finding.at(source, placeholder.span)
}
