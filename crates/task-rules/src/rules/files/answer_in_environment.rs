//! The same file among the tests and in the agent's image.

use std::collections::BTreeMap;
use std::sync::Arc;

use findings::{Level, RuleMeta};
use task_model::TreeNode;

use crate::context::{TaskContext, size_of};
use crate::shell::Word;
use crate::{Check, Found, Rule};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: "GD830",
        name: "answer-in-environment",
        level: Level::Warning,
        summary: "A file of the solution, or what the tests expect, also lies in environment/, where the agent can find it.",
        page: include_str!("../../../pages/answer-in-environment.md"),
    },
    on: true,
    check: Check::Task(check),
};

/// Shorter files are alike by chance.
pub(crate) const SHORTEST: u64 = 24;
/// Longer ones are not compared.
pub(crate) const LONGEST: u64 = 4 << 20;

fn check(task: &TaskContext<'_>, found: &mut Found) {
    let tree = &task.task.tree;
    let mut by_size: BTreeMap<u64, Vec<&TreeNode>> = BTreeMap::new();
    for node in tree.under("environment") {
        if let Some(size) = size_of(node).filter(|size| (SHORTEST..=LONGEST).contains(size)) {
            by_size.entry(size).or_default().push(node);
        }
    }
    if by_size.is_empty() {
        return;
    }
    for node in tree.under("solution").iter().chain(tree.under("tests")) {
        if !is_answer(node) {
            continue;
        }
        let Some(size) = size_of(node) else { continue };
        let Some(candidates) = by_size.get(&size) else {
            continue;
        };
        let Ok(bytes) = tree.read(&node.path, LONGEST) else {
            continue;
        };
        let same = |other: &&&TreeNode| {
            tree.read(&other.path, LONGEST)
                .is_ok_and(|more: Arc<[u8]>| more == bytes)
        };
        let stays = |other: &&&TreeNode| !is_removed(task, other);
        let Some(twin) = candidates.iter().filter(stays).find(same) else {
            continue;
        };
        let finding = task
            .finding(
                &RULE.meta,
                format!("`{}` has the same bytes as `{}`", twin.path, node.path),
            )
            .at_path(task.path(&twin.path))
            .help("keep it out of the image, or give the verifier something else to compare with");
        found.add(finding);
    }
}

/// Says whether the build takes a file away again: a patch that was applied is no longer there for the agent.
fn is_removed(task: &TaskContext<'_>, node: &TreeNode) -> bool {
    let (Some(name), Some(dockerfile)) = (node.path.file_name(), task.dockerfile("environment/Dockerfile"))
    else {
        return false;
    };
    let of_name = |word: &Word| {
        let text = word.literal.as_deref().unwrap_or_default();
        text.rsplit('/').next() == Some(name)
    };
    let mut commands = dockerfile
        .run_scripts()
        .iter()
        .flat_map(|run| &run.script.commands);
    commands.any(|command| {
        let is_rm = command.name.as_ref().and_then(|word| word.literal.as_deref()) == Some("rm");
        is_rm && command.arguments.iter().any(of_name)
    })
}

/// Says whether a file's name says that it holds what is right.
pub(crate) fn is_answer(node: &TreeNode) -> bool {
    let name = node.path.file_name().unwrap_or_default().to_ascii_lowercase();
    // What a program reads is given to the agent as well.
    if has_word(&name, "input") {
        return false;
    }
    if node.path.starts_with("solution") {
        return !matches!(
            name.as_str(),
            "dockerfile" | "requirements.txt" | "readme.md" | "license"
        );
    }
    names_an_answer(&name)
}

/// Says whether a lower-case name is one that people give to what is right.
pub(super) fn names_an_answer(name: &str) -> bool {
    ["expected", "answer", "golden", "solution", "reference"]
        .iter()
        .any(|word| has_word(name, word))
}

/// Says whether a word of a name begins so: `references.json` does with `reference`, `preferences.json` does not.
pub(super) fn has_word(name: &str, beginning: &str) -> bool {
    name.match_indices(beginning).any(|(at, _)| {
        let before = name.get(..at).and_then(|text| text.chars().next_back());
        before.is_none_or(|c| !c.is_alphabetic())
    })
}
