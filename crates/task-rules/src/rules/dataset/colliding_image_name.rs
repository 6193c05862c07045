//! Names that are the same once they are image names.

use findings::{Finding, Level, Location, RuleMeta};
use task_model::{Dataset, Task};

use super::clashes::clashes;
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
    // Ids that differ in case alone are loading's to tell.
    let clash = |a: &Task, b: &Task| !a.id.eq_ignore_ascii_case(&b.id);
    for (task, other) in clashes(dataset, |task| Some(cleaned(&task.id)), clash) {
        let message = format!(
            "`{}` and `{}` both become the image name `{}`",
            other.id,
            task.id,
            cleaned(&task.id)
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
