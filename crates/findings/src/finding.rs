//! One diagnostic.

use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};

use crate::{Level, LineColumn, RuleMeta, SourceFile, Span};

/// Where a finding points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// A file or folder as a whole (or one that should be there).
    Path(Utf8PathBuf),
    /// A place in a text.
    Place {
        /// The text; shared by all findings in it.
        source: Arc<SourceFile>,
        /// The bytes meant.
        span: Span,
    },
}

impl Location {
    /// Returns the path to show.
    #[must_use]
    pub fn path(&self) -> &Utf8Path {
        match self {
            Self::Path(path) => path,
            Self::Place { source, .. } => source.path(),
        }
    }

    /// Returns first and last place (`end` exclusive), or `None` for a whole file.
    #[must_use]
    pub fn range(&self) -> Option<(LineColumn, LineColumn)> {
        match self {
            Self::Path(_) => None,
            Self::Place { source, span } => {
                Some((source.line_column(span.start), source.line_column(span.end)))
            }
        }
    }
}

/// A safe edit that takes a finding away: what `--fix` does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// What it does, one phrase.
    pub what: String,
    /// The file as it is now.
    pub source: Arc<SourceFile>,
    /// The bytes that change, in order of place, each with its new text; empty when only the file's mode does, or when
    /// they are too many to list.
    pub changes: Vec<(Span, String)>,
}

/// One diagnostic: what is wrong, where, and what to do. The message is one sentence without a full stop;
/// literals stand in backticks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Which rule speaks.
    pub rule: &'static RuleMeta,
    /// The rule's level unless lowered.
    pub level: Level,
    /// What is wrong.
    pub message: String,
    /// What to do, one line each.
    pub help: Vec<String>,
    /// Index of the target (command-line path) it belongs to.
    pub target: usize,
    /// Task id, when it belongs to one task.
    pub task: Option<String>,
    /// Where.
    pub location: Option<Location>,
    /// Other places that belong to it, each with what it is: the other of two that collide.
    pub related: Vec<(Location, String)>,
    /// What would take it away without a decision left to anybody.
    pub fix: Option<Fix>,
}

impl Finding {
    /// Returns a finding of `rule` at the rule's level, with no place yet.
    pub fn new(rule: &'static RuleMeta, message: impl Into<String>) -> Self {
        Self {
            rule,
            level: rule.level,
            message: message.into(),
            help: Vec::new(),
            target: 0,
            task: None,
            location: None,
            related: Vec::new(),
            fix: None,
        }
    }

    /// Adds a line that says what to do.
    #[must_use]
    pub fn help(mut self, line: impl Into<String>) -> Self {
        self.help.push(line.into());
        self
    }

    /// Points at a file or folder as a whole.
    #[must_use]
    pub fn at_path(mut self, path: impl Into<Utf8PathBuf>) -> Self {
        self.location = Some(Location::Path(crate::source::shown(path.into())));
        self
    }

    /// Points at a place in a text.
    #[must_use]
    pub fn at(mut self, source: &Arc<SourceFile>, span: impl Into<Span>) -> Self {
        self.location = Some(Location::Place {
            source: Arc::clone(source),
            span: span.into(),
        });
        self
    }

    /// Names another place that belongs to it, and what it is.
    #[must_use]
    pub fn see(mut self, location: Location, what: impl Into<String>) -> Self {
        self.related.push((location, what.into()));
        self
    }

    /// Says which task it belongs to.
    #[must_use]
    pub fn in_task(mut self, task: impl Into<String>) -> Self {
        self.task = Some(task.into());
        self
    }

    /// Lowers or raises the level.
    #[must_use]
    pub fn level(mut self, level: Level) -> Self {
        self.level = level;
        self
    }
}

/// Sorts by path, line, column and rule; what is left is ordered by target, task and message, so that the order
/// never depends on how the findings were made.
pub fn sort(findings: &mut [Finding]) {
    sort_by_finding(findings, |finding| finding);
}

/// Sorts what has findings in the order of [`sort`].
pub fn sort_by_finding<T>(all: &mut [T], finding: impl Fn(&T) -> &Finding) {
    all.sort_by_cached_key(|one| {
        let f = finding(one);
        let start = f
            .location
            .as_ref()
            .and_then(Location::range)
            .map(|(start, _)| start);
        (
            f.location.as_ref().map(|l| l.path().to_string()),
            start,
            f.rule.code,
            f.target,
            f.task.clone(),
            f.message.clone(),
        )
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    static A: RuleMeta = RuleMeta {
        code: "GD001",
        name: "a",
        level: Level::Error,
        summary: "A.",
        page: "",
    };
    static B: RuleMeta = RuleMeta {
        code: "GD002",
        name: "b",
        level: Level::Error,
        summary: "B.",
        page: "",
    };

    #[test]
    fn findings_are_sorted_by_path_line_column_rule() {
        let early = Arc::new(SourceFile::new("a/task.toml", "x\ny\n"));
        let mut findings = vec![
            Finding::new(&A, "6").at_path("b"),
            Finding::new(&A, "5").at(&early, 2..3),
            Finding::new(&B, "4").at(&early, 0..1),
            Finding::new(&A, "3").at(&early, 0..1),
            Finding::new(&A, "2").at_path("a/task.toml"),
            Finding::new(&A, "1"),
        ];
        sort(&mut findings);
        let order: Vec<_> = findings.iter().map(|f| f.message.as_str()).collect();
        assert_eq!(order, ["1", "2", "3", "4", "5", "6"]);
    }
}
