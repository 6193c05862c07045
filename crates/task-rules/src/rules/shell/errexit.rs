//! Options of the shell that end a script, and traps that still run.

use crate::shell::{Command, Script};

/// Returns whether a command turns errexit on or off.
pub(super) fn sets_errexit(command: &Command) -> Option<bool> {
    sets(command, Some('e'), "errexit")
}

/// Returns whether a command turns pipefail on or off.
pub(super) fn sets_pipefail(command: &Command) -> Option<bool> {
    sets(command, None, "pipefail")
}

/// Says whether the interpreter line turns errexit on.
pub(super) fn always_on(script: &Script) -> bool {
    let shebang = script.shebang.as_deref().unwrap_or_default();
    shebang
        .split_whitespace()
        .skip(1)
        .any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains('e'))
}

/// `set -euo pipefail`, `set +o errexit`, `shopt -so errexit`.
fn sets(command: &Command, letter: Option<char>, name: &str) -> Option<bool> {
    let words = command.effective();
    let texts: Vec<Option<&str>> = words.iter().map(|word| word.literal.as_deref()).collect();
    let (first, rest) = texts.split_first()?;
    if *first == Some("shopt") {
        let has = |option: char| {
            let short = |word: &&str| word.starts_with('-') && word.contains(option);
            rest.iter().flatten().any(short)
        };
        let named = has('o') && rest.contains(&Some(name));
        return (named && (has('s') || has('u'))).then(|| has('s'));
    }
    if *first != Some("set") {
        return None;
    }
    let mut answer = None;
    let mut words = rest.iter();
    while let Some(word) = words.next() {
        // What is not known may turn it off.
        let Some(word) = word else { return Some(false) };
        let Some(letters) = word
            .strip_prefix(['-', '+'])
            .filter(|letters| !letters.starts_with('-'))
        else {
            break;
        };
        let by_name = letters.contains('o') && words.next() == Some(&Some(name));
        if by_name || letter.is_some_and(|letter| letters.contains(letter)) {
            answer = Some(word.starts_with('-'));
        }
    }
    answer
}

/// Says whether a trap at the script's end, or at a failure, may write a reward.
pub(super) fn ends_in_trap(script: &Script) -> bool {
    script.commands.iter().any(|command| {
        let texts = command.texts();
        let ends = |word: &str| {
            let name = word.to_ascii_uppercase();
            matches!(name.strip_prefix("SIG").unwrap_or(&name), "EXIT" | "ERR" | "0")
        };
        command.name() == Some("trap")
            && texts.iter().skip(1).any(|word| ends(word))
            && !command
                .arguments
                .first()
                .and_then(|word| word.literal.as_deref())
                .is_some_and(tidies)
    })
}

/// Says whether the action of a trap only clears away.
fn tidies(action: &str) -> bool {
    let harmless = ["rm", "rmdir", "kill", "wait", "true", ":", "popd", "docker", "-"];
    !action.contains("eward")
        && action
            .split([';', '&', '|', '\n'])
            .map(|part| part.split_whitespace().next().unwrap_or_default())
            .all(|word| word.is_empty() || harmless.contains(&word))
}
