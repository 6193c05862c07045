//! An edit as a unified diff, made from its changes: nothing is searched for, so a large file costs its length.

use std::fmt::Write as _;

use camino::Utf8Path;
use findings::{Span, sanitize};

use super::{DiffForm, FileEdit};

/// Unchanged lines around a change.
const CONTEXT: usize = 3;

/// Lines `first..end` become `new`.
struct Block {
    first: usize,
    end: usize,
    new: Vec<String>,
}

pub(super) fn unified(edit: &FileEdit, name: &Utf8Path, form: DiffForm) -> String {
    let lines: Vec<&str> = edit.before.split_inclusive('\n').collect();
    let blocks = blocks(edit, &lines);
    let mut out = head(edit, name, !blocks.is_empty());
    let mut shift: isize = 0;
    let mut rest = blocks.as_slice();
    while let Some(first) = rest.first() {
        let near = |pair: &[Block]| pair[1].first <= pair[0].end + 2 * CONTEXT;
        let count = 1 + rest.windows(2).take_while(|pair| near(pair)).count();
        let (hunk, later) = rest.split_at(count);
        let from = first.first.saturating_sub(CONTEXT);
        let last = hunk.last().map_or(first.end, |block| block.end);
        let to = (last + CONTEXT).min(lines.len());
        let grown = |block: &Block| block.new.len().cast_signed() - (block.end - block.first).cast_signed();
        let growth: isize = hunk.iter().map(grown).sum();
        let old = range(from, to - from);
        let new = range(
            from.saturating_add_signed(shift),
            (to - from).saturating_add_signed(growth),
        );
        let _infallible = writeln!(out, "@@ -{old} +{new} @@");
        let mut at = from;
        for block in hunk {
            let gone = lines.get(block.first..block.end).unwrap_or_default();
            push(
                &mut out,
                ' ',
                lines.get(at..block.first).unwrap_or_default(),
                form,
            );
            push(&mut out, '-', gone, form);
            push(&mut out, '+', &block.new, form);
            at = block.end;
        }
        push(&mut out, ' ', lines.get(at..to).unwrap_or_default(), form);
        shift += growth;
        rest = later;
    }
    out
}

/// Returns the lines before the hunks, as git writes and reads them.
fn head(edit: &FileEdit, name: &Utf8Path, hunks: bool) -> String {
    let name = name.as_str().trim_start_matches('/');
    let [old, new] = ["a", "b"].map(|side| quoted(&format!("{side}/{name}")));
    let mut out = format!("diff --git {old} {new}\n");
    if let Some((before, after)) = edit.mode {
        // Git knows of one bit.
        let word = |mode: u32| if mode & 0o100 == 0 { "100644" } else { "100755" };
        let _infallible = write!(out, "old mode {}\nnew mode {}\n", word(before), word(after));
    }
    if hunks {
        // A name with a blank ends where the tab is.
        let end = if name.contains(' ') { "\t" } else { "" };
        let _infallible = write!(out, "--- {old}{end}\n+++ {new}{end}\n");
    }
    out
}

/// Returns a name in git's quotes when it needs them.
fn quoted(name: &str) -> String {
    let plain =
        |c: char| c != '"' && c != '\\' && sanitize::line(c.encode_utf8(&mut [0; 4])).len() == c.len_utf8();
    if name.chars().all(plain) {
        return name.to_owned();
    }
    let mut out = String::from("\"");
    for c in name.chars() {
        if plain(c) {
            out.push(c);
        } else {
            for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                let _infallible = write!(out, "\\{byte:03o}");
            }
        }
    }
    out.push('"');
    out
}

/// Returns the runs of lines that change.
fn blocks(edit: &FileEdit, lines: &[&str]) -> Vec<Block> {
    let all: Vec<(Span, String)> = edit.changes();
    let mut starts = Vec::with_capacity(lines.len() + 1);
    let mut at = 0;
    for line in lines {
        starts.push(at);
        at += line.len();
    }
    starts.push(at);
    let line_at = |offset: usize| starts.partition_point(|start| *start <= offset).saturating_sub(1);
    let mut blocks: Vec<Block> = Vec::new();
    let mut of_block: Vec<Vec<usize>> = Vec::new();
    for (index, (span, _)) in all.iter().enumerate() {
        let first = line_at(span.start);
        let end = line_at(span.end.saturating_sub(1).max(span.start)) + 1;
        match blocks.last_mut().zip(of_block.last_mut()) {
            Some((block, changes)) if first <= block.end => {
                block.end = block.end.max(end);
                changes.push(index);
            }
            _ => {
                blocks.push(Block {
                    first,
                    end,
                    new: Vec::new(),
                });
                of_block.push(vec![index]);
            }
        }
    }
    for (block, changes) in blocks.iter_mut().zip(of_block) {
        let offset = |line: usize| starts.get(line).copied().unwrap_or(edit.before.len());
        let (mut at, end) = (offset(block.first), offset(block.end));
        let mut text = String::new();
        for (span, new) in changes.into_iter().filter_map(|index| all.get(index)) {
            text.push_str(edit.before.get(at..span.start).unwrap_or_default());
            text.push_str(new);
            at = span.end;
        }
        text.push_str(edit.before.get(at..end).unwrap_or_default());
        block.new = text.split_inclusive('\n').map(str::to_owned).collect();
    }
    blocks
}

/// `first,count` as diffs write it: lines from 1, and the line before where there are none.
fn range(from: usize, count: usize) -> String {
    let first = if count == 0 { from } else { from + 1 };
    format!("{first},{count}")
}

fn push(out: &mut String, sign: char, lines: &[impl AsRef<str>], form: DiffForm) {
    for line in lines {
        let line = line.as_ref();
        let text = line.strip_suffix('\n');
        out.push(sign);
        match form {
            DiffForm::Shown => out.push_str(&sanitize::terminal(text.unwrap_or(line))),
            DiffForm::Exact => push_exact(out, text.unwrap_or(line)),
        }
        out.push('\n');
        if text.is_none() {
            out.push_str("\\ No newline at end of file\n");
        }
    }
}

/// Appends a line with the characters that an edit removes as they are.
fn push_exact(out: &mut String, line: &str) {
    let rest = match line.strip_prefix('\u{feff}') {
        Some(rest) => {
            out.push('\u{feff}');
            rest
        }
        None => line,
    };
    let text = rest.strip_suffix('\r').unwrap_or(rest);
    out.push_str(&sanitize::terminal(text));
    if text.len() < rest.len() {
        out.push('\r');
    }
}
