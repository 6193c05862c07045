//! Whether the commands before a point of a script may have brought a file.

use std::collections::BTreeSet;

use super::paths::read_words;
use crate::shell::{Command, Script, Word};

/// Programs given to interpreters are kept up to this many bytes in all; past it anything may have been brought.
const MOST_CODE: usize = 64 << 10;

/// Past this many programs anything may have been brought.
const MOST_PROGRAMS: usize = 50;

/// Commands that make no file of the names they are given.
const ONLY_LOOKS: &[&str] = &[
    "cat",
    "chmod",
    "chown",
    "diff",
    "cmp",
    "dos2unix",
    "echo",
    "file",
    "grep",
    "head",
    "ls",
    "md5sum",
    "printf",
    "sed",
    "sha256sum",
    "stat",
    "tail",
    "wc",
];

/// Commands that make files nobody names.
const BUILDS: &[&str] = &[
    "bun", "bundle", "c++", "cargo", "cc", "clang", "clang++", "cmake", "composer", "g++", "gcc", "ghc",
    "go", "gradle", "javac", "make", "meson", "mvn", "ninja", "npm", "pnpm", "rustc", "tsc", "uv", "yarn",
];

/// What the commands so far named, ran and built below one folder.
pub(crate) struct Brought {
    /// Without a slash at its end.
    folder: &'static str,
    named: BTreeSet<String>,
    code: String,
    ran: BTreeSet<String>,
    anything: bool,
}

impl Brought {
    /// Returns what is known before the first command. What a script looks for anywhere may be missing.
    pub(crate) fn before(script: &Script, folder: &'static str) -> Self {
        let mut all = Self {
            folder,
            named: BTreeSet::new(),
            code: String::new(),
            ran: BTreeSet::new(),
            anything: false,
        };
        for word in &script.tested {
            all.name(word);
        }
        all
    }

    /// Takes one more command.
    pub(crate) fn take(&mut self, command: &Command) {
        let words = command.effective();
        let first = words.first().and_then(|word| word.literal.as_deref());
        let base = first
            .map(|name| name.rsplit('/').next().unwrap_or(name))
            .unwrap_or_default();
        let looks = ONLY_LOOKS.contains(&base);
        let arguments = words.iter().skip(1).copied();
        let set = command.assignments.iter().filter(|_| first.is_some());
        let set = set.filter_map(|assignment| assignment.value.as_ref());
        let inside = arguments.clone().any(|word| word.prefix.contains(self.folder));
        // Whoever changes the folder makes files by their bare names.
        self.anything |= matches!(base, "cd" | "pushd")
            && arguments
                .clone()
                .any(|word| word.literal.is_none() || word.prefix.starts_with(self.folder));
        self.anything |= inside && BUILDS.contains(&base);
        for word in arguments.filter(|_| !looks).chain(set) {
            self.name(word);
        }
        for redirect in &command.redirects {
            let here = redirect.operator.starts_with("<<");
            self.anything |= here && !looks && base != "tee" && redirect.target.literal.is_none();
            if !here || !(looks || base == "tee") {
                self.name(&redirect.target);
            }
        }
        let runs = !matches!(base, "cat" | "cp" | "mv" | "install" | "pytest");
        let run = read_words(command).into_iter().filter(|_| runs);
        self.ran.extend(run.filter_map(|word| word.literal.clone()));
        self.anything |= self.ran.len() > MOST_PROGRAMS;
    }

    /// Takes a word that names what may be made: a path, an option with one behind `=`, or a program's text.
    fn name(&mut self, word: &Word) {
        let text = word.prefix.as_str();
        if text.contains(char::is_whitespace) || text.contains(['(', ';']) {
            self.anything |= self.code.len() + text.len() > MOST_CODE;
            if !self.anything && text.contains(self.folder) {
                self.code.push_str(text);
            }
            return;
        }
        let path = text
            .rsplit('=')
            .next()
            .unwrap_or(text)
            .trim_end_matches(['/', '.']);
        let Some(below) = path.strip_prefix(self.folder) else {
            return;
        };
        // The folder itself as a place to write to, or a name that is not known.
        self.anything |= below.is_empty();
        if below.starts_with('/') {
            self.named.insert(path.to_owned());
        }
    }

    /// Says whether the file may have been brought by a command that names it, something like it or a folder above.
    pub(crate) fn may_be(&self, path: &str) -> bool {
        let ends = path.char_indices().map(|(at, c)| at + c.len_utf8());
        let begun = |end| {
            path.get(..end)
                .is_some_and(|beginning| self.named.contains(beginning))
        };
        let longer = self.named.range(path.to_owned()..).next();
        let name = path.rsplit('/').next().unwrap_or(path);
        self.anything
            || ends.into_iter().any(begun)
            || longer.is_some_and(|other| other.starts_with(path))
            || self.code.contains(name)
    }

    /// Returns the programs that ran, as they are named.
    pub(crate) fn ran(&self) -> &BTreeSet<String> {
        &self.ran
    }
}
