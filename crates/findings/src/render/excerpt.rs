//! The lines around a span, made harmless and short, with the span's place in them.

use std::ops::Range;

use crate::{Finding, Location, SourceFile, Span, sanitize};

/// Lines to show and what to underline in them: harmless for a terminal, at most twelve, cut where they are long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// The shown lines, joined by LF.
    pub text: String,
    /// Number of the first shown line.
    pub first_line: usize,
    /// What to underline: bytes of `text`.
    pub span: Range<usize>,
}

impl Excerpt {
    /// Returns the source lines that a finding points at; `None` when it points at no place in a text.
    #[must_use]
    pub fn of(finding: &Finding) -> Option<Self> {
        match &finding.location {
            Some(Location::Place { source, span }) => Some(excerpt(source, *span)),
            Some(Location::Path(_)) | None => None,
        }
    }
}

/// A span over more lines than this is shown by its first line.
const MAX_LINES: usize = 12;
/// Lines of at most this many characters are shown whole.
const WHOLE: usize = 120;
/// Characters shown before and after the interesting part of a long line.
const BEFORE: usize = 40;
const AFTER: usize = 80;
const CUT: &str = "...";

/// Returns what to show of `span`.
pub(crate) fn excerpt(source: &SourceFile, span: Span) -> Excerpt {
    let start = source.boundary(span.start);
    let end = source.boundary(span.end.max(start));
    let first_line = source.line_of(start);
    let last_line = source.line_of(if end > start { end - 1 } else { end });
    let shown_last = if last_line - first_line >= MAX_LINES {
        first_line
    } else {
        last_line
    };
    let mut out = Excerpt {
        text: String::new(),
        first_line,
        span: 0..0,
    };
    for line in first_line..=shown_last {
        let Some(range) = source.line_range(line) else {
            continue;
        };
        if line > first_line {
            out.text.push('\n');
        }
        let from = start.clamp(range.start, range.end);
        let to = end.clamp(range.start, range.end);
        let body = source.text().get(range.clone()).unwrap_or_default();
        let marked = push_line(&mut out.text, body, from - range.start..to - range.start);
        if line == first_line {
            out.span.start = marked.start;
        }
        out.span.end = marked.end;
    }
    out
}

/// Appends one line, cut around `span` when it is long; returns where the span came to stand.
fn push_line(out: &mut String, line: &str, span: Range<usize>) -> Range<usize> {
    let whole = cut_at(line, WHOLE) == line.len();
    let piece = |range: Range<usize>| line.get(range).unwrap_or_default();
    let (before, inside, after) = (
        piece(0..span.start),
        piece(span.clone()),
        piece(span.end..line.len()),
    );
    let left = before.char_indices().rev().nth(BEFORE - 1).map(|(i, _)| i);
    let left = left.filter(|i| *i > CUT.len() && !whole);
    if left.is_some() {
        out.push_str(CUT);
    }
    push_text(out, before.get(left.unwrap_or(0)..).unwrap_or_default());
    let start = out.len();
    let room = if whole {
        inside.len()
    } else {
        cut_at(inside, AFTER)
    };
    push_text(out, inside.get(..room).unwrap_or_default());
    let end = out.len();
    if room < inside.len() {
        out.push_str(CUT);
        return start..end;
    }
    let used = inside.chars().take(AFTER).count();
    let room = if whole {
        after.len()
    } else {
        cut_at(after, (AFTER - used).max(BEFORE))
    };
    push_text(out, after.get(..room).unwrap_or_default());
    if room < after.len() {
        out.push_str(CUT);
    }
    start..end
}

/// Returns the byte after the first `characters` of `text`.
fn cut_at(text: &str, characters: usize) -> usize {
    text.char_indices().nth(characters).map_or(text.len(), |(i, _)| i)
}

fn push_text(out: &mut String, text: &str) {
    for c in text.chars() {
        if c == '\t' {
            out.push_str("    ");
        } else {
            sanitize::push(out, c);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(text: &str, span: Range<usize>) -> (String, usize, String) {
        let e = excerpt(&SourceFile::new("f", text), span.into());
        let marked = e.text.get(e.span.clone()).unwrap().to_owned();
        (e.text, e.first_line, marked)
    }

    #[test]
    fn only_the_lines_of_the_span_are_shown() {
        assert_eq!(
            shown("a\nb = 1\nc", 2..3),
            ("b = 1".to_owned(), 2, "b".to_owned())
        );
        assert_eq!(
            shown("a\r\nb\r\nc\r\n", 0..4),
            ("a\nb".to_owned(), 1, "a\nb".to_owned())
        );
        assert_eq!(shown("", 0..0), (String::new(), 1, String::new()));
        assert_eq!(shown("a\n", 2..9), (String::new(), 2, String::new()));
    }

    #[test]
    fn a_span_that_ends_with_its_line_end_does_not_show_the_next_line() {
        assert_eq!(shown("ab\ncd\n", 0..3), ("ab".to_owned(), 1, "ab".to_owned()));
    }

    #[test]
    fn tabs_and_escapes_move_the_mark() {
        assert_eq!(
            shown("\t\u{1b}x", 2..3),
            (r"    \x1bx".to_owned(), 1, "x".to_owned())
        );
    }

    #[test]
    fn a_long_line_is_cut_around_the_span() {
        let text = format!("{}HERE{}", "x".repeat(1_000_000), "y".repeat(1_000_000));
        let (line, _, marked) = shown(&text, 1_000_000..1_000_004);
        assert_eq!(marked, "HERE");
        assert_eq!(line, format!("...{}HERE{}...", "x".repeat(40), "y".repeat(76)));
    }

    #[test]
    fn a_span_over_many_lines_is_shown_by_its_first() {
        let text = "line\n".repeat(100);
        assert_eq!(shown(&text, 0..300), ("line".to_owned(), 1, "line".to_owned()));
    }

    proptest! {
        #[test]
        fn any_span_of_any_text_can_be_shown(text in "(?s)[a\tü日\r\n\u{1b}]{0,60}", start in 0usize..80, end in 0usize..80) {
            let e = excerpt(&SourceFile::new("f", text), Span::new(start, end));
            prop_assert!(e.text.get(e.span.clone()).is_some());
            let hostile = e.text.contains(['\r', '\u{1b}', '\t']);
            prop_assert!(!hostile);
        }
    }
}
