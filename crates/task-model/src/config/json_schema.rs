//! JSON Schemas (draft 7, as editors of TOML read it) made of the tables of fields.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::field::{Field, Kind, TableKeys};
use super::fields::{ARTIFACT, ROOT};

/// Returns the JSON Schema of a task.toml.
#[must_use]
pub fn task_schema() -> Value {
    document("task.toml", "A task of Harbor and NeMo Gym.", &ROOT)
}

/// Returns a schema with `root` at its top.
pub(crate) fn document(title: &str, about: &str, root: &'static TableKeys) -> Value {
    let mut tables = Tables::default();
    let mut out = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": title,
        "description": about,
    });
    if let (Some(out), Value::Object(top)) = (out.as_object_mut(), tables.table(root)) {
        out.extend(top);
    }
    let mut made = Map::new();
    while let Some(next) = tables.waiting.pop() {
        let schema = tables.table(next);
        made.insert(name(next), schema);
    }
    made.sort_keys();
    out["definitions"] = Value::Object(made);
    out
}

/// Tables that are pointed at and those that are still to be described.
#[derive(Default)]
struct Tables {
    seen: BTreeSet<&'static str>,
    waiting: Vec<&'static TableKeys>,
}

impl Tables {
    fn refer(&mut self, table: &'static TableKeys) -> Value {
        if self.seen.insert(table.shown) {
            self.waiting.push(table);
        }
        json!({ "$ref": format!("#/definitions/{}", name(table)) })
    }

    fn table(&mut self, table: &'static TableKeys) -> Value {
        let mut properties = Map::new();
        for field in table.fields {
            properties.insert(field.name.to_owned(), self.field(field));
        }
        for field in table.legacy {
            let mut schema = self.field(field);
            schema["deprecated"] = json!(true);
            properties.insert(field.name.to_owned(), schema);
        }
        let required: Vec<&str> = table
            .fields
            .iter()
            .filter(|f| f.required)
            .map(|f| f.name)
            .collect();
        let mut out = json!({ "type": "object", "properties": properties, "additionalProperties": false });
        if !required.is_empty() {
            out["required"] = json!(required);
        }
        out
    }

    fn field(&mut self, field: &Field) -> Value {
        let kind = self.kind(&field.kind);
        let Value::Object(kind) = kind else {
            return json!({ "description": field.doc });
        };
        let mut out = json!({ "description": field.doc });
        if kind.contains_key("$ref") {
            // Draft 7 ignores what stands beside a reference.
            out["allOf"] = json!([kind]);
        } else if let Some(out) = out.as_object_mut() {
            out.extend(kind);
        }
        out
    }

    fn kind(&mut self, kind: &Kind) -> Value {
        let with_default = |mut schema: Value, default: Option<Value>| {
            if let Some(default) = default {
                schema["default"] = default;
            }
            schema
        };
        match kind {
            Kind::Text => json!({ "type": "string" }),
            Kind::Like(example) => json!({ "type": "string", "examples": [example] }),
            Kind::Size => json!({ "pattern": "[GgMmKk]\\s*$" }),
            Kind::OrgName => json!({
                "type": "string",
                "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9][A-Za-z0-9._-]*$",
                "examples": ["org/name"],
            }),
            Kind::Digest => json!({ "type": "string", "pattern": "^sha256:[0-9a-f]{64}$" }),
            Kind::Texts => json!({ "type": "array", "items": { "type": "string" } }),
            Kind::Boolean => json!({ "type": "boolean" }),
            Kind::Positive(default) => {
                let schema = json!({ "type": "number", "exclusiveMinimum": 0 });
                with_default(schema, default.map(|x| json!(x)))
            }
            Kind::Number(default) => with_default(json!({ "type": "number" }), default.map(|x| json!(x))),
            Kind::Whole(least, default) => {
                let schema = json!({ "type": "integer", "minimum": least });
                with_default(schema, default.map(|x| json!(x)))
            }
            Kind::Choice(words, default) => with_default(
                json!({ "type": "string", "enum": words }),
                default.map(|word| json!(word)),
            ),
            Kind::Words(lists) => {
                let words: Vec<&&str> = lists.iter().copied().flatten().collect();
                json!({ "type": "string", "anyOf": [{ "enum": words }, { "type": "string" }] })
            }
            Kind::User => json!({ "type": ["string", "integer"], "examples": ["agent", 1000] }),
            Kind::Env => json!({ "type": "object", "additionalProperties": { "type": "string" } }),
            Kind::Rewards => json!({ "anyOf": [
                { "type": "number" },
                { "type": "object", "additionalProperties": { "type": "number" } },
            ] }),
            Kind::Artifacts => {
                let table = self.refer(&ARTIFACT);
                json!({ "type": "array", "items": { "anyOf": [{ "type": "string" }, table] } })
            }
            Kind::Table(table) => self.refer(table),
            Kind::Tables(table) => {
                let items = self.refer(table);
                json!({ "type": "array", "items": items })
            }
            Kind::Named(table) => {
                let one = self.refer(table);
                json!({ "type": "object", "additionalProperties": one })
            }
            Kind::Free => json!({ "type": "object" }),
            Kind::Any => json!({}),
        }
    }
}

/// `[environment.tpu]` is `environment.tpu`.
fn name(table: &TableKeys) -> String {
    let plain = table.shown.trim_matches(['[', ']']);
    plain
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_'))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_that_is_pointed_at_is_there() {
        let schema = task_schema();
        let text = schema.to_string();
        let pointers = text.split("\"#/definitions/").skip(1);
        let mut seen = 0;
        for pointer in pointers {
            let name = pointer.split('"').next().unwrap();
            assert!(schema["definitions"].get(name).is_some(), "{name}");
            seen += 1;
        }
        assert!(seen >= 12, "{seen}");
        let image = &schema["definitions"]["environment"]["properties"]["docker_image"];
        assert_eq!(image["type"], "string");
        assert_eq!(
            schema["definitions"]["verifier"]["properties"]["timeout_sec"]["default"],
            600.0
        );
    }
}
