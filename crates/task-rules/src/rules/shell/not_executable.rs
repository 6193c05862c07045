//! Entry scripts that may not be run by their path.

use findings::{Level, RuleMeta};

use crate::context::TaskContext;
use crate::{Check, Found, Rule};

/// The permission bits that let somebody run a file.
pub(crate) const BITS: u32 = 0o111;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: "GD804",
        name: "script-not-executable",
        level: Level::Note,
        summary: "test.sh or solve.sh lacks the execute bit; Harbor and NeMo Gym set it, whoever runs the script by hand does not.",
        page: include_str!("../../../pages/script-not-executable.md"),
    },
    on: false,
    check: Check::Task(check),
};

fn check(task: &TaskContext<'_>, found: &mut Found) {
    for path in task.graders().into_iter().chain(task.solvers()) {
        let Some(node) = task.task.tree.get(&path) else {
            continue;
        };
        if node.mode & BITS != 0 {
            continue;
        }
        let name = path.file_name().unwrap_or_default();
        let message = format!("`{name}` is not executable (mode {:04o})", node.mode);
        let finding = task
            .finding(&RULE.meta, message)
            .at_path(task.path(&path))
            .help("set the bit with `chmod +x`, and let git keep it with `git add --chmod=+x`");
        found.add(finding);
    }
}
