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

/// Returns the words that a command surely reads as files; those of pytest with the names of tests behind them.
pub(crate) fn read_words(command: &Command) -> Vec<&Word> {
    let words = command.effective();
    let first = words.first().map(|word| text(word)).unwrap_or_default();
    let base = first.rsplit('/').next().unwrap_or(first);
    let plain: Vec<&Word> = words
        .iter()
        .skip(1)
        .copied()
        .filter(|word| !text(word).starts_with('-'))
        .collect();
    match base {
        "cp" | "mv" | "install" => {
            let target_first = words
                .iter()
                .any(|word| text(word).starts_with("-t") || text(word).starts_with("--target"));
            let sources = plain.split_last().filter(|_| !target_first);
            sources.map(|(_, sources)| sources.to_vec()).unwrap_or_default()
        }
        "cat" => plain,
        "source" | "." | "bash" | "sh" | "node" | "ruby" | "perl" => plain.into_iter().take(1).collect(),
        "pytest" => test_files(&words),
        name if name.starts_with("python") => python_files(&words),
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

fn text(word: &Word) -> &str {
    word.literal.as_deref().unwrap_or_default()
}

/// Returns what Python runs: a file, or pytest with its files.
fn python_files<'a>(words: &[&'a Word]) -> Vec<&'a Word> {
    // Options of one letter that take no word; all others may.
    let alone = |word: &&Word| {
        let letters = text(word).strip_prefix('-');
        letters
            .is_some_and(|all| !all.is_empty() && all.chars().all(|letter| "bBdEiIOPqsSuvx".contains(letter)))
    };
    let mut rest = words.iter().skip(1).copied().skip_while(alone);
    match rest.next() {
        Some(word) if text(word) == "-m" => {
            let module: Vec<&Word> = rest.collect();
            let pytest = module.first().is_some_and(|name| text(name) == "pytest");
            if pytest { test_files(&module) } else { Vec::new() }
        }
        Some(word) if !text(word).starts_with('-') => vec![word],
        _ => Vec::new(),
    }
}

/// Returns the files that pytest is told to run.
fn test_files<'a>(words: &[&'a Word]) -> Vec<&'a Word> {
    let pairs = words.iter().zip(words.iter().skip(1));
    pairs
        .filter(|(before, _)| {
            !matches!(
                text(before),
                "-c" | "-p" | "--ignore" | "--deselect" | "--confcutdir"
            )
        })
        .map(|(_, word)| *word)
        .filter(|word| file_of(text(word)).ends_with(".py"))
        .collect()
}

/// Returns the file of a word like `test_a.py::test_b`.
pub(crate) fn file_of(word: &str) -> &str {
    word.split("::").next().unwrap_or(word)
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
