//! What a published dataset will not do as Gym did.

use findings::Finding;
use task_model::dataset::Settings;
use task_model::toml_text;
use task_model::{Dataset, Task};

use super::{PlanOptions, RootFile};
use crate::rules;

/// Warns of the settings of `[gym]` that change how Gym runs a task and that Harbor will not read.
pub(super) fn settings_lost(tasks: &[&Task], settings: &Settings, options: PlanOptions) -> Vec<Finding> {
    let mut found = Vec::new();
    let Some(source) = &settings.source else {
        return found;
    };
    let root = toml_text::parse(source.path(), source.text().as_bytes()).root;
    let defaults = root
        .as_ref()
        .and_then(|root| root.table("gym")?.table("defaults"));
    let place = |name: &str| {
        defaults
            .and_then(|table| table.entry(name))
            .map(|entry| entry.key.span)
            .unwrap_or_default()
    };
    let help = "`--bake-overrides` writes the resulting values into each task.toml";
    for (name, factor) in [
        ("timeout_multiplier", settings.timeout_multiplier),
        ("resource_multiplier", settings.resource_multiplier),
    ] {
        let Some(factor) = factor.filter(|factor| *factor != 1.0 && !options.bake_overrides) else {
            continue;
        };
        let message = format!("Harbor does not multiply by `{name}` = {factor}");
        found.push(
            Finding::new(&rules::SETTING_LOST, message)
                .at(source, place(name))
                .help(help),
        );
    }
    for task in tasks {
        let Some(over) = settings.overrides.get(&task.id) else {
            continue;
        };
        if !over.environment_keys.is_empty() && !options.bake_overrides {
            let keys: Vec<String> = over
                .environment_keys
                .iter()
                .map(|key| format!("`{key}`"))
                .collect();
            let message = format!(
                "Harbor does not apply this override of `{}`: {}",
                task.id,
                keys.join(", ")
            );
            let finding = Finding::new(&rules::SETTING_LOST, message)
                .at(source, over.key)
                .help(help);
            found.push(finding.in_task(&task.id));
        }
        if over.inputs.as_ref().is_some_and(|inputs| !inputs.is_empty()) {
            let message = format!(
                "Harbor has no `inputs`: it empties nothing, and what a sidecar of `{}` writes stays",
                task.id
            );
            let finding = Finding::new(&rules::SETTING_LOST, message)
                .at(source, over.key)
                .help("let test.sh remove what it does not expect in `/logs/verifier`");
            found.push(finding.in_task(&task.id));
        }
    }
    found
}

/// Names the files of the dataset's root that stay with the source.
pub(super) fn root_left_out(dataset: &Dataset, files: &[RootFile]) -> Option<Finding> {
    let known = ["tasks.jsonl", "task_data.py", "verifier.py"];
    let left: Vec<String> = known
        .into_iter()
        .filter(|name| dataset.root.join(name).is_file() && !files.iter().any(|file| file.name == *name))
        .map(|name| format!("`{name}`"))
        .collect();
    if left.is_empty() {
        return None;
    }
    let message = format!("not part of the published dataset: {}", left.join(", "));
    let finding = Finding::new(&rules::LEFT_OUT, message)
        .help("each published task carries what it needs of them; keep the source as well");
    Some(finding.at_path(dataset.root.clone()))
}
