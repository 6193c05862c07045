//! The files that commands read and make, as far as their words tell.

use std::collections::BTreeSet;

use crate::shell::{Command, Script, Word};

/// Says whether a path is one file's, without patterns and dots.
pub(crate) fn is_plain(path: &str) -> bool {
    !path.is_empty()
        && !path.ends_with('/')
        && !path.contains(['*', '?', '[', '{', '$', '\n', ' ', '=', ':'])
        && !path.split('/').any(|part| matches!(part, ".." | "." | ""))
}

/// Returns the words that a command surely reads as files.
pub(crate) fn read_words(command: &Command) -> Vec<&Word> {
    let words = command.effective();
    let first = words
        .first()
        .and_then(|word| word.literal.as_deref())
        .unwrap_or_default();
    let base = first.rsplit('/').next().unwrap_or(first);
    let plain: Vec<&Word> = words
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

/// Returns the word that names the file which a command runs or sources, if it runs one.
pub(crate) fn run_word(command: &Command) -> Option<&Word> {
    let words = command.effective();
    let first = words.first().copied()?;
    let text = first.literal.as_deref().unwrap_or_default();
    let base = text.rsplit('/').next().unwrap_or(text);
    let interprets = matches!(
        base,
        "." | "source" | "bash" | "sh" | "dash" | "zsh" | "node" | "ruby" | "perl"
    ) || base.starts_with("python");
    if !interprets {
        return Some(first);
    }
    let is_file = |word: &&Word| {
        word.literal
            .as_deref()
            .is_none_or(|text| !text.starts_with(['-', '+']))
    };
    words.into_iter().skip(1).find(is_file)
}

/// The paths that a script itself writes or makes.
pub(crate) struct Made(BTreeSet<String>);

impl Made {
    /// Returns those of a script.
    pub(crate) fn by(script: &Script) -> Self {
        let mut made = BTreeSet::new();
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
                    let absolute = texts.iter().filter(|text| text.starts_with('/'));
                    made.extend(absolute.map(|text| (*text).to_owned()));
                }
                _ => {}
            }
        }
        let plain = |path: &String| path.strip_prefix("./").unwrap_or(path).to_owned();
        Self(made.iter().map(plain).filter(|path| path.len() > 1).collect())
    }

    /// Says whether a path, or one that it begins with, is among them.
    pub(crate) fn covers(&self, path: &str) -> bool {
        let ends = path.char_indices().map(|(at, c)| at + c.len_utf8());
        ends.filter_map(|end| path.get(..end))
            .any(|beginning| self.0.contains(beginning))
    }
}
