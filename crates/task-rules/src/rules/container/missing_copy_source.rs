//! COPY of something that is not in the build context.

use camino::{Utf8Path, Utf8PathBuf};
use container_files::InstructionKind;
use findings::{Level, RuleMeta};

use crate::context::TaskContext;
use crate::{Check, Found, Rule};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: "GD754",
        name: "missing-copy-source",
        level: Level::Error,
        summary: "A Dockerfile copies a file that its build context does not have, so that nothing builds.",
        page: include_str!("../../../pages/missing-copy-source.md"),
    },
    on: true,
    check: Check::Task(check),
};

fn check(task: &TaskContext<'_>, found: &mut Found) {
    for folder in ["environment", "tests"] {
        let Some(dockerfile) = task.dockerfile(Utf8Path::new(folder).join("Dockerfile")) else {
            continue;
        };
        for instruction in &dockerfile.instructions {
            let InstructionKind::Copy {
                from: None, sources, ..
            } = &instruction.kind
            else {
                continue;
            };
            for source in sources {
                if is_missing(task, folder, &source.value) {
                    let message = format!(
                        "the Dockerfile copies `{}`, which is not in `{folder}`",
                        source.value
                    );
                    let finding = task
                        .finding(&RULE.meta, message)
                        .at(&dockerfile.source, source.range.clone())
                        .help(format!(
                            "`{folder}` is the build context: paths start there and cannot leave it"
                        ));
                    found.add(finding);
                }
            }
        }
    }
}

/// Only what is plain to see: variables, patterns and addresses are left to the build.
fn is_missing(task: &TaskContext<'_>, folder: &str, written: &str) -> bool {
    let plain = !written.is_empty()
        && !written.contains(['$', '*', '?', '[', '\\', '"', '\'', '<'])
        && !written.contains("://")
        && !written.starts_with("git@");
    if !plain {
        return false;
    }
    let mut path = Utf8PathBuf::from(folder);
    for part in written.split('/') {
        match part {
            "" | "." => {}
            // A build reads `..` of the top as the top itself.
            ".." => {
                if path != folder {
                    path.pop();
                }
            }
            name => path.push(name),
        }
    }
    let tree = &task.task.tree;
    tree.get(&path).is_none() && !tree.exists(&path)
}
