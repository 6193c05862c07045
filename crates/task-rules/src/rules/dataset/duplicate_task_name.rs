//! One name, two tasks.

use findings::{Finding, Level, Location, RuleMeta};
use task_model::Dataset;

use super::clashes::clashes;
use super::manifest::{at_name, folder_name};
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
    for (task, other) in clashes(dataset, folder_name, |_, _| true) {
        let Some(name) = folder_name(task) else { continue };
        let message = format!("`{}` has the name `{name}` of `{}`", task.id, other.id);
        let finding = Finding::new(&RULE.meta, message)
            .in_task(task.id.clone())
            .see(Location::Path(other.folder.join("task.toml")), "the other task");
        found.add(at_name(finding, task).help("give each task a name of its own"));
    }
}
