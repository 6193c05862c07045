//! Digests of a manifest that are of other contents.

use std::collections::BTreeMap;

use findings::{Finding, Level, RuleMeta};
use task_model::dataset::{listed_file_hashes, stale_digests};
use task_model::{Dataset, Origin};

use super::manifest::Manifest;
use crate::{Check, Found, Rule};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: "GD904",
        name: "stale-manifest-digest",
        level: Level::Warning,
        summary: "A digest in dataset.toml is not that of the task or file beside it: whoever runs the set by its manifest gets another one.",
        page: include_str!("../../../pages/stale-manifest-digest.md"),
    },
    on: true,
    check: Check::Dataset(check),
};

fn check(dataset: &Dataset, found: &mut Found) {
    let Some(Manifest { source, root }) = Manifest::of(dataset) else {
        return;
    };
    let mut hashes: BTreeMap<String, Option<String>> = BTreeMap::new();
    for task in &dataset.tasks {
        let Some(package) = task.declared.as_ref().and_then(|toml| toml.task.as_ref()) else {
            continue;
        };
        // Of two tasks with one name neither is meant.
        let twice = hashes.contains_key(&package.name.value);
        let counts = task.selected && task.loads.harbor && task.origin == Origin::Folder && !twice;
        hashes.insert(package.name.value.clone(), task.digest.clone().filter(|_| counts));
    }
    let known: Vec<(String, String)> = hashes
        .into_iter()
        .filter_map(|(name, hash)| Some((name, hash?)))
        .collect();
    let files = listed_file_hashes(&dataset.root, &root);
    let stale = stale_digests(&root, "tasks", "name", &known);
    for stale in stale
        .into_iter()
        .chain(stale_digests(&root, "files", "path", &files))
    {
        // What is no digest at all is loading's to tell.
        if !stale
            .value
            .as_str()
            .is_some_and(|text| text.starts_with("sha256:"))
        {
            continue;
        }
        let message = format!("the digest of `{}` is `{}` today", stale.name, stale.current);
        let finding = Finding::new(&RULE.meta, message)
            .at(source, stale.value.span)
            .help("`--fix` writes it, and so does `harbor sync`");
        found.add(finding);
    }
}
