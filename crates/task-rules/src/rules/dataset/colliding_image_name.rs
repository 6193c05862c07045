//! Names that are the same once they are image names.

use std::collections::BTreeMap;

use findings::{Finding, Level, Location, RuleMeta};
use task_model::{Dataset, Task};

use crate::{Check, Found, Rule};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: "GD901",
        name: "colliding-image-name",
        level: Level::Warning,
        summary: "The ids of two tasks are the same once everything that an image name cannot hold is cleaned away.",
        page: include_str!("../../../pages/colliding-image-name.md"),
    },
    on: true,
    check: Check::Dataset(check),
};

fn check(dataset: &Dataset, found: &mut Found) {
    let mut first: BTreeMap<String, &Task> = BTreeMap::new();
    for task in dataset.tasks.iter().filter(|task| task.selected) {
        let name = cleaned(&task.id);
        let Some(other) = first.get(&name) else {
            first.insert(name, task);
            continue;
        };
        // Ids that differ in case alone are loading's to tell.
        if other.id == task.id || other.id.eq_ignore_ascii_case(&task.id) {
            continue;
        }
        let message = format!(
            "`{}` and `{}` both become the image name `{name}`",
            other.id, task.id
        );
        let finding = Finding::new(&RULE.meta, message)
            .in_task(task.id.clone())
            .at_path(task.folder.clone())
            .see(Location::Path(other.folder.clone()), "the other task")
            .help("rename one of them: letters, digits and `-` are safe");
        found.add(finding);
    }
}

/// Returns what is left of an id in an image name: lower case, everything else than letters, digits, `.`, `_` and `-`
/// dropped.
fn cleaned(id: &str) -> String {
    id.to_lowercase()
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'))
        .collect()
}
