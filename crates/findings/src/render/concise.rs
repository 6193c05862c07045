//! One line a finding, in the shape that editors and `grep` users know.

use crate::{Finding, sanitize};

/// Returns `path:line:column: level[code] message`, without a line feed. What is not known is left out; a finding
/// without a place begins with its task, or with `-`.
#[must_use]
pub fn concise(finding: &Finding) -> String {
    let place = match (&finding.location, &finding.task) {
        (Some(location), _) => {
            let path = sanitize::line(location.path().as_str());
            match location.range() {
                Some((start, _)) => format!("{path}:{}:{}", start.line, start.column),
                None => path,
            }
        }
        (None, Some(task)) => sanitize::line(task),
        (None, None) => "-".to_owned(),
    };
    format!(
        "{place}: {}[{}] {}",
        finding.level.as_str(),
        finding.rule.code,
        sanitize::line(&finding.message)
    )
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{Level, RuleMeta, SourceFile};

    static RULE: RuleMeta = RuleMeta {
        code: "GD101",
        name: "canned",
        level: Level::Warning,
        summary: "A canned rule.",
        page: "",
    };

    #[test]
    fn a_finding_is_one_line_with_as_much_of_its_place_as_there_is() {
        let source = Arc::new(SourceFile::new("a/task.toml", "x\nyü = 1\n"));
        let base = Finding::new(&RULE, "two\nlines \u{1b}[31m");
        assert_eq!(
            concise(&base.clone().at(&source, 6..7)),
            r"a/task.toml:2:4: warning[GD101] two\nlines \x1b[31m"
        );
        assert_eq!(
            concise(&base.clone().at_path("a\nb")),
            r"a\nb: warning[GD101] two\nlines \x1b[31m"
        );
        assert_eq!(
            concise(&base.clone().in_task("t")),
            r"t: warning[GD101] two\nlines \x1b[31m"
        );
        assert_eq!(concise(&base), r"-: warning[GD101] two\nlines \x1b[31m");
    }
}
