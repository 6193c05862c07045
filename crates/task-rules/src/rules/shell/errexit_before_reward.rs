//! errexit ends a grader before it has written a score.

use std::rc::Rc;

use camino::Utf8Path;
use findings::{Level, RuleMeta, Span};

use super::called::{folders_of, with_called};
use super::errexit::{always_on, ends_in_trap, sets_errexit, sets_pipefail};
use super::flow::{Step, steps};
use super::is_reward_file;
use super::programs::{Program, program};
use crate::context::TaskContext;
use crate::shell::{Command, Script, Word};
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
        let grader = Grader {
            task,
            path: &path,
            text: source.text(),
        };
        let Some(early) = grader.ends_early(&script) else {
            continue;
        };
        if grader.others_write() {
            continue;
        }
        let command = source.text().get(early.span.start..early.span.end);
        let line = command.and_then(|command| command.lines().next());
        let shown: String = line.unwrap_or_default().chars().take(60).collect();
        let finding = task
            .finding(
                &RULE.meta,
                format!("under `set -e` a failing `{shown}` ends the script before any reward is written"),
            )
            .level(early.level)
            .at(&source, early.span)
            .help("append `&& rc=0 || rc=$?` to it, or write a reward of 0 first and raise it at the end");
        found.add(finding);
    }
}

/// Files that set up a shell for a tool, by how their paths end.
const ENVIRONMENTS: &[&str] = &[
    "/activate",
    "/env",
    "/.bashrc",
    "/.profile",
    "/.bash_profile",
    "/nvm.sh",
    "/conda.sh",
    "/os-release",
];

/// A check whose failure leaves no reward behind.
#[derive(Clone, Copy)]
struct Early {
    span: Span,
    /// An error of a test runner; a program of the tests may be one that never fails.
    level: Level,
    /// Whether the pipe that it stands in goes on.
    piped: bool,
}

struct Grader<'a> {
    task: &'a TaskContext<'a>,
    path: &'a Utf8Path,
    text: &'a str,
}

