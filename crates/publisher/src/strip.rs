//! dataset.toml without `[gym]`, every other byte as it is.

use std::ops::Range;

use task_model::toml_text;
use toml::de::{DeTable, DeValue};

/// Why `[gym]` could not be taken out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`[gym]` cannot be cut out of dataset.toml without touching its other tables")]
pub struct StripFault;

/// Returns `text`, a dataset.toml that parses, without its `gym` table. Comment lines directly above a piece of it go
/// with it; those directly above what follows stay.
///
/// # Errors
/// What is left is not the same document without `gym`.
pub fn strip_gym(text: &str) -> Result<String, StripFault> {
    let mut left = String::with_capacity(text.len());
    let mut from = 0;
    for piece in pieces(text) {
        left.push_str(text.get(from..piece.start).ok_or(StripFault)?);
        from = piece.end;
    }
    left.push_str(text.get(from..).ok_or(StripFault)?);
    let same = is_without_gym(text, &left);
    if same { Ok(left) } else { Err(StripFault) }
}

/// Says whether two documents are the same but for the root key `gym`, which `after` must not have. The reader is not
/// the one that found the pieces, so that a slip of that one cannot hide here.
fn is_without_gym(before: &str, after: &str) -> bool {
    let (before, after) = (newlines(before), newlines(after));
    let (Ok(before), Ok(after)) = (DeTable::parse(&before), DeTable::parse(&after)) else {
        return false;
    };
    let mut expected = before.into_inner();
    expected.remove("gym");
    same_tables(&expected, after.get_ref())
}

/// Lone carriage returns end lines for Python and are a fault for this reader.
fn newlines(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

fn same_tables(a: &DeTable<'_>, b: &DeTable<'_>) -> bool {
    a.len() == b.len()
        && a.iter().zip(b).all(|((key, value), (other_key, other))| {
            key.get_ref() == other_key.get_ref() && same_values(value.get_ref(), other.get_ref())
        })
}

fn same_values(a: &DeValue<'_>, b: &DeValue<'_>) -> bool {
    match (a, b) {
        (DeValue::Table(a), DeValue::Table(b)) => same_tables(a, b),
        (DeValue::Array(a), DeValue::Array(b)) => {
            a.len() == b.len()
                && a.iter()
                    .zip(b.iter())
                    .all(|(a, b)| same_values(a.get_ref(), b.get_ref()))
        }
        (DeValue::String(a), DeValue::String(b)) => a == b,
        (DeValue::Integer(a), DeValue::Integer(b)) => a.as_str() == b.as_str() && a.radix() == b.radix(),
        (DeValue::Float(a), DeValue::Float(b)) => a.as_str() == b.as_str(),
        (DeValue::Boolean(a), DeValue::Boolean(b)) => a == b,
        (DeValue::Datetime(a), DeValue::Datetime(b)) => a == b,
        _ => false,
    }
}

/// Returns the byte ranges to cut, in order, disjoint.
fn pieces(text: &str) -> Vec<Range<usize>> {
    let expressions = expressions(text);
    let mut pieces: Vec<Range<usize>> = Vec::new();
    let mut at_root = true;
    let mut open: Option<usize> = None;
    for expression in &expressions {
        let names_gym =
            first_key(text.get(expression.key.clone()).unwrap_or_default()).as_deref() == Some("gym");
        if expression.is_header {
            if let Some(start) = open.take() {
                pieces.push(start..expression.block_start);
            }
            at_root = false;
            if names_gym {
                open = Some(expression.block_start);
            }
        } else if at_root && names_gym {
            pieces.push(expression.block_start..expression.end);
        }
    }
    if let Some(start) = open {
        pieces.push(start..text.len());
    }
    pieces
}

/// A header or a key with its value.
#[derive(Debug)]
struct Expression {
    /// Start of its first line, or of the comment lines directly above.
    block_start: usize,
    /// Its key, or what stands between a header's brackets and beyond.
    key: Range<usize>,
    /// Behind the end of its last line.
    end: usize,
    is_header: bool,
}

/// Walks over the top level of a text that is TOML.
fn expressions(text: &str) -> Vec<Expression> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    let mut comments_from: Option<usize> = None;
    while at < bytes.len() {
        let line = at;
        let first = skip(bytes, at, |b| matches!(b, b' ' | b'\t'));
        match bytes.get(first) {
            None => break,
            Some(b'\n' | b'\r') => {
                comments_from = None;
                at = line_end(bytes, first);
            }
            Some(b'#') => {
                comments_from.get_or_insert(line);
                at = line_end(bytes, first);
            }
            Some(&byte) => {
                let is_header = byte == b'[';
                let start = if is_header {
                    skip(bytes, first, |b| b == b'[')
                } else {
                    first
                };
                let last = if is_header {
                    key_end(bytes, start, b']')
                } else {
                    value_end(bytes, first)
                };
                at = line_end(bytes, last);
                let block_start = comments_from.take().unwrap_or(line);
                found.push(Expression {
                    block_start,
                    key: start..last,
                    end: at,
                    is_header,
                });
            }
        }
    }
    found
}

fn skip(bytes: &[u8], from: usize, of: impl Fn(u8) -> bool) -> usize {
    from + bytes
        .get(from..)
        .unwrap_or_default()
        .iter()
        .take_while(|b| of(**b))
        .count()
}

