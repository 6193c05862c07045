//! Verifiers that cannot fail.

use camino::Utf8Path;
use findings::{Level, RuleMeta, Span};

use super::errexit_before_reward::{sets_errexit, traps_exit, writes_reward};
use crate::context::TaskContext;
use crate::shell::{Command, Script};
use crate::{Check, Found, Rule};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: "GD815",
        name: "constant-reward",
        level: Level::Warning,
        summary: "test.sh writes the same reward whatever it finds, so that no work can fail, or none can pass.",
        page: include_str!("../../../pages/constant-reward.md"),
    },
    on: true,
    check: Check::Task(check),
};

fn check(task: &TaskContext<'_>, found: &mut Found) {
    for path in task.graders() {
        let (Some(source), Some(script)) = (task.text(&path), task.script(&path)) else {
            continue;
        };
        let Some((value, span)) = constant(&script, source.text()) else {
            continue;
        };
        if others_write(task, &path) {
            continue;
        }
        let finding = task
            .finding(
                &RULE.meta,
                format!("the reward is `{value}` whatever the work is like"),
            )
            .at(&source, span)
            .help("let the reward hang on a check: `if pytest ...; then echo 1; else echo 0; fi`");
        found.add(finding);
    }
}

/// Returns the one value that a script can write, and where it surely does.
fn constant(script: &Script, text: &str) -> Option<(String, Span)> {
    if !script.whole || traps_exit(script) || speaks_elsewhere(script, text) {
        return None;
    }
    let writers: Vec<&Command> = script
        .commands
        .iter()
        .filter(|command| writes_reward(command))
        .collect();
    let value = written_value(writers.first()?)?;
    let same = writers
        .iter()
        .all(|writer| written_value(writer).as_ref() == Some(&value));
    let sure = writers.iter().find(|writer| {
        let place = &writer.place;
        place.branches == 0
            && !(place.conditional || place.function || place.substitution || place.background)
    })?;
    let ends = errexit(script) && !before(script, sure).all(cannot_fail);
    let decides = script.commands.iter().any(may_decide);
    (same && !ends && !decides).then_some((value, sure.span))
}

/// Returns the text that a command writes when it is known.
fn written_value(command: &Command) -> Option<String> {
    let mut texts = Vec::new();
    for word in &command.arguments {
        texts.push(word.literal.as_deref()?);
    }
    let text = match (command.name()?, texts.as_slice()) {
        ("echo", ["-n" | "-e" | "-ne", rest @ ..] | rest) => rest.join(" "),
        ("printf", [format, value]) if format.starts_with("%s") || format.starts_with("%d") => {
            (*value).to_owned()
        }
        ("printf", [value]) if !value.contains('%') => value.replace("\\n", ""),
        ("cat", []) => {
            let document = command
                .redirects
                .iter()
                .find(|redirect| redirect.operator.starts_with("<<"));
            document?.target.literal.clone()?
        }
        _ => return None,
    };
    let text = text.trim();
    // What is no reward at all is another matter.
    let counts = text.starts_with('{') || text.parse::<f64>().is_ok_and(f64::is_finite);
    (counts && text.len() < 80).then(|| text.to_owned())
}

/// Says whether the word `reward` stands anywhere but in comments and in the commands that write one.
fn speaks_elsewhere(script: &Script, text: &str) -> bool {
    let mut writers = script
        .commands
        .iter()
        .filter(|command| writes_reward(command))
        .peekable();
    // How far the writers that begin before a place reach; both go forward.
    let mut reached = 0;
    let mut at = 0;
    text.split_inclusive('\n').any(|line| {
        let begin = at;
        at += line.len();
        let comment = line.trim_start().starts_with('#');
        line.match_indices("reward").any(|(offset, _)| {
            let place = begin + offset;
            while let Some(writer) = writers.next_if(|writer| writer.span.start <= place) {
                reached = reached.max(writer.span.end);
            }
            !comment && place >= reached
        })
    })
}

/// Says whether a command can end the script, or can be somebody who writes the reward: a program of the image, a
/// sourced file, a command that is not known.
fn may_decide(command: &Command) -> bool {
    let words = command.effective();
    let Some(first) = words.first() else { return false };
    let Some(name) = first.literal.as_deref() else {
        return true;
    };
    let base = name.rsplit('/').next().unwrap_or(name);
    let of_image = |path: &str| {
        path.starts_with('/')
            && !["/tests/", "/usr/", "/bin/", "/sbin/"]
                .iter()
                .any(|known| path.starts_with(known))
    };
    let runs = matches!(base, "bash" | "sh" | "node" | "ruby" | "perl") || base.starts_with("python");
    let script = words.get(1).map(|word| word.literal.as_deref());
    match base {
        "exit" | "return" | "exec" | "kill" | "source" | "." | "eval" | "xargs" | "trap" => true,
        _ if runs => {
            script.is_some_and(|script| script.is_none_or(|path| of_image(path) || path.ends_with(".sh")))
        }
        _ => of_image(name) || name.starts_with('.') || command.name() == Some("exec"),
    }
}

fn errexit(script: &Script) -> bool {
    let shebang = script.shebang.as_deref().unwrap_or_default();
    shebang
        .split_whitespace()
        .skip(1)
        .any(|word| word.starts_with('-') && word.contains('e'))
        || script
            .commands
            .iter()
            .any(|command| sets_errexit(command) == Some(true))
}

fn before<'a>(script: &'a Script, writer: &Command) -> impl Iterator<Item = &'a Command> {
    let start = writer.span.start;
    script
        .commands
        .iter()
        .filter(move |command| command.span.end <= start)
}

fn cannot_fail(command: &Command) -> bool {
    let harmless = ["set", "echo", "printf", "mkdir", "true", ":", "export", "umask"];
    command.place.guarded || command.base_name().is_none_or(|name| harmless.contains(&name))
}

/// Says whether another file of the tests speaks of a reward, or cannot be read: it may be the one that decides.
fn others_write(task: &TaskContext<'_>, grader: &Utf8Path) -> bool {
    let speaks = |text: &str| {
        ["reward", "REWARD", "logs/verifier"]
            .iter()
            .any(|word| text.contains(word))
    };
    task.files()
        .filter(|node| node.path != grader && node.path.iter().any(|part| part == "tests"))
        .any(|node| task.text(&node.path).is_none_or(|source| speaks(source.text())))
}