impl Grader<'_> {
    fn ends_early(&self, script: &Script) -> Option<Early> {
        if !script.whole || ends_in_trap(script) {
            return None;
        }
        let steps = steps(script)?;
        let subshells_set = steps
            .iter()
            .any(|step| step.place.subshell && step.command.name() == Some("set"));
        let mut errexit = always_on(script);
        let mut pipefail = false;
        let mut checked: Option<Early> = None;
        for (at, step) in steps.iter().enumerate() {
            let place = &step.place;
            if !place.subshell && !place.substitution {
                // On only when it surely runs.
                let sure = place.branches == 0 && !place.conditional;
                errexit = sets_errexit(step.command).map_or(errexit, |on| on && (sure || errexit));
                errexit |= sure && self.sourced(step.command).is_some_and(|script| turns_on(&script));
                pipefail = sets_pipefail(step.command).map_or(pipefail, |on| on && (sure || pipefail));
            }
            let before = at.checked_sub(1).and_then(|at| steps.get(at));
            let program = self.program(step, before);
            let guarded = !errexit
                || (place.guarded && !(place.piped && pipefail))
                || (place.subshell && subshells_set);
            if let Some(early) = checked {
                if early.piped && place.pipe > 0 {
                    if program == Program::Unknown || self.may_write(step.command) {
                        return None;
                    }
                    continue;
                }
                if self.writes(step.command) {
                    return checked;
                }
                if leaves(step) {
                    return None;
                }
                checked = match program {
                    // A check of its own follows: the program before it may be one that prepares it.
                    Program::Runner | Program::Tests(_) if early.level != Level::Error && guarded => {
                        return None;
                    }
                    Program::Runner | Program::Tests(_) if early.level != Level::Error => {
                        self.deadly(step, program).or(checked)
                    }
                    _ => Some(Early {
                        piped: false,
                        ..early
                    }),
                };
                continue;
            }
            if leaves(step) || self.may_write(step.command) || self.unknown(step, program) {
                return None;
            }
            if !guarded && place.branches == 0 && !place.background {
                checked = if place.substitution {
                    None
                } else if step.command.name.is_none() {
                    self.assigned(step, steps.get(at + 1..).unwrap_or_default())
                } else {
                    self.deadly(step, program)
                };
            }
        }
        None
    }

    /// Returns the script of the tests that a command sources.
    fn sourced(&self, command: &Command) -> Option<Rc<Script>> {
        let name = command.name()?;
        let file = command.arguments.first()?.literal.as_deref()?;
        let below = file
            .strip_prefix("/tests/")
            .filter(|_| matches!(name, "source" | "."))?;
        let folders = folders_of(self.path);
        folders
            .iter()
            .find_map(|folder| self.task.script(folder.join(below)))
    }

    fn program<'s>(&self, step: &Step<'s>, before: Option<&Step<'_>>) -> Program<'s> {
        if step.called {
            return Program::Ordinary;
        }
        program(step.command, before.map(|step| step.command))
    }

    /// A check that ends the script when it fails.
    fn deadly(&self, step: &Step<'_>, program: Program<'_>) -> Option<Early> {
        let level = match program {
            Program::Runner => RULE.meta.level,
            Program::Tests(_) => Level::Warning,
            Program::Ordinary | Program::Unknown => return None,
        };
        Some(Early {
            span: step.command.span,
            level,
            piped: step.place.piped,
        })
    }

    /// `out=$(pytest)`: the status of the last command in it is that of the whole.
    fn assigned(&self, step: &Step<'_>, after: &[Step<'_>]) -> Option<Early> {
        let whole = step.command.span;
        let text = self.text.get(whole.start..whole.end)?;
        let declares = ["export", "local", "declare", "readonly", "typeset"];
        if step.command.assignments.is_empty() || declares.iter().any(|word| text.starts_with(word)) {
            return None;
        }
        let inside = after.iter().take_while(|step| {
            step.place.substitution
                && step.command.span.start > whole.start
                && step.command.span.end < whole.end
        });
        let last = inside.last().filter(|last| !last.place.guarded)?;
        let rest = self.text.get(last.command.span.end..whole.end)?;
        let program = self.program(last, None);
        let early = self
            .deadly(last, program)
            .filter(|early| early.level == Level::Error)?;
        matches!(rest.trim(), ")" | ")\"" | "`" | "`\"").then_some(Early {
            span: whole,
            piped: false,
            ..early
        })
    }

    fn writes(&self, command: &Command) -> bool {
        let named = |word: &Word| {
            let text = self.source(word).trim_matches(['"', '\'']);
            text.ends_with("/reward.txt") || text.ends_with("/reward.json")
        };
        writes_reward(command) || command.written().any(named)
    }

    /// Says whether a command may write a reward, as far as it speaks of one.
    fn may_write(&self, command: &Command) -> bool {
        if writes_reward(command) {
            return true;
        }
        let written = command.written().any(|word| match word.literal.as_deref() {
            Some(path) => names_reward(path),
            // `> "$FILE"`; where else than into the folder of rewards it goes is seen from its beginning.
            None => {
                names_reward(self.source(word))
                    || "/logs/verifier/".starts_with(&word.prefix)
                    || word.prefix.starts_with("/logs/verifier/")
            }
        });
        let silent = [
            "mkdir", "rm", "export", "cd", "chmod", "chown", "ls", "unset", "echo", "printf",
        ];
        let heedless =
            command.base_name().is_some_and(|name| silent.contains(&name)) || command.name.is_none();
        let spoken = || {
            let text = self.text.get(command.span.start..command.span.end);
            let literal = |word: &Word| word.literal.as_deref().is_some_and(names_reward);
            text.is_some_and(names_reward) || command.arguments.iter().any(literal)
        };
        written || (!heedless && spoken())
    }

    /// Says whether nobody knows what a command before the check does: it may write a reward of its own.
    fn unknown(&self, step: &Step<'_>, program: Program<'_>) -> bool {
        if matches!(step.command.name(), Some("source" | ".")) {
            let Some(file) = step.command.arguments.first() else {
                return true;
            };
            let text = self.source(file).trim_matches(['"', '\'']);
            let shell = ["reward", "REWARD", "logs/verifier", "trap", "set +", "errexit"];
            return match text.strip_prefix("/tests/") {
                Some(below) => self.speaks(below, &shell),
                None => !ENVIRONMENTS.iter().any(|end| text.ends_with(end)),
            };
        }
        match program {
            Program::Tests(path) => {
                let below = path.strip_prefix("/tests/").unwrap_or(path);
                self.speaks(below, &["reward", "REWARD", "logs/verifier"])
            }
            Program::Unknown => true,
            Program::Ordinary | Program::Runner => false,
        }
    }

    /// Says whether a file of the tests is not there to be read, or has one of some words.
    fn speaks(&self, below: &str, words: &[&str]) -> bool {
        let folders = folders_of(self.path);
        let source = folders
            .iter()
            .find_map(|folder| self.task.text(folder.join(below)));
        source.is_none_or(|source| words.iter().any(|word| source.text().contains(word)))
    }

    /// Says whether another file of the tests writes rewards: a plugin of the test runner, a script that is called.
    fn others_write(&self) -> bool {
        let words = ["reward.txt", "reward.json", "logs/verifier", "pytest_plugins"];
        let called = with_called(self.task, self.path);
        self.task
            .files()
            .filter(|node| node.path != self.path && node.path.iter().any(|part| part == "tests"))
            .filter(|node| node.path.extension() != Some("sh") || called.contains(&node.path))
            .filter_map(|node| self.task.text(&node.path))
            .any(|source| words.iter().any(|word| source.text().contains(word)))
    }

    fn source(&self, word: &Word) -> &str {
        self.text.get(word.span.start..word.span.end).unwrap_or_default()
    }
}

fn names_reward(text: &str) -> bool {
    ["reward", "REWARD", "Reward"]
        .iter()
        .any(|word| text.contains(word))
}

/// Says whether a script that is sourced leaves errexit on.
fn turns_on(script: &Script) -> bool {
    let sure = |command: &&Command| {
        let place = &command.place;
        place.branches == 0 && !(place.conditional || place.function || place.subshell || place.substitution)
    };
    let last = script
        .commands
        .iter()
        .filter(sure)
        .filter_map(sets_errexit)
        .next_back();
    script.whole && last == Some(true)
}

/// Says whether the script surely ends here.
fn leaves(step: &Step<'_>) -> bool {
    let place = &step.place;
    let sure = place.branches == 0
        && !(place.conditional || place.subshell || place.substitution || place.background);
    sure && matches!(step.command.name(), Some("exit"))
}

pub(super) fn writes_reward(command: &Command) -> bool {
    let copies = matches!(command.base_name(), Some("cp" | "mv" | "install"));
    command.written().any(is_reward_file)
        || (command.base_name() == Some("tee") && command.arguments.iter().any(is_reward_file))
        || (copies && command.arguments.last().is_some_and(is_reward_file))
}
