//! Bytes to tree: the checks before the grammar, the grammar, and its complaints as findings.

use std::sync::Arc;

use camino::Utf8PathBuf;
use findings::{Finding, SourceFile, Span};
use toml_parser::Source;
use toml_parser::lexer::{Token, TokenKind};

use super::build::Builder;
use super::complaint::{complaint, one_a_cause};
use super::decode::{MAX_BYTES, Normalized};
use super::events::Complaints;
use super::nodes::{Fault, FaultKind};
use super::rules;
use super::value::Table;

const MAX_TOKENS: usize = 4_000_000;

/// A TOML file as far as it could be read.
#[derive(Debug)]
pub struct Parsed {
    /// The text that all spans are of; undecodable bytes show as U+FFFD.
    pub source: Arc<SourceFile>,
    /// The file's root table, when it is TOML.
    pub root: Option<Table>,
    /// Every fault of the text, in order of place. Empty exactly when there is a root.
    pub findings: Vec<Finding>,
}

const APART: &str = "keep data in a file of its own";

/// Reads TOML 1.0 as Python's `tomllib` does after opening the file as UTF-8 text; `path` is the one to show.
#[must_use]
pub fn parse(path: impl Into<Utf8PathBuf>, bytes: &[u8]) -> Parsed {
    let path = path.into();
    if bytes.len() > MAX_BYTES {
        let source = Arc::new(SourceFile::new(path.clone(), ""));
        let finding = Finding::new(&rules::TOO_LARGE, "the file is larger than 16 MiB")
            .help(APART)
            .at_path(path);
        return Parsed {
            source,
            root: None,
            findings: vec![finding],
        };
    }
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => return not_utf8(path, bytes, error.valid_up_to()),
    };
    let source = Arc::new(SourceFile::new(path, text));
    if let Some(finding) = refused_at_once(&source) {
        return Parsed {
            source,
            root: None,
            findings: vec![finding],
        };
    }
    let normalized = Normalized::new(text);
    match read(&normalized) {
        Ok(root) => Parsed {
            source,
            root: Some(root),
            findings: Vec::new(),
        },
        Err(faults) => {
            let findings = faults
                .into_iter()
                .map(|f| finding(&source, &normalized, f))
                .collect();
            Parsed {
                source,
                root: None,
                findings,
            }
        }
    }
}

fn not_utf8(path: Utf8PathBuf, bytes: &[u8], at: usize) -> Parsed {
    let source = Arc::new(SourceFile::new(path, String::from_utf8_lossy(bytes)));
    let byte = bytes.get(at).copied().unwrap_or_default();
    let finding = Finding::new(
        &rules::ENCODING,
        format!("the file is not UTF-8: byte 0x{byte:02x} at offset {at} does not belong there"),
    )
    .help("save the file as UTF-8")
    .at(&source, Span::new(at, at + '\u{fffd}'.len_utf8()));
    Parsed {
        source,
        root: None,
        findings: vec![finding],
    }
}

fn refused_at_once(source: &Arc<SourceFile>) -> Option<Finding> {
    let text = source.text();
    if text.starts_with('\u{feff}') {
        return Some(
            Finding::new(
                &rules::ENCODING,
                "the file begins with a byte order mark, which TOML readers refuse",
            )
            .help("save the file as UTF-8 without a byte order mark")
            .at(source, Span::new(0, 3)),
        );
    }
    let nul = text.find('\0')?;
    Some(
        Finding::new(
            &rules::ENCODING,
            format!("the file holds a NUL byte at offset {nul}"),
        )
        .help("remove it; TOML is text")
        .at(source, Span::new(nul, nul + 1)),
    )
}

fn read(normalized: &Normalized<'_>) -> Result<Table, Vec<Fault>> {
    let source = Source::new(&normalized.text);
    let Some(tokens) = tokens(source) else {
        return Err(vec![Fault {
            kind: FaultKind::TooDeep,
            span: Span::new(0, 0),
            context: None,
            message: String::new(),
            help: None,
        }]);
    };
    let mut builder = Builder::new(source);
    let mut complaints = Complaints::default();
    toml_parser::parser::parse_document(&tokens, &mut builder, &mut complaints);
    drop(tokens);
    if complaints.0.is_empty() && builder.faults.is_empty() {
        return Ok(builder.finish(&|span| normalized.original(span)));
    }
    let mut faults = std::mem::take(&mut builder.faults);
    let end = normalized.text.trim_end().len();
    faults.extend(complaints.0.iter().map(|c| complaint(c, &normalized.text, end)));
    Err(one_a_cause(&normalized.text, faults))
}

/// Returns the tokens, or `None` when there are too many. The grammar calls itself once for each `=` of a row of
/// them, so only two of a row are kept: the fault is the same.
fn tokens(source: Source<'_>) -> Option<Vec<Token>> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut equals = 0;
    for token in source.lex() {
        equals = if token.kind() == TokenKind::Equals {
            equals + 1
        } else {
            0
        };
        if equals > 2 {
            continue;
        }
        if tokens.len() == MAX_TOKENS {
            return None;
        }
        tokens.push(token);
    }
    Some(tokens)
}

fn finding(source: &Arc<SourceFile>, normalized: &Normalized<'_>, fault: Fault) -> Finding {
    if fault.message.is_empty() {
        return Finding::new(&rules::TOO_LARGE, "the file has more than four million tokens")
            .help(APART)
            .at_path(source.path());
    }
    let rule = match fault.kind {
        FaultKind::Syntax => &rules::SYNTAX,
        FaultKind::Duplicate => &rules::DUPLICATE,
        FaultKind::TooDeep => &rules::TOO_DEEP,
    };
    let message = match fault.kind {
        FaultKind::Syntax => format!("not TOML: {}", fault.message),
        FaultKind::Duplicate | FaultKind::TooDeep => fault.message,
    };
    let mut finding = Finding::new(rule, message).at(source, normalized.original(fault.span));
    finding.help.extend(fault.help);
    finding
}
