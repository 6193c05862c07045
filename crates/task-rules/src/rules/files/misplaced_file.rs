//! Files that runners read in a folder and nobody reads at the task's root.

use findings::{Level, RuleMeta};
use task_model::NodeKind;

use crate::context::TaskContext;
use crate::{Check, Found, Rule};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: "GD823",
        name: "misplaced-file",
        level: Level::Warning,
        summary: "A file lies at the task's root that runners read only in one of its folders.",
        page: include_str!("../../../pages/misplaced-file.md"),
    },
    on: true,
    check: Check::Task(check),
};

/// Names, and where runners read them.
const PLACES: [(&str, &str); 8] = [
    ("Dockerfile", "environment/Dockerfile"),
    ("docker-compose.yaml", "environment/docker-compose.yaml"),
    ("docker-compose.yml", "environment/docker-compose.yaml"),
    ("run-tests.sh", "tests/test.sh"),
    ("solution.sh", "solution/solve.sh"),
    ("solve.sh", "solution/solve.sh"),
    ("test.sh", "tests/test.sh"),
    ("answer.md", "solution/answer.md"),
];

fn check(task: &TaskContext<'_>, found: &mut Found) {
    let tree = &task.task.tree;
    for (name, place) in PLACES {
        let here = tree
            .get(name)
            .is_some_and(|node| matches!(node.kind, NodeKind::File(_)));
        if here {
            let finding = task
                .finding(
                    &RULE.meta,
                    format!("`{name}` lies at the task's root, where no runner reads it"),
                )
                .at_path(task.path(name))
                .help(if tree.exists(place) {
                    format!("remove it: `{place}` is what runs")
                } else {
                    format!("move it to `{place}`")
                });
            found.add(finding);
        }
    }
}
