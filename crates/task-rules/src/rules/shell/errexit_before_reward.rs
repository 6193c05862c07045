//! errexit ends a grader before it has written a score.

use findings::{Level, RuleMeta, Span};

use super::is_reward_file;
use crate::context::TaskContext;
use crate::shell::{Command, Script};
use crate::{Check, Found, Rule};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: "GD810",
        name: "errexit-before-reward",
        level: Level::Error,
        summary: "Under `set -e` a failing check ends test.sh before it writes a reward, so that wrong work gets no score instead of 0.",
        page: include_str!("../../../pages/errexit-before-reward.md"),
    },
    on: true,
    check: Check::Task(check),
};

fn check(task: &TaskContext<'_>, found: &mut Found) {
    for path in task.graders() {
        let (Some(source), Some(script)) = (task.text(&path), task.script(&path)) else {
            continue;
        };
        let Some(span) = ends_early(&script) else { continue };
        let command = source.text().get(span.start..span.end).unwrap_or_default();
        let shown: String = command
            .lines()
            .next()
            .unwrap_or_default()
            .chars()
            .take(60)
            .collect();
        let finding = task
            .finding(
                &RULE.meta,
                format!("under `set -e` a failing `{shown}` ends the script before any reward is written"),
            )
            .at(&source, span)
            .help("append `&& rc=0 || rc=$?` to it, or write a reward of 0 first and raise it at the end");
        found.add(finding);
    }
}

/// Returns the command whose failure leaves no reward behind.
fn ends_early(script: &Script) -> Option<Span> {
    if !script.whole || traps_exit(script) {
        return None;
    }
    let mut errexit = false;
    let mut checked: Option<&Command> = None;
    for command in script
        .commands
        .iter()
        .filter(|c| !c.place.function && !c.place.substitution)
    {
        if let Some(on) = sets_errexit(command) {
            errexit = on;
        }
        let writes = writes_reward(command);
        if writes && command.place.branches == 0 && checked.is_none() {
            // A reward is there, whatever comes.
            return None;
        }
        if writes {
            return checked.map(|command| command.span);
        }
        if errexit
            && checked.is_none()
            && !command.place.guarded
            && command.place.branches == 0
            && is_check(command)
        {
            checked = Some(command);
        }
    }
    None
}

pub(super) fn traps_exit(script: &Script) -> bool {
    script.commands.iter().any(|command| {
        command.name() == Some("trap")
            && command
                .texts()
                .iter()
                .any(|word| matches!(*word, "EXIT" | "ERR" | "0" | "SIGEXIT"))
    })
}

/// Returns whether a command turns errexit on or off.
pub(super) fn sets_errexit(command: &Command) -> Option<bool> {
    if command.name() != Some("set") {
        return None;
    }
    let words = command.texts();
    let mut answer = None;
    for (at, word) in words.iter().enumerate() {
        let on = word.starts_with('-');
        let Some(letters) = word.strip_prefix(['-', '+']) else {
            continue;
        };
        let named = letters == "o" && words.get(at + 1) == Some(&"errexit");
        let short = !letters.starts_with('-') && letters.contains('e');
        let pair = letters.ends_with('o') && words.get(at + 1) == Some(&"errexit");
        if named || short || pair {
            answer = Some(on);
        }
    }
    answer
}

pub(super) fn writes_reward(command: &Command) -> bool {
    command.written().any(is_reward_file)
        || (command.base_name() == Some("tee") && command.arguments.iter().any(is_reward_file))
}

/// Says whether a command is one whose failure means wrong work: a test runner or a program of the tests.
fn is_check(command: &Command) -> bool {
    let words = command.effective();
    let texts: Vec<&str> = words
        .iter()
        .map(|word| word.literal.as_deref().unwrap_or(&word.prefix))
        .collect();
    let Some(first) = texts.first() else { return false };
    let base = first.rsplit('/').next().unwrap_or(first);
    let has = |word: &str| texts.iter().skip(1).any(|text| *text == word);
    let under_tests = texts.iter().skip(1).any(|text| text.starts_with("/tests/"));
    match base {
        "pytest" | "py.test" | "ctest" | "tox" | "nox" | "jest" | "vitest" | "mocha" | "phpunit"
        | "rspec" => true,
        "uvx" | "uv" | "pipx" | "poetry" | "pdm" | "hatch" => has("pytest"),
        "cargo" | "go" | "npm" | "yarn" | "pnpm" | "mvn" | "gradle" | "dotnet" | "mix" | "make" | "bun" => {
            has("test")
        }
        name if name.starts_with("python") => has("pytest") || has("unittest") || under_tests,
        "bash" | "sh" | "node" | "ruby" | "perl" => under_tests,
        _ => first.starts_with("/tests/"),
    }
}
