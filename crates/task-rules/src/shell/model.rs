//! What rules see of a script.

use findings::Span;

/// A script, its commands in order of writing.
#[derive(Clone, Debug, Default)]
pub struct Script {
    /// The interpreter line without `#!`, when there is one.
    pub shebang: Option<String>,
    /// Every simple command, also those in functions and substitutions.
    pub commands: Vec<Command>,
    /// Every use of a parameter, `$?` among them, in order of writing.
    pub variables: Vec<Variable>,
    /// Operands of `[ ... ]` and `[[ ... ]]`, in order of writing.
    pub tested: Vec<Word>,
    /// The branches of each `if` with an `else` that stands in no other branch: one of them always runs.
    pub choices: Vec<Vec<Span>>,
    /// The functions that the script defines, in order of writing.
    pub functions: Vec<Function>,
    /// Whether all of it could be read; from a script with faults rules draw no conclusion about what is missing.
    pub whole: bool,
}

/// A function that a script defines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// The whole definition.
    pub span: Span,
}

/// A simple command: assignments, a name, arguments, redirections.
#[derive(Clone, Debug)]
pub struct Command {
    /// From its first word or assignment to its last word or redirection.
    pub span: Span,
    /// The command word; none of a bare assignment or redirection.
    pub name: Option<Word>,
    /// The other words.
    pub arguments: Vec<Word>,
    /// `A=b` before the name, or alone.
    pub assignments: Vec<Assignment>,
    /// Redirections, those of the compound command around it left out.
    pub redirects: Vec<Redirect>,
    /// What surrounds it.
    pub place: Place,
}

/// What surrounds a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Its exit status is looked at (a condition, left of `&&` or `||`, after `!`, not last in a pipe): errexit does
    /// not end the script.
    pub guarded: bool,
    /// It is guarded by nothing but its place in a pipe: under `pipefail` errexit ends the script all the same.
    pub piped: bool,
    /// It stands left of `||`, or in a list with a later `||`: whatever happens, something follows.
    pub caught: bool,
    /// It stands right of `&&` or `||`: whether it runs hangs on what stands before.
    pub conditional: bool,
    /// It is all that an `if` asks.
    pub condition: bool,
    /// Inside a function's body.
    pub function: bool,
    /// Inside `$( )`, backquotes or `<( )`.
    pub substitution: bool,
    /// Inside `( )`.
    pub subshell: bool,
    /// How many `if`, `case` and loops are around it.
    pub branches: usize,
    /// In the background.
    pub background: bool,
    /// Position in a pipe, counted from 0; 0 outside of pipes.
    pub pipe: usize,
}

/// A word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// Its place, quotes included.
    pub span: Span,
    /// Its value when the script alone tells it.
    pub literal: Option<String>,
    /// The text before the first part that is not known.
    pub prefix: String,
}

/// `NAME=value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// The name.
    pub name: String,
    /// The value; none of an array.
    pub value: Option<Word>,
}

/// A redirection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    /// `>`, `>>`, `<`, `&>`, `>&`, `<<`, ...
    pub operator: String,
    /// Where to or from; of a here-document, its whole text.
    pub target: Word,
}

/// A use of a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// `?`, `HOME`, `1`, ...
    pub name: String,
    /// Where.
    pub span: Span,
    /// Whether inside a function's body.
    pub function: bool,
}

impl Command {
    /// Returns the command word when it is known.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.name.as_ref()?.literal.as_deref()
    }

    /// Returns the command word without the folder before it.
    #[must_use]
    pub fn base_name(&self) -> Option<&str> {
        let name = self.name()?;
        Some(name.rsplit('/').next().unwrap_or(name))
    }

    /// Returns the arguments that are known, in order; unknown ones are empty texts.
    #[must_use]
    pub fn texts(&self) -> Vec<&str> {
        self.arguments
            .iter()
            .map(|word| word.literal.as_deref().unwrap_or_default())
            .collect()
    }

    /// Returns the words of the command that really runs: `sudo`, `env A=b`, `timeout 5`, `time` and their like
    /// dropped. Each word with its place.
    #[must_use]
    pub fn effective(&self) -> Vec<&Word> {
        let mut words: Vec<&Word> = self.name.iter().chain(&self.arguments).collect();
        while let Some(skip) = wrapper(&words) {
            words.drain(..skip.min(words.len()));
        }
        words
    }

    /// Returns the files that it writes to by redirection.
    pub fn written(&self) -> impl Iterator<Item = &Word> {
        self.redirects
            .iter()
            .filter(|redirect| matches!(redirect.operator.as_str(), ">" | ">>" | "&>" | "&>>" | ">|"))
            .map(|redirect| &redirect.target)
    }
}

/// Returns how many words the wrapper at the beginning takes, when there is one with a command behind it.
fn wrapper(words: &[&Word]) -> Option<usize> {
    let text = |at: usize| words.get(at).and_then(|word: &&Word| word.literal.as_deref());
    let first = text(0)?;
    let base = first.rsplit('/').next().unwrap_or(first);
    // Options that take a word of their own.
    let (takes, positional): (&[&str], usize) = match base {
        "sudo" => (&["-u", "-g", "-C", "-h", "-p"], 0),
        "env" => (&["-u", "-C", "--unset", "--chdir"], 0),
        "timeout" => (&["-k", "-s", "--kill-after", "--signal"], 1),
        "nice" => (&["-n"], 0),
        "ionice" => (&["-c", "-n"], 0),
        "time" | "nohup" | "exec" | "command" | "builtin" | "setsid" | "stdbuf" => (&["-o", "-i", "-e"], 0),
        "xvfb-run" => (&["-n", "-s", "-e", "-f"], 0),
        _ => return None,
    };
    let mut at = 1;
    while let Some(word) = text(at) {
        let assigns = base == "env" && word.split_once('=').is_some_and(|(name, _)| is_name(name));
        if takes.contains(&word) {
            at += 2;
        } else if word.starts_with('-') || assigns {
            at += 1;
        } else {
            break;
        }
    }
    at += positional;
    (at < words.len()).then_some(at)
}

/// Says whether a text is a variable's name.
#[must_use]
pub(crate) fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_')
}
