//! Names that are the same without their organisation, or without regard to case.

use std::collections::BTreeMap;

use findings::{Finding, Level, RuleMeta};
use task_model::{Dataset, Origin, Task};

use super::manifest::{name_of, short};
use crate::{Check, Found, Rule};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: "GD908",
        name: "colliding-short-name",
        level: Level::Warning,
        summary: "The names of two tasks are the same without organisation and case: exported side by side, one takes the other's place.",
        page: include_str!("../../../pages/colliding-short-name.md"),
    },
    on: true,
    check: Check::Dataset(check),
};

fn check(dataset: &Dataset, found: &mut Found) {
    let mut first: BTreeMap<String, (&Task, &str)> = BTreeMap::new();
    for task in &dataset.tasks {
        let Some(name) = name_of(task).filter(|_| task.selected && task.origin == Origin::Folder) else {
            continue;
        };
        let key = short(name).to_ascii_lowercase();
        let Some((other, same)) = first.get(&key) else {
            first.insert(key, (task, name));
            continue;
        };
        // One name for two tasks has a rule of its own, and so have folders that differ in case alone.
        if *same == name || other.id.eq_ignore_ascii_case(&task.id) {
            continue;
        }
        let message = format!("`{same}` and `{name}` both become the folder `{}`", short(name));
        let finding = Finding::new(&RULE.meta, message).in_task(task.id.clone());
        let span = task.declared.as_ref().and_then(|toml| toml.task.as_ref());
        let finding = match (&task.toml_source, span) {
            (Some(source), Some(package)) => finding.at(source, package.name.span),
            _ => finding.at_path(task.folder.join("task.toml")),
        };
        found.add(finding.help("give one of them another name behind the `/`"));
    }
}
