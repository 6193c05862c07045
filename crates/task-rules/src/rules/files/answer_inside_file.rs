//! Right values that stand somewhere inside a file of the agent's image.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use aho_corasick::{AhoCorasick, MatchKind};
use findings::{Level, RuleMeta, Span};
use sha2::{Digest as _, Sha256};
use task_model::TreeNode;

use super::answer_in_environment::{LONGEST, has_word};
use super::answers::{Answer, collect, is_hash, names_a_value};
use super::taken::Taken;
use crate::context::{TaskContext, size_of};
use crate::{Check, Found, Rule};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: "GD831",
        name: "answer-inside-file",
        level: Level::Warning,
        summary: "A value that the tests expect stands inside a file of environment/, where the agent can read it.",
        page: include_str!("../../../pages/answer-inside-file.md"),
    },
    on: true,
    check: Check::Task(check),
};

/// In a larger file a value is a part of the data, to be found by work.
const LARGEST: u64 = 64 << 10;
/// Of a longer instruction, in bytes, nobody can say what it tells.
const LONGEST_INSTRUCTION: usize = 256 << 10;
/// The most files that are looked through.
const MOST_FILES: usize = 5000;

fn check(task: &TaskContext<'_>, found: &mut Found) {
    let mut files = task
        .files_in("environment")
        .filter(|node| may_hold_one(node))
        .peekable();
    if files.peek().is_none() {
        return;
    }
    let instructions = task.instructions();
    if instructions.iter().map(|told| told.text().len()).sum::<usize>() > LONGEST_INSTRUCTION {
        return;
    }
    let told = |answer: &Answer| instructions.iter().any(|told| told.text().contains(&answer.text));
    let mut answers = collect(task);
    answers.retain(|answer| !told(answer));
    if answers.is_empty() {
        return;
    }
    let search = AhoCorasick::builder()
        .match_kind(MatchKind::LeftmostLongest)
        .build(answers.iter().map(|answer| answer.text.as_bytes()));
    let Ok(search) = search else {
        return;
    };
    let taken = Taken::of(task);
    let inputs = Inputs::default();
    for node in files.filter(|node| taken.has(&node.path)).take(MOST_FILES) {
        let Some(source) = task.small_text(node, LARGEST) else {
            continue;
        };
        if let Some((span, answer)) = first(task, node, source.text(), &search, &answers, &inputs) {
            let message = format!("`{}` holds a value that `{}` expects", node.path, answer.file);
            let finding = task
                .finding(&RULE.meta, message)
                .at(&source, span)
                .help("keep it out of the image, or let the tests expect what only the work can give");
            found.add(finding);
        }
    }
}

/// Returns the first value in a file that stands there by itself.
fn first<'a>(
    task: &TaskContext<'_>,
    node: &TreeNode,
    text: &str,
    search: &AhoCorasick,
    answers: &'a [Answer],
    inputs: &Inputs,
) -> Option<(Span, &'a Answer)> {
    let bytes = text.as_bytes();
    let hint = node
        .path
        .file_name()
        .is_some_and(|name| names_a_value(&name.to_ascii_lowercase()));
    for hit in search.find_iter(bytes) {
        let answer = answers.get(hit.pattern().as_usize())?;
        let part = |at: Option<usize>| {
            let byte = at.and_then(|at| bytes.get(at));
            byte.is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.'))
        };
        // A longer word or number is another one; a full stop may end a sentence.
        let alone = !part(hit.start().checked_sub(1))
            && (!part(Some(hit.end())) || bytes.get(hit.end()) == Some(&b'.') && !part(Some(hit.end() + 1)));
        let of_input = || inputs.is_hash_of_one(task, answer, line(text, hit.start()));
        if alone && (answer.distinctive || hint) && !is_copy(task, answer, text) && !of_input() {
            return Some((Span::new(hit.start(), hit.end()), answer));
        }
    }
    None
}

/// Returns the line that a place is on.
fn line(text: &str, at: usize) -> &str {
    let start = text
        .get(..at)
        .and_then(|before| before.rfind('\n'))
        .map_or(0, |end| end + 1);
    let rest = text.get(start..).unwrap_or_default();
    rest.lines().next().unwrap_or_default()
}

/// The hashes of what the agent is given, made when the first is asked for: by them tests see that it left its input alone.
#[derive(Default)]
struct Inputs(OnceCell<BTreeSet<String>>);

impl Inputs {
    fn is_hash_of_one(&self, task: &TaskContext<'_>, answer: &Answer, line: &str) -> bool {
        let text = answer.text.to_ascii_lowercase();
        if !is_hash(&text) {
            return false;
        }
        let all = || {
            let files = task.files_in("environment").take(MOST_FILES);
            files.filter_map(|node| sha256(task, node)).collect()
        };
        has_word(&line.to_ascii_lowercase(), "input") || self.0.get_or_init(all).contains(&text)
    }
}

fn sha256(task: &TaskContext<'_>, node: &TreeNode) -> Option<String> {
    size_of(node).filter(|size| *size <= LONGEST)?;
    let hash = Sha256::digest(task.task.tree.read(&node.path, LONGEST).ok()?);
    Some(hash.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// A file that is the same as a whole has a finding of `answer-in-environment`.
fn is_copy(task: &TaskContext<'_>, answer: &Answer, text: &str) -> bool {
    task.text(&answer.file).is_some_and(|other| other.text() == text)
}

/// Says whether a file is data or documentation: pins of builds hold hashes that tests may check too, and skills tell
/// the agent what an instruction does.
fn may_hold_one(node: &TreeNode) -> bool {
    let name = node.path.file_name().unwrap_or_default().to_ascii_lowercase();
    let build = name.starts_with("dockerfile")
        || name.ends_with(".dockerfile")
        || name.starts_with("docker-compose")
        || name.starts_with("requirements")
        || name.starts_with("license")
        || name.ends_with(".lock")
        || name.ends_with(".sum")
        || name.contains("-lock.");
    !build
        && size_of(node).is_some_and(|size| size <= LARGEST)
        && !node
            .path
            .components()
            .any(|part| matches!(part.as_str(), ".git" | "node_modules" | "skills"))
}
