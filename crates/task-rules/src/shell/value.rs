//! The values of words, as far as the script alone tells them.

use std::cell::Cell;
use std::collections::BTreeMap;

use findings::Span;
use tree_sitter::Node;

use super::kind::kind;
use super::model::Word;

/// Texts longer than this are data; no rule looks at them.
const LONGEST: usize = 4096;
/// Nesting of words in words.
const DEEPEST: usize = 40;

/// How much text all uses of variables in a script may put in, bytes; a short script can use a long value very often.
const MOST_EXPANDED: usize = 8 << 20;

/// Variables that are assigned exactly once in the whole script, with their values.
#[derive(Debug, Default)]
pub(super) struct Constants {
    values: BTreeMap<String, Option<String>>,
    expanded: Cell<usize>,
}

impl Constants {
    /// Takes an assignment; `None` is a value that is not known. With a second one the value is not known any more.
    pub(super) fn assign(&mut self, name: &str, value: Option<String>) {
        let again = self.values.contains_key(name);
        let value = value.filter(|_| !again);
        self.values.insert(name.to_owned(), value);
    }

    /// Returns the value of a variable for one use of it.
    fn expand(&self, name: &str) -> Option<&str> {
        let value = self.values.get(name)?.as_deref()?;
        self.expanded.set(self.expanded.get() + value.len());
        (self.expanded.get() <= MOST_EXPANDED).then_some(value)
    }
}

/// Returns the word that a node stands for.
pub(super) fn word(text: &str, node: Node<'_>, constants: &Constants) -> Word {
    let mut value = Value::default();
    value.take(text, node, constants, 0);
    let span = Span::new(node.start_byte(), node.end_byte());
    Word {
        span,
        literal: (!value.unknown).then(|| value.text.clone()),
        prefix: value.text,
    }
}

/// A value while it is put together; nothing is added behind the first part that is not known.
#[derive(Default)]
struct Value {
    text: String,
    unknown: bool,
}

impl Value {
    fn take(&mut self, text: &str, node: Node<'_>, constants: &Constants, depth: usize) {
        if self.unknown || depth > DEEPEST {
            self.unknown = true;
            return;
        }
        let source = text.get(node.byte_range()).unwrap_or_default();
        match kind(node) {
            "word" | "variable_name" | "special_variable_name" | "file_descriptor" => {
                self.push(&unescaped(source, |_| true));
            }
            "number" => self.push(source),
            "raw_string" => {
                let inner = source.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
                self.push(inner.unwrap_or(source));
            }
            "string_content" | "heredoc_content" => {
                self.push(&unescaped(source, |next| {
                    matches!(next, '$' | '`' | '"' | '\\' | '\n')
                }));
            }
            "string" => self.parts(text, node, constants, depth),
            "command_name" | "concatenation" => {
                let mut cursor = node.walk();
                for child in node.children(&mut cursor) {
                    self.take(text, child, constants, depth + 1);
                }
            }
            "simple_expansion" | "expansion" => match constant(text, node, constants) {
                Some(value) => self.push(value),
                None => self.unknown = true,
            },
            _ => self.unknown = true,
        }
    }

    /// A double-quoted string: what stands between its parts counts too.
    fn parts(&mut self, text: &str, node: Node<'_>, constants: &Constants, depth: usize) {
        let mut at = node.start_byte() + 1;
        let mut cursor = node.walk();
        for child in node.children(&mut cursor).filter(|child| kind(*child) != "\"") {
            let gap = text.get(at..child.start_byte()).unwrap_or_default();
            self.push(gap);
            self.take(text, child, constants, depth + 1);
            at = child.end_byte();
        }
        if at + 1 < node.end_byte() {
            let gap = text.get(at..node.end_byte() - 1).unwrap_or_default();
            self.push(gap);
        }
    }

    fn push(&mut self, text: &str) {
        if self.unknown {
            return;
        }
        if self.text.len() + text.len() > LONGEST {
            self.unknown = true;
            return;
        }
        self.text.push_str(text);
    }
}

/// Returns the value of `$NAME` or `${NAME}` (no operator) when the script assigns it once.
fn constant<'a>(text: &str, node: Node<'_>, constants: &'a Constants) -> Option<&'a str> {
    let source = text.get(node.byte_range())?;
    let name = source.strip_prefix('$')?;
    let name = match name.strip_prefix('{') {
        Some(inner) => inner.strip_suffix('}')?,
        None => name,
    };
    constants.expand(name)
}

/// Resolves backslashes before the characters that `special` accepts; one before a line end joins the lines.
fn unescaped(source: &str, special: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(source.len());
    let mut characters = source.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            out.push(character);
            continue;
        }
        match characters.next() {
            Some('\n') => {}
            Some(next) if special(next) => out.push(next),
            Some(next) => {
                out.push('\\');
                out.push(next);
            }
            None => out.push('\\'),
        }
    }
    out
}
