//! The same file among the tests and in the agent's image.

use std::collections::{BTreeMap, BTreeSet};

use findings::{Level, RuleMeta};
use sha2::{Digest as _, Sha256};
use task_model::TreeNode;

use super::taken::Taken;
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
    let comparable = |node: &&TreeNode| size_of(node).filter(|size| (SHORTEST..=LONGEST).contains(size));
    let answers = tree.under("solution").iter().chain(tree.under("tests"));
    let answers: Vec<&TreeNode> = answers.filter(|node| is_answer(node)).collect();
    let sizes: BTreeSet<u64> = answers.iter().filter_map(comparable).collect();
    if sizes.is_empty() {
        return;
    }
    let taken = Taken::of(task);
    let hash = |node: &TreeNode| Some(Sha256::digest(tree.read(&node.path, LONGEST).ok()?));
    // Each file is read once, however many are of one size.
    let mut given: BTreeMap<_, Vec<&TreeNode>> = BTreeMap::new();
    for node in tree.under("environment") {
        let alike = comparable(&node).is_some_and(|size| sizes.contains(&size));
        if !alike || !taken.has(&node.path) || is_removed(task, node) {
            continue;
        }
        if let Some(hash) = hash(node) {
            given.entry(hash).or_default().push(node);
        }
    }
    if given.is_empty() {
        return;
    }
    for node in answers.into_iter().filter(|node| comparable(node).is_some()) {
        let Some(twins) = hash(node).and_then(|hash| given.get(&hash)) else {
            continue;
        };
        let Some(twin) = twins.iter().find(|twin| !is_unchanged(node, twin)) else {
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

/// Says whether a file of the solution lies at the same place of environment/: the solution comes with the whole project,
/// and did not touch this part of it.
fn is_unchanged(answer: &TreeNode, twin: &TreeNode) -> bool {
    let name = answer.path.file_name().unwrap_or_default().to_ascii_lowercase();
    let tells = names_an_answer(&name)
        || has_word(&name, "solve")
        || matches!(answer.path.extension(), Some("patch" | "diff"));
    let inside = answer.path.strip_prefix("solution");
    !tells && inside.is_ok_and(|inside| twin.path.strip_prefix("environment") == Ok(inside))
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
