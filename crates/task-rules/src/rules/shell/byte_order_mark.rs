//! Scripts that begin with an invisible character.

use findings::{Level, RuleMeta, Span};

use super::called::run_by_runners;
use crate::context::TaskContext;
use crate::{Check, Found, Rule};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: "GD802",
        name: "byte-order-mark-in-script",
        level: Level::Error,
        summary: "A script that runners start begins with a byte order mark, so that its first line is a command nobody has.",
        page: include_str!("../../../pages/byte-order-mark-in-script.md"),
    },
    on: true,
    check: Check::Task(check),
};

fn check(task: &TaskContext<'_>, found: &mut Found) {
    let scripts = run_by_runners(task).into_iter();
    for path in scripts.filter(|path| path.extension() == Some("sh")) {
        let Some(source) = task.text(&path) else {
            continue;
        };
        if !source.text().starts_with('\u{feff}') {
            continue;
        }
        let name = path.file_name().unwrap_or_default();
        let finding = task
            .finding(&RULE.meta, format!("`{name}` begins with a byte order mark"))
            .at(&source, Span::new(0, 3))
            .help("save it as UTF-8 without a byte order mark (`--fix` does)");
        found.add(finding);
    }
}
