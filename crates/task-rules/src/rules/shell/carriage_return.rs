//! Scripts with the line ends of Windows.

use findings::{Level, RuleMeta, Span};

use crate::context::TaskContext;
use crate::{Check, Found, Rule};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: "GD801",
        name: "carriage-return-in-script",
        level: Level::Error,
        summary: "A shell script has CRLF line ends, which bash reads as part of its words.",
    },
    page: include_str!("../../../pages/carriage-return-in-script.md"),
    on: true,
    check: Check::Task(check),
};

fn check(task: &TaskContext<'_>, found: &mut Found) {
    for node in task.files().filter(|node| node.path.extension() == Some("sh")) {
        let Some(source) = task.text(&node.path) else {
            continue;
        };
        let text = source.text();
        let Some(first) = text.find("\r\n") else { continue };
        if !is_of_windows(text) {
            continue;
        }
        let lines = text.matches("\r\n").count();
        let name = node.path.file_name().unwrap_or_default();
        let message = format!("`{name}` has CRLF line ends on {lines} of its lines");
        let finding = task
            .finding(&RULE.meta, message)
            .at(&source, Span::new(first, first + 1))
            .help("write it with LF line ends (`--fix` does), and keep git from changing them with `*.sh text eol=lf` in .gitattributes");
        found.add(finding);
    }
}

/// Says whether a script is written with CRLF line ends. A lone one may be data of a here-document; a script saved on
/// Windows has them on most lines, and one in the shebang breaks it by itself.
pub(crate) fn is_of_windows(text: &str) -> bool {
    let Some(first) = text.find("\r\n") else {
        return false;
    };
    let most = text.matches("\r\n").count() * 2 > text.lines().count();
    let in_shebang =
        text.starts_with("#!") && text.lines().next().is_some_and(|line| first <= line.len() + 1);
    most || in_shebang
}
