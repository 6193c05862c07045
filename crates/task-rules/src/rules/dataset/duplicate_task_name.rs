//! One name, two tasks.

use std::collections::BTreeMap;

use findings::{Finding, Level, Location, RuleMeta};
use task_model::{Dataset, Origin, Task};

use crate::{Check, Found, Rule};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: "GD902",
        name: "duplicate-task-name",
        level: Level::Error,
        summary: "Two tasks of a dataset have the same `[task].name`, under which Harbor publishes and finds them.",
        page: include_str!("../../../pages/duplicate-task-name.md"),
    },
    on: true,
    check: Check::Dataset(check),
};

fn check(dataset: &Dataset, found: &mut Found) {
    let mut first: BTreeMap<&str, &Task> = BTreeMap::new();
    for task in dataset
        .tasks
        .iter()
        .filter(|task| task.selected && task.origin == Origin::Folder)
    {
        let Some(package) = task.declared.as_ref().and_then(|toml| toml.task.as_ref()) else {
            continue;
        };
        let name = &package.name;
        let Some(other) = first.get(name.value.as_str()) else {
            first.insert(&name.value, task);
            continue;
        };
        let message = format!("`{}` has the name `{}` of `{}`", task.id, name.value, other.id);
        let finding = Finding::new(&RULE.meta, message)
            .in_task(task.id.clone())
            .see(Location::Path(other.folder.join("task.toml")), "the other task");
        let finding = match &task.toml_source {
            Some(source) => finding.at(source, name.span),
            None => finding.at_path(task.folder.join("task.toml")),
        };
        found.add(finding.help("give each task a name of its own"));
    }
}
