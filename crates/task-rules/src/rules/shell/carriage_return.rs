//! Scripts with the line ends of Windows.

use camino::Utf8Path;
use findings::{Level, RuleMeta, Span};

use super::called::run_by_runners;
use crate::context::TaskContext;
use crate::{Check, Found, Rule};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: "GD801",
        name: "carriage-return-in-script",
        level: Level::Error,
        summary: "A script that runners start has CRLF line ends: bash reads them as part of its words, and the kernel as part of the `#!` line.",
        page: include_str!("../../../pages/carriage-return-in-script.md"),
    },
    on: true,
    check: Check::Task(check),
};

fn check(task: &TaskContext<'_>, found: &mut Found) {
    for path in run_by_runners(task) {
        let Some(source) = task.text(&path) else {
            continue;
        };
        let text = source.text();
        let Some(first) = text.find("\r\n").filter(|_| is_broken(&path, text)) else {
            continue;
        };
        let name = path.file_name().unwrap_or_default();
        let (message, level) = if path.extension() == Some("sh") {
            let lines = text.matches("\r\n").count();
            let message = format!("`{name}` has CRLF line ends on {lines} of its lines");
            (message, Level::Error)
        } else {
            let message = format!(
                "the `#!` line of `{name}` ends with a carriage return, which becomes part of the interpreter's name"
            );
            // Whoever names the interpreter himself never notices.
            (message, Level::Warning)
        };
        let finding = task
            .finding(&RULE.meta, message)
            .level(level)
            .at(&source, Span::new(first, first + 1))
            .help("write it with LF line ends (`--fix` does), and keep git from changing them with `* text=auto eol=lf` in .gitattributes");
        found.add(finding);
    }
}

/// Says whether the interpreter line ends with CRLF.
fn in_shebang(text: &str) -> bool {
    text.starts_with("#!") && text.split('\n').next().is_some_and(|line| line.ends_with('\r'))
}

/// Says whether line ends break a script: bash cannot read one that is written with CRLF, another interpreter is only
/// not found.
pub(crate) fn is_broken(path: &Utf8Path, text: &str) -> bool {
    in_shebang(text) || path.extension() == Some("sh") && is_of_windows(text)
}

/// Says whether a script is written with CRLF line ends. A lone one may be data of a here-document; a script saved on
/// Windows has them on most lines.
fn is_of_windows(text: &str) -> bool {
    text.matches("\r\n").count() * 2 > text.lines().count()
}
