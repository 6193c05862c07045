//! Task folders that the manifest beside them does not list.

use std::collections::BTreeSet;

use findings::{Finding, Level, RuleMeta};
use task_model::Dataset;

use super::manifest::{Manifest, Meant, by_name, name_of, unlisted};
use crate::{Check, Found, Rule};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: "GD905",
        name: "unlisted-task",
        level: Level::Warning,
        summary: "dataset.toml lists the tasks beside it, but for this one: whoever runs the published set never sees it.",
        page: include_str!("../../../pages/unlisted-task.md"),
    },
    on: true,
    check: Check::Dataset(check),
};

fn check(dataset: &Dataset, found: &mut Found) {
    let Some(manifest) = Manifest::of(dataset) else {
        return;
    };
    let local = by_name(dataset);
    let Some(listed) = manifest.listed(&local) else {
        return;
    };
    let rest = unlisted(dataset, &listed);
    let meant = Meant::of(&rest);
    // An entry that names the folder wrongly is said once, at the entry.
    let misnamed: BTreeSet<&str> = listed
        .iter()
        .filter(|name| !local.contains_key(name.value.as_str()))
        .filter_map(|name| meant.by(&name.value))
        .map(|task| task.id.as_str())
        .collect();
    for task in rest {
        if !task.selected || misnamed.contains(task.id.as_str()) {
            continue;
        }
        let (message, help) = match name_of(task) {
            Some(name) => (
                format!("dataset.toml lists other tasks of this folder and not `{name}`"),
                "`harbor add` lists it; move a draft elsewhere, or ignore the rule for it".to_owned(),
            ),
            None => (
                format!(
                    "dataset.toml lists other tasks of this folder, and `{}` has no `[task].name` to be listed by",
                    task.id
                ),
                "give it a name with `harbor task update`, then `harbor add` lists it".to_owned(),
            ),
        };
        let finding = Finding::new(&RULE.meta, message)
            .in_task(task.id.clone())
            .at_path(task.folder.join("task.toml"))
            .help(help);
        found.add(finding);
    }
}
