//! `deploy` of a service: one copy, limits, no devices.

use serde_json::{Map, Value as Json};

use super::json::json as to_json;
use super::judge::Bench;
use crate::yaml::Node;

pub(super) fn deploy(bench: &mut Bench<'_>, service: &str, node: &Node) -> Json {
    let mut kept = Map::new();
    for (key, value) in node.entries().unwrap_or_default() {
        match (key.text().unwrap_or_default(), value.text()) {
            ("resources", _) => {
                kept.insert("resources".to_owned(), resources(bench, service, value));
            }
            ("replicas", Some("1")) | ("mode", Some("replicated")) => {}
            ("replicas" | "mode", _) => bench.refuse(
                value,
                format!("`{service}` is to run more than once: nothing could tell the copies apart"),
            ),
            ("restart_policy", _) => {
                kept.insert("restart_policy".to_owned(), to_json(value));
            }
            ("labels" | "update_config" | "rollback_config" | "endpoint_mode", _) => {}
            (other, _) if other.starts_with("x-") => {}
            (other, _) => bench.refuse(key, format!("`deploy.{other}` of `{service}` is not allowed")),
        }
    }
    Json::Object(kept)
}

fn resources(bench: &mut Bench<'_>, service: &str, node: &Node) -> Json {
    let mut kept = Map::new();
    for (key, value) in node.entries().unwrap_or_default() {
        let which = key.text().unwrap_or_default();
        if !["limits", "reservations"].contains(&which) {
            bench.refuse(
                key,
                format!("`deploy.resources.{which}` of `{service}` is not allowed"),
            );
            continue;
        }
        for (key, _) in value.entries().unwrap_or_default() {
            let name = key.text().unwrap_or_default();
            if !["cpus", "memory", "pids"].contains(&name) {
                let message = format!("`deploy.resources.{which}.{name}` of `{service}` is not allowed");
                bench.refuse(key, message);
            }
        }
        kept.insert(which.to_owned(), to_json(value));
    }
    Json::Object(kept)
}
