//! Links out of the build context to what the agent must not see.

use findings::{Level, RuleMeta};
use task_model::tree::Resolved;
use task_model::{NodeKind, TreeNode};

use crate::context::TaskContext;
use crate::{Check, Found, Rule};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: "GD759",
        name: "link-to-tests",
        level: Level::Warning,
        summary: "A link in environment/ leads to tests/ or solution/, and whoever follows it puts them into the agent's image.",
        page: include_str!("../../../pages/link-to-tests.md"),
    },
    on: true,
    check: Check::Task(check),
};

fn check(task: &TaskContext<'_>, found: &mut Found) {
    let links = task.task.tree.under("environment").iter();
    for node in links.filter(|node| matches!(node.kind, NodeKind::Link(_))) {
        let Some(target) = secret(task, node) else {
            continue;
        };
        let finding = task
            .finding(&RULE.meta, format!("`{}` is a link to `{target}`", node.path))
            .at_path(task.path(&node.path))
            .help("remove the link: the agent must not see what grades it, and docker copies the link alone");
        found.add(finding);
    }
}

/// Returns where a link leads when that is among the tests or the solution.
fn secret(task: &TaskContext<'_>, node: &TreeNode) -> Option<String> {
    let (Resolved::File(path) | Resolved::Folder(path)) = task.task.tree.resolve(&node.path) else {
        return None;
    };
    let mut parts = path.components().map(|part| part.as_str());
    let folder = match parts.next()? {
        "steps" => parts.nth(1)?,
        folder => folder,
    };
    matches!(folder, "tests" | "solution").then(|| path.into_string())
}
