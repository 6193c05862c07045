//! Names that are the same without their organisation, or without regard to case.

use findings::{Finding, Level, RuleMeta};
use task_model::{Dataset, Task};

use super::clashes::clashes;
use super::manifest::{at_name, folder_name, short};
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
    let key = |task| folder_name(task).map(|name| short(name).to_ascii_lowercase());
    // One name for two tasks has a rule of its own, and so have folders that differ in case alone.
    let clash = |a: &Task, b: &Task| folder_name(a) != folder_name(b) && !a.id.eq_ignore_ascii_case(&b.id);
    for (task, other) in clashes(dataset, key, clash) {
        let (Some(name), Some(same)) = (folder_name(task), folder_name(other)) else {
            continue;
        };
        let message = format!("`{same}` and `{name}` both become the folder `{}`", short(name));
        let finding = Finding::new(&RULE.meta, message).in_task(task.id.clone());
        found.add(at_name(finding, task).help("give one of them another name behind the `/`"));
    }
}
