//! Edits of a TOML file that are planned key by key, together with what the file must say in the end.

use camino::Utf8Path;
use findings::Span;
use task_model::toml_text::{Entry, Table, TableKind, Value, ValueKind};

use super::plain::Plain;
use super::{FileEdit, Part};

/// The edits of one TOML file.
pub(super) struct Edits<'a> {
    text: &'a str,
    parts: Vec<Part>,
    /// What the file must say in the end.
    expected: Plain,
}

impl<'a> Edits<'a> {
    pub(super) fn new(text: &'a str, root: &Table) -> Self {
        Self {
            text,
            parts: Vec::new(),
            expected: Plain::of(root),
        }
    }

    /// Writes another key, and another value unless the old one stays.
    pub(super) fn rename(
        &mut self,
        rule: &'static str,
        place: &[&str],
        entry: &Entry,
        new: &str,
        value: Option<(String, ValueKind)>,
    ) {
        let old = &entry.key.name;
        let Some(table) = self.expected.table(place) else {
            return;
        };
        let Some(mut plain) = table.remove(old) else {
            return;
        };
        let mut changes = vec![(entry.key.span, new.to_owned())];
        if let Some((written, kind)) = value {
            plain = Plain::scalar(&kind);
            changes.push((entry.value.span, written));
        }
        table.insert(new.to_owned(), plain);
        let what = format!("write `{new}` for `{old}`");
        self.add(rule, of_entry(entry), what, changes);
    }

    /// Takes a key out with its line; a comment behind it stays.
    pub(super) fn remove(
        &mut self,
        rule: &'static str,
        place: &[&str],
        table: &Table,
        entry: &Entry,
        because: &str,
    ) {
        let old = &entry.key.name;
        if !matches!(table.kind, TableKind::Root | TableKind::Header) {
            return;
        }
        let Some(span) = line_of(self.text, entry) else {
            return;
        };
        let Some(plain) = self.expected.table(place) else {
            return;
        };
        plain.remove(old);
        let what = format!("remove `{old}`, which `{because}` says already");
        self.add(rule, of_entry(entry), what, vec![(span, String::new())]);
    }

    /// Writes another text as the value of a key.
    pub(super) fn replace(
        &mut self,
        rule: &'static str,
        place: &[&str],
        key: &str,
        value: &Value,
        new: &str,
        what: String,
    ) {
        let Some(table) = self.expected.table(place) else {
            return;
        };
        let plain = Plain::scalar(&ValueKind::String(new.to_owned()));
        table.insert(key.to_owned(), plain);
        self.add(rule, value.span, what, vec![(value.span, format!("\"{new}\""))]);
    }

    /// Writes another key behind one of the table: on a line of its own, indented and ended as that one is.
    pub(super) fn insert(
        &mut self,
        rule: &'static str,
        at: Span,
        (place, table, behind): (&[&str], &Table, &Entry),
        new: Insertion,
    ) {
        let written = format!("{} = \"{}\"", new.key, new.text);
        let point = if table.kind == TableKind::Inline {
            Some((behind.value.span.end, format!(", {written}")))
        } else {
            line_behind(self.text, behind).map(|(place, before)| (place, format!("{before}{written}")))
        };
        let Some(((point, text), table)) = point.zip(self.expected.table(place)) else {
            return;
        };
        let plain = Plain::scalar(&ValueKind::String(new.text));
        table.insert(new.key.to_owned(), plain);
        self.add(rule, at, new.what, vec![(Span::new(point, point), text)]);
    }

    fn add(&mut self, rule: &'static str, at: Span, what: String, changes: Vec<(Span, String)>) {
        self.parts.push(Part {
            rule,
            at: Some(at),
            what,
            changes,
        });
    }

    /// Returns the edit of the file, and what it must say afterwards; `None` when nothing is to be done.
    pub(super) fn finish(mut self, path: &Utf8Path) -> Option<(FileEdit, Plain)> {
        self.parts.sort_by_key(|part| part.at);
        let edit = FileEdit {
            path: path.to_owned(),
            before: self.text.to_owned(),
            parts: self.parts,
            mode: None,
        };
        (!edit.parts.is_empty()).then_some((edit, self.expected))
    }
}

/// A key with a text that is to be written.
pub(super) struct Insertion {
    pub(super) key: &'static str,
    pub(super) text: String,
    pub(super) what: String,
}

/// Returns the end of an entry's line, and the line end and indentation that a line behind it begins with.
fn line_behind(text: &str, entry: &Entry) -> Option<(usize, String)> {
    let before = text.get(..entry.key.span.start)?;
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let indent = before.get(start..)?;
    let end = entry.value.span.end;
    let behind = text.get(end..)?;
    let length = behind.find('\n').unwrap_or(behind.len());
    let line = behind.get(..length)?;
    match line.strip_suffix('\r') {
        Some(rest) => Some((end + rest.len(), format!("\r\n{indent}"))),
        None => Some((end + line.len(), format!("\n{indent}"))),
    }
}

/// The place of a key with its value, where findings about it point.
fn of_entry(entry: &Entry) -> Span {
    Span::new(entry.key.span.start, entry.value.span.end)
}

/// Returns the line of an entry with its end, or the entry up to the comment behind it; `None` when it shares its
/// line with anything else.
fn line_of(text: &str, entry: &Entry) -> Option<Span> {
    let before = text.get(..entry.key.span.start)?;
    let start = before.rfind(['\n', '\r']).map_or(0, |at| at + 1);
    let blank = |c: char| matches!(c, ' ' | '\t');
    if !before.get(start..)?.chars().all(blank) {
        return None;
    }
    let behind = text.get(entry.value.span.end..)?;
    let rest = behind.trim_start_matches(blank);
    let end = text.len() - rest.len();
    match rest.chars().next() {
        None => Some(Span::new(start, end)),
        Some('#') => Some(Span::new(entry.key.span.start, end)),
        Some('\r') if rest.starts_with("\r\n") => Some(Span::new(start, end + 2)),
        Some('\r' | '\n') => Some(Span::new(start, end + 1)),
        Some(_) => None,
    }
}
