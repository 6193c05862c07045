//! A source text with its display path, and byte offset to line and column.

use std::sync::OnceLock;

use camino::{Utf8Path, Utf8PathBuf};

/// A text that findings point into.
#[derive(Debug)]
pub struct SourceFile {
    path: Utf8PathBuf,
    text: String,
    index: OnceLock<Index>,
}

/// A place for people: both count from 1, columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LineColumn {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

/// Where lines start, and how many characters precede each block: many findings in one long file stay cheap.
#[derive(Debug)]
struct Index {
    line_starts: Vec<usize>,
    characters_before_block: Vec<usize>,
}

const BLOCK: usize = 4096;

/// Returns a path without the `./` that a name joined to the working directory begins with: a file has one spelling in all
/// findings.
pub(crate) fn shown(path: Utf8PathBuf) -> Utf8PathBuf {
    match path.strip_prefix(".") {
        Ok(rest) if !rest.as_str().is_empty() => rest.to_owned(),
        _ => path,
    }
}

impl PartialEq for SourceFile {
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path && self.text == other.text
    }
}

impl Eq for SourceFile {}

impl SourceFile {
    /// Returns a source; `path` is shown as it is (relative to the working directory, `/` between parts), but for a `./`
    /// at its head.
    pub fn new(path: impl Into<Utf8PathBuf>, text: impl Into<String>) -> Self {
        Self {
            path: shown(path.into()),
            text: text.into(),
            index: OnceLock::new(),
        }
    }

    /// Returns the path to show.
    #[must_use]
    pub fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// Returns the whole text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns line and column of a byte offset; an offset past the end is the end, one inside a character is
    /// that character's start. Lines end at LF, CRLF or a lone CR.
    #[must_use]
    pub fn line_column(&self, offset: usize) -> LineColumn {
        let offset = self.boundary(offset);
        let line = self.line_of(offset);
        let start = self.index().line_starts.get(line - 1).copied().unwrap_or(0);
        let column = self.characters_before(offset) - self.characters_before(start) + 1;
        LineColumn { line, column }
    }

    /// Returns the bytes of a line (from 1) without its end; `None` past the last line.
    #[must_use]
    pub fn line_range(&self, line: usize) -> Option<std::ops::Range<usize>> {
        let starts = &self.index().line_starts;
        let start = *starts.get(line.checked_sub(1)?)?;
        let end = starts.get(line).copied().unwrap_or(self.text.len());
        let body = self.text.get(start..end)?.trim_end_matches(['\n', '\r']);
        Some(start..start + body.len())
    }

    /// Returns the nearest character boundary at or before `offset`, inside the text.
    pub(crate) fn boundary(&self, offset: usize) -> usize {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        offset
    }

    /// Returns the line (from 1) that holds `offset`.
    pub(crate) fn line_of(&self, offset: usize) -> usize {
        self.index().line_starts.partition_point(|&s| s <= offset)
    }

    fn characters_before(&self, offset: usize) -> usize {
        let block = offset / BLOCK;
        let before = self
            .index()
            .characters_before_block
            .get(block)
            .copied()
            .unwrap_or(0);
        let rest = self
            .text
            .as_bytes()
            .get(block * BLOCK..offset)
            .unwrap_or_default();
        before + characters(rest)
    }

    fn index(&self) -> &Index {
        self.index.get_or_init(|| {
            let bytes = self.text.as_bytes();
            let mut line_starts = vec![0];
            for (i, &b) in bytes.iter().enumerate() {
                if b == b'\n' || (b == b'\r' && bytes.get(i + 1) != Some(&b'\n')) {
                    line_starts.push(i + 1);
                }
            }
            let mut total = 0;
            let mut characters_before_block = Vec::with_capacity(bytes.len() / BLOCK + 1);
            for block in bytes.chunks(BLOCK) {
                characters_before_block.push(total);
                total += characters(block);
            }
            characters_before_block.push(total);
            Index {
                line_starts,
                characters_before_block,
            }
        })
    }
}

/// Counts the bytes that begin a character.
fn characters(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&b| b & 0xC0 != 0x80).count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_file_of_the_working_directory_has_one_spelling() {
        for (path, expected) in [
            ("./a", "a"),
            ("a", "a"),
            (".", "."),
            ("./../a", "../a"),
            (".a", ".a"),
        ] {
            assert_eq!(SourceFile::new(path, "").path(), expected);
        }
    }

    fn at(text: &str, offset: usize) -> (usize, usize) {
        let place = SourceFile::new("f", text).line_column(offset);
        (place.line, place.column)
    }

    #[test]
    fn columns_count_characters_and_lines_end_three_ways() {
        let text = "a\r\nbü=\rc\n";
        assert_eq!(at(text, 0), (1, 1));
        assert_eq!(at(text, 3), (2, 1));
        assert_eq!(at(text, 6), (2, 3), "`=` after a two-byte character");
        assert_eq!(at(text, 5), (2, 2), "inside the two-byte character");
        assert_eq!(at(text, 8), (3, 1));
        assert_eq!(at(text, 10), (4, 1));
        assert_eq!(at(text, 999), (4, 1));
    }

    #[test]
    fn line_ranges_have_no_line_ends() {
        let source = SourceFile::new("f", "a\r\n\nb");
        assert_eq!(source.line_range(1), Some(0..1));
        assert_eq!(source.line_range(2), Some(3..3));
        assert_eq!(source.line_range(3), Some(4..5));
        assert_eq!(source.line_range(4), None);
        assert_eq!(SourceFile::new("f", "").line_range(1), Some(0..0));
    }

    proptest! {
        #[test]
        fn the_index_agrees_with_counting(text in "[aü\r\n]{0,40}", long in 0usize..3, offset in 0usize..9000) {
            let text = format!("{}{text}", "ü\n".repeat(long * 1500));
            let source = SourceFile::new("f", text.clone());
            let offset = source.boundary(offset);
            let before = text.get(..offset).unwrap();
            let crlf = before.ends_with('\r') && text.as_bytes().get(offset) == Some(&b'\n');
            let lines = before.replace("\r\n", "\n").replace('\r', "\n");
            let lines = if crlf { lines.strip_suffix('\n').unwrap().to_owned() + "\r" } else { lines };
            let last = lines.rsplit('\n').next().unwrap();
            let place = source.line_column(offset);
            prop_assert_eq!(place.line, lines.matches('\n').count() + 1);
            prop_assert_eq!(place.column, last.chars().count() + 1);
        }
    }
}
