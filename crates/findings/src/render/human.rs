//! Findings with their source lines, as rustc shows them.

use annotate_snippets::{AnnotationKind, Group, Level as Shown, Origin, Renderer, Snippet};

use super::excerpt::excerpt;
use crate::{Finding, Level, Location, sanitize};

/// Renders one finding with its source line and a final line feed; `color` turns on ANSI styles. Everything that
/// comes from a task is escaped.
#[must_use]
pub fn human(finding: &Finding, color: bool) -> String {
    let level = match finding.level {
        Level::Error => Shown::ERROR,
        Level::Warning => Shown::WARNING,
        Level::Note => Shown::NOTE,
    };
    let title = level
        .primary_title(sanitize::line(&finding.message))
        .id(finding.rule.code);
    let mut group = Group::with_title(title);
    match &finding.location {
        None => {}
        Some(Location::Path(path)) => {
            group = group.element(Origin::path(sanitize::line(path.as_str())));
        }
        Some(Location::Place { source, span }) => {
            let place = source.line_column(span.start);
            let shown = excerpt(source, *span);
            group = group
                .element(
                    Origin::path(sanitize::line(source.path().as_str()))
                        .line(place.line)
                        .char_column(place.column),
                )
                .element(
                    Snippet::source(shown.text)
                        .line_start(shown.first_line)
                        .annotation(AnnotationKind::Primary.span(shown.span)),
                );
        }
    }
    if let (None, Some(task)) = (&finding.location, &finding.task) {
        group = group.element(Shown::NOTE.message(format!("task `{}`", sanitize::line(task))));
    }
    for line in &finding.help {
        group = group.element(Shown::HELP.message(sanitize::terminal(line)));
    }
    let renderer = if color {
        Renderer::styled()
    } else {
        Renderer::plain()
    };
    let text = renderer.term_width(160).render(&[group]);
    let mut out = match &finding.location {
        Some(Location::Place { .. }) => without_second_arrow(&text),
        // Without a line number there is no margin; one column keeps all findings alike.
        Some(Location::Path(_)) => text.replace('\n', "\n "),
        None => without_bar(&text),
    };
    out.push('\n');
    out
}

/// Drops the `:::` line that the renderer puts between a place and an excerpt without a path of its own. (The
/// excerpt has none because it is cut and escaped, so the column that the renderer would count is not the file's.)
fn without_second_arrow(text: &str) -> String {
    let lines = text.lines().enumerate();
    let kept: Vec<&str> = lines
        .filter(|(i, line)| !(*i == 3 && line.contains(":::") && !line.contains(" | ")))
        .map(|(_, line)| line)
        .collect();
    kept.join("\n")
}

/// Drops the empty margin that the renderer puts under a title before remarks: without a place it leads to nothing.
fn without_bar(text: &str) -> String {
    let lines = text.lines().enumerate();
    let kept: Vec<&str> = lines
        .filter(|(i, line)| !(*i == 1 && line.contains('|') && !line.contains('=')))
        .map(|(_, line)| line)
        .collect();
    kept.join("\n")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{RuleMeta, SourceFile};

    static RULE: RuleMeta = RuleMeta {
        code: "GD101",
        name: "canned",
        level: Level::Error,
        summary: "A canned rule.",
        page: "",
    };

    fn show(text: &str, span: std::ops::Range<usize>) -> String {
        let source = Arc::new(SourceFile::new("data/t/task.toml", text));
        human(
            &Finding::new(&RULE, "`x` is wrong")
                .at(&source, span)
                .help("write `y`"),
            false,
        )
    }

    #[test]
    fn a_span_is_underlined_under_its_line() {
        insta::assert_snapshot!("underlined", show("[task]\nname = 3\n", 14..15));
    }

    #[test]
    fn crlf_tabs_and_wide_characters_keep_the_mark_in_place() {
        insta::assert_snapshot!("crlf_tab_wide", show("a = 1\r\n\tb = \"日本\" # ü\r\n", 12..20));
    }

    #[test]
    fn the_end_of_a_file_can_be_pointed_at() {
        insta::assert_snapshot!("end_of_file", show("a = [1,\n", 8..8));
        insta::assert_snapshot!("empty_file", show("", 0..0));
    }

    #[test]
    fn a_span_over_lines_is_bracketed() {
        insta::assert_snapshot!("over_lines", show("a = \"\"\"\none\ntwo\"\"\"\nb = 1\n", 4..18));
    }

    #[test]
    fn control_characters_of_a_source_are_escaped() {
        let out = show("a = \"\u{1b}[31m\u{202e}\"\u{7}\n", 4..5);
        assert!(!out.contains(['\u{1b}', '\u{202e}', '\u{7}']), "{out:?}");
        insta::assert_snapshot!("control_characters", out);
    }

    #[test]
    fn a_very_long_line_is_cut_around_the_mark() {
        let text = format!("a = \"{}!{}\"", "x".repeat(5_000), "y".repeat(5_000));
        insta::assert_snapshot!("long_line", show(&text, 5_005..5_006));
    }

    #[test]
    fn a_finding_may_have_a_path_only_or_no_place() {
        let path = Finding::new(&RULE, "no `task.toml`\nhere")
            .at_path("data/a\nb")
            .level(Level::Warning);
        insta::assert_snapshot!("path_only", human(&path, false));
        let none = Finding::new(&RULE, "nothing").in_task("a").level(Level::Note);
        insta::assert_snapshot!("no_place", human(&none, false));
        let lines = |color| human(&none, color).lines().count();
        assert_eq!(lines(true), lines(false));
    }

    #[test]
    fn colour_is_only_there_when_asked_for() {
        let finding = Finding::new(&RULE, "red");
        assert!(human(&finding, true).contains("\u{1b}["));
        assert!(!human(&finding, false).contains('\u{1b}'));
    }
}
