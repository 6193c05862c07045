//! Two folders, one content.

use findings::{Finding, Level, Location, RuleMeta};
use task_model::Dataset;

use super::clashes::clashes;
use crate::{Check, Found, Rule};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: "GD903",
        name: "duplicate-task-content",
        level: Level::Warning,
        summary: "Two tasks of a dataset have the same content hash: the same task counts twice.",
        page: include_str!("../../../pages/duplicate-task-content.md"),
    },
    on: true,
    check: Check::Dataset(check),
};

fn check(dataset: &Dataset, found: &mut Found) {
    for (task, other) in clashes(dataset, |task| task.digest.as_deref(), |_, _| true) {
        let message = format!("`{}` has the same content as `{}`", task.id, other.id);
        let finding = Finding::new(&RULE.meta, message)
            .in_task(task.id.clone())
            .at_path(task.folder.clone())
            .see(Location::Path(other.folder.clone()), "the other task")
            .help("remove one of them, or change what makes it another task");
        found.add(finding);
    }
}