/// Returns the place behind the next line end.
fn line_end(bytes: &[u8], from: usize) -> usize {
    let at = skip(bytes, from, |b| !matches!(b, b'\n' | b'\r'));
    let crlf = bytes.get(at..at + 2) == Some(b"\r\n");
    (at + if crlf { 2 } else { 1 }).min(bytes.len())
}

/// Returns the place of `stop` behind a key, strings skipped.
fn key_end(bytes: &[u8], from: usize, stop: u8) -> usize {
    let mut at = from;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' | b'\'' => at = string_end(bytes, at),
            byte if byte == stop => return at,
            _ => at += 1,
        }
    }
    at
}

/// Returns the place behind the value of the key at `from`: the end of its last line's content.
fn value_end(bytes: &[u8], from: usize) -> usize {
    let mut at = key_end(bytes, from, b'=');
    let mut depth = 0usize;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' | b'\'' => {
                at = string_end(bytes, at);
                continue;
            }
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            b'#' => {
                at = skip(bytes, at, |b| !matches!(b, b'\n' | b'\r'));
                continue;
            }
            b'\n' | b'\r' if depth == 0 => return at,
            _ => {}
        }
        at += 1;
    }
    at
}

/// Returns the place behind the string that starts at `from`.
fn string_end(bytes: &[u8], from: usize) -> usize {
    let quote = bytes.get(from).copied().unwrap_or(b'"');
    let triple = [quote; 3];
    let is_long = bytes.get(from..from + 3) == Some(&triple);
    let mut at = from + if is_long { 3 } else { 1 };
    while let Some(&byte) = bytes.get(at) {
        if byte == b'\\' && quote == b'"' {
            at += 2;
        } else if is_long && bytes.get(at..at + 3) == Some(&triple) {
            // Up to two quotes may stand directly before the closing three.
            let quotes = skip(bytes, at, |b| b == quote) - at;
            return at + quotes.min(5);
        } else if !is_long && byte == quote {
            return at + 1;
        } else {
            at += 1;
        }
    }
    at
}

/// Returns the first part of a key as its name.
fn first_key(key: &str) -> Option<String> {
    let key = key.trim_start_matches([' ', '\t']);
    let end = match key.as_bytes().first()? {
        b'"' | b'\'' => string_end(key.as_bytes(), 0),
        _ => key
            .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_')))
            .unwrap_or(key.len()),
    };
    let part = key.get(..end)?;
    let parsed = toml_text::parse("key", format!("{part} = 0\n").as_bytes()).root?;
    parsed.entries().first().map(|entry| entry.key.name.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_goes_with_its_comments_and_the_next_one_keeps_its_own() {
        let text = "# top\n\n# about gym\n[gym]\nlicense = \"MIT\"\n\n[gym.defaults]\nnum_repeats = 2\n\n# about it\n\
                    [dataset]\nname = \"a/b\"\n";
        assert_eq!(
            strip_gym(text).unwrap(),
            "# top\n\n# about it\n[dataset]\nname = \"a/b\"\n"
        );
    }

    #[test]
    fn a_table_at_the_end_leaves_the_blank_lines_before_it() {
        let text = "[dataset]\r\nname = \"a/b\"\r\n\r\n[gym]\r\ntype = \"x\"\r\n";
        assert_eq!(strip_gym(text).unwrap(), "[dataset]\r\nname = \"a/b\"\r\n\r\n");
    }

    #[test]
    fn inline_and_dotted_spellings_go_line_by_line() {
        let text = "gym = { defaults = { num_repeats = 1 } } # x\nmetadata = {}\n[dataset]\nname = \"a/b\"\n";
        assert_eq!(
            strip_gym(text).unwrap(),
            "metadata = {}\n[dataset]\nname = \"a/b\"\n"
        );
        let text = "# c\ngym.license = \"MIT\"\n\"gym\".tasks = [ # ]\n  {},\n]\n[dataset]\nname = \"a/b\"\ngym.x = 1\n";
        assert_eq!(strip_gym(text).unwrap(), "[dataset]\nname = \"a/b\"\ngym.x = 1\n");
    }

    #[test]
    fn pieces_between_other_tables_go_and_look_alikes_stay() {
        let text = "[dataset]\nname = \"a/b\"\ndescription = \"\"\"\n[gym]\n\"\"\"\n[gym.tasks.\"x.y\"]\nenv = '''\n[dataset]\n'''\n\
                    [[tasks]]\nname = \"a/x\"\n[ 'gym' . defaults ]\nnum_repeats = 1\n[metadata.gym]\nx = [\n  \"[gym]\",\n]\n[gymnasium]\n";
        let left = strip_gym(text).unwrap();
        assert_eq!(
            left,
            "[dataset]\nname = \"a/b\"\ndescription = \"\"\"\n[gym]\n\"\"\"\n[[tasks]]\nname = \"a/x\"\n[metadata.gym]\nx = [\n  \
             \"[gym]\",\n]\n[gymnasium]\n"
        );
    }

    #[test]
    fn a_text_without_it_is_untouched() {
        for text in ["", "[dataset]\nname = \"a/b\"", "# [gym]\n"] {
            assert_eq!(strip_gym(text).unwrap(), text);
        }
    }

    #[test]
    fn an_escaped_key_is_recognised() {
        assert_eq!(strip_gym("[\"g\\u0079m\"]\nx = 1\n[a]\n").unwrap(), "[a]\n");
    }
}
