//! From text to a script.

use tree_sitter::{ParseOptions, Tree};

use super::kind::with_parser;
use super::model::Script;
use super::walk::Walk;

/// The longest script that is read, bytes.
pub const MAX_SCRIPT: usize = 16 << 20;

/// How often the parser may report progress before it is stopped; counted, not timed, so that a text always ends the
/// same way. Ordinary scripts report ten times a kilobyte, and lines of two words once in eight.
const MOST_REPORTS: usize = 30_000;

/// The most here-documents of one line: the grammar goes over all of them again for each.
const MOST_DOCUMENTS: usize = 1000;

impl Script {
    /// Reads a script; what is no shell becomes an empty script that is not `whole`.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let shebang = shebang(text);
        let Some(tree) = tree(text) else {
            return Self {
                shebang,
                ..Self::default()
            };
        };
        let mut script = Walk::over(text, &tree);
        script.shebang = shebang;
        script
    }
}

fn tree(text: &str) -> Option<Tree> {
    let crowded = |line: &str| line.len() > MOST_DOCUMENTS && line.matches("<<").count() > MOST_DOCUMENTS;
    if text.len() > MAX_SCRIPT || text.lines().any(crowded) {
        return None;
    }
    let mut reports = 0;
    let mut progress = |_: &tree_sitter::ParseState| {
        reports += 1;
        reports > MOST_REPORTS
    };
    let options = ParseOptions::new().progress_callback(&mut progress);
    let bytes = text.as_bytes();
    with_parser(|parser| {
        parser.parse_with_options(
            &mut |at, _| bytes.get(at..).unwrap_or_default(),
            None,
            Some(options),
        )
    })
}

fn shebang(text: &str) -> Option<String> {
    let line = text.strip_prefix("#!")?.lines().next()?;
    Some(line.trim().to_owned())
}
