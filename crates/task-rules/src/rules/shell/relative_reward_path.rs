//! A reward written where nobody looks.

use camino::Utf8Path;
use findings::{Level, RuleMeta};

use crate::context::TaskContext;
use crate::shell::{Command, Script, Word};
use crate::{Check, Found, Rule};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: "GD811",
        name: "relative-reward-path",
        level: Level::Error,
        summary: "test.sh writes its reward into the working directory instead of /logs/verifier, where runners read it.",
        page: include_str!("../../../pages/relative-reward-path.md"),
    },
    on: true,
    check: Check::Task(check),
};

/// Where runners read rewards.
const PLACE: &str = "/logs/verifier";

/// The longest file in which the place is looked for, bytes.
const LONGEST: u64 = 1 << 20;

fn check(task: &TaskContext<'_>, found: &mut Found) {
    for path in task.graders() {
        let (Some(source), Some(script)) = (task.text(&path), task.script(&path)) else {
            continue;
        };
        if !script.whole || changes_folder(&script) {
            continue;
        }
        let Some((word, name)) = relative_reward(&script) else {
            continue;
        };
        let used = script.commands.iter().any(|command| reads(command, name));
        if used || may_arrive(source.text()) || others_bring_it(task, &path) {
            continue;
        }
        let finding = task
            .finding(
                &RULE.meta,
                format!("the reward goes to `{name}` in the working directory, where no runner reads it"),
            )
            .at(&source, word.span)
            .help(format!("write it to `{PLACE}/{name}`"));
        found.add(finding);
    }
}

/// Returns the first word that writes a reward into the working directory, and the file's name.
fn relative_reward(script: &Script) -> Option<(&Word, &str)> {
    let targets = script.commands.iter().flat_map(|command| {
        let tee = command.base_name() == Some("tee");
        command
            .written()
            .chain(command.arguments.iter().filter(move |_| tee))
    });
    targets.filter_map(|word| Some((word, reward_name(word)?))).next()
}

/// Returns the name when a word is a reward file of the working directory.
fn reward_name(word: &Word) -> Option<&str> {
    let text = word.literal.as_deref()?;
    let name = text.strip_prefix("./").unwrap_or(text);
    matches!(name, "reward.txt" | "reward.json").then_some(name)
}

fn changes_folder(script: &Script) -> bool {
    let moves = |command: &Command| matches!(command.base_name(), Some("cd" | "pushd"));
    script.commands.iter().any(moves)
}

/// Says whether a command does something with the file once it is there.
fn reads(command: &Command, name: &str) -> bool {
    let writes = matches!(command.base_name(), Some("tee" | "rm" | "touch" | "chmod"));
    let arguments = command.arguments.iter().filter(|_| !writes);
    let input = command
        .redirects
        .iter()
        .filter(|redirect| redirect.operator.starts_with('<'));
    arguments
        .chain(input.map(|redirect| &redirect.target))
        .any(|word| reward_name(word) == Some(name))
}

/// Says whether a text names the place, other than to make the folder or for another file in it.
fn may_arrive(text: &str) -> bool {
    let lines = text.lines().map(str::trim_start);
    let lines = lines.filter(|line| !line.starts_with('#') && !line.starts_with("mkdir"));
    lines.flat_map(|line| line.split(PLACE).skip(1)).any(|rest| {
        let file = rest.strip_prefix('/').unwrap_or_default();
        file.starts_with("reward") || !file.starts_with(|c: char| c.is_alphanumeric() || c == '_')
    })
}

/// Says whether another file of the tests, the image or the settings names the place: a grader that copies the reward,
/// a link, the working directory.
fn others_bring_it(task: &TaskContext<'_>, script: &Utf8Path) -> bool {
    let tests = task.files_in("tests").filter(|node| node.path != script);
    let image = task.files_in("environment");
    let settings = task.files().filter(|node| node.path == "task.toml");
    let mut texts = tests
        .chain(image)
        .chain(settings)
        .filter_map(|node| task.small_text(node, LONGEST));
    texts.any(|source| may_arrive(source.text()))
}
