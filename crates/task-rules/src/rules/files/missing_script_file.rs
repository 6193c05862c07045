//! Files that a script names and nobody ships.

use findings::{Level, RuleMeta};

use crate::context::TaskContext;
use crate::shell::{Command, Script};
use crate::{Check, Found, Rule};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: "GD820",
        name: "missing-script-file",
        level: Level::Error,
        summary: "solve.sh or test.sh reads a file under /solution or /tests that the task does not ship.",
    },
    page: include_str!("../../../pages/missing-script-file.md"),
    on: true,
    check: Check::Task(check),
};

fn check(task: &TaskContext<'_>, found: &mut Found) {
    // A separate verifier's image can bring its own /tests, and a step sees two folders at once.
    let steps = task
        .task
        .declared
        .as_ref()
        .is_some_and(|toml| !toml.steps.is_empty());
    if steps {
        return;
    }
    let mut pairs = vec![("solution/solve.sh", "/solution/", "solution")];
    if task.separate_graders().is_empty() {
        pairs.push(("tests/test.sh", "/tests/", "tests"));
    }
    for (path, mount, folder) in pairs {
        let (Some(source), Some(script)) = (task.text(path), task.script(path)) else {
            continue;
        };
        if !script.whole {
            continue;
        }
        let made = made_paths(&script);
        for command in &script.commands {
            // What is only tried, or only happens on some way through, may be missing.
            let sure = !command.place.guarded && !command.place.function && command.place.branches == 0;
            for word in read_words(command).into_iter().filter(|_| sure) {
                let Some(text) = word.literal.as_deref() else {
                    continue;
                };
                let Some(below) = text.strip_prefix(mount).filter(|rest| is_plain(rest)) else {
                    continue;
                };
                let there = task.task.tree.exists(format!("{folder}/{below}"));
                if there || made.iter().any(|made| text.starts_with(made.as_str())) {
                    continue;
                }
                let name = path.rsplit('/').next().unwrap_or(path);
                let finding = task
                    .finding(
                        &RULE.meta,
                        format!("`{name}` reads `{text}`, and the task ships no `{folder}/{below}`"),
                    )
                    .at(&source, word.span)
                    .help(format!("add the file to {folder}/, or correct the name"));
                found.add(finding);
            }
        }
    }
}

/// Says whether a path is one file's, without patterns and dots.
fn is_plain(path: &str) -> bool {
    !path.is_empty()
        && !path.ends_with('/')
        && !path.contains(['*', '?', '[', '{', '$', '\n', ' ', '=', ':'])
        && !path.split('/').any(|part| matches!(part, ".." | "." | ""))
}

/// Returns the words that a command surely reads as files.
fn read_words(command: &Command) -> Vec<&crate::shell::Word> {
    let words = command.effective();
    let first = words
        .first()
        .and_then(|word| word.literal.as_deref())
        .unwrap_or_default();
    let base = first.rsplit('/').next().unwrap_or(first);
    let plain: Vec<&crate::shell::Word> = words
        .iter()
        .skip(1)
        .copied()
        .filter(|word| word.literal.as_deref().is_none_or(|text| !text.starts_with('-')))
        .collect();
    match base {
        "cp" | "mv" | "install" => plain
            .split_last()
            .map(|(_, sources)| sources.to_vec())
            .unwrap_or_default(),
        "cat" | "source" | "." => plain,
        "bash" | "sh" | "node" | "ruby" | "perl" => plain.into_iter().take(1).collect(),
        name if name.starts_with("python") => {
            let runs_file = words
                .get(1)
                .and_then(|word| word.literal.as_deref())
                .is_some_and(|text| !text.starts_with('-'));
            plain.into_iter().take(usize::from(runs_file)).collect()
        }
        _ if first.starts_with('/') => words.into_iter().take(1).collect(),
        _ => Vec::new(),
    }
}

/// Returns the paths that the script itself writes or makes.
fn made_paths(script: &Script) -> Vec<String> {
    let mut made = Vec::new();
    for command in &script.commands {
        made.extend(command.written().filter_map(|word| word.literal.clone()));
        let texts = command.texts();
        match command.base_name() {
            Some("cp" | "mv" | "ln" | "install" | "rsync") => {
                made.extend(texts.last().map(|text| (*text).to_owned()));
            }
            Some(
                "mkdir" | "touch" | "tee" | "tar" | "unzip" | "git" | "curl" | "wget" | "gcc" | "g++"
                | "make" | "cc",
            ) => {
                made.extend(
                    texts
                        .iter()
                        .filter(|text| text.starts_with('/'))
                        .map(|text| (*text).to_owned()),
                );
            }
            _ => {}
        }
    }
    made.retain(|path| path.len() > 1);
    made
}
