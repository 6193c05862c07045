//! A verifier image that nobody gave the tests.

use container_files::InstructionKind;
use findings::{Level, RuleMeta};

use crate::context::TaskContext;
use crate::{Check, Found, Rule};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: "GD840",
        name: "separate-image-without-tests",
        level: Level::Warning,
        summary: "A separate verifier is built from tests/Dockerfile, which copies nothing to /tests; nobody else brings test.sh there.",
        page: include_str!("../../../pages/separate-image-without-tests.md"),
    },
    on: true,
    check: Check::Task(check),
};

fn check(task: &TaskContext<'_>, found: &mut Found) {
    let Some(dockerfile) = task.separate_dockerfile() else {
        return;
    };
    let mut workdir = String::new();
    for instruction in &dockerfile.instructions {
        match &instruction.kind {
            InstructionKind::From { .. } => workdir.clear(),
            InstructionKind::Workdir(path) => path.value.trim_matches(['"', '\'']).clone_into(&mut workdir),
            InstructionKind::Copy { destination, .. } => {
                let target = destination.value.trim_matches('"');
                let relative = !target.starts_with('/');
                // A relative target below a folder that is not known may be the right one.
                let unknown = relative && workdir.contains('$');
                let here = relative && workdir.starts_with("/tests");
                let root = matches!(target, "/" | "/.")
                    || (relative && workdir == "/" && target.starts_with("tests"));
                if target.starts_with("/tests") || target.contains('$') || unknown || here || root {
                    return;
                }
            }
            InstructionKind::Run { shell, documents, .. } => {
                let text = shell
                    .iter()
                    .chain(documents)
                    .any(|text| text.value.contains("/tests"));
                if text {
                    return;
                }
            }
            _ => {}
        }
    }
    let message = "nothing in tests/Dockerfile puts `test.sh` into `/tests`";
    let finding = task
        .finding(&RULE.meta, message)
        .at_path(dockerfile.source.path())
        .help("add `COPY . /tests/`");
    // Somebody's own image may bring them.
    let known = dockerfile
        .lineage()
        .is_none_or(|lineage| is_official(lineage.image));
    found.add(if known {
        finding
    } else {
        finding.level(Level::Note)
    });
}

/// Says whether an image is one that everybody uses, so that it holds no tests of a task.
fn is_official(image: &str) -> bool {
    let name = image.strip_prefix("docker.io/").unwrap_or(image);
    let name = name.strip_prefix("library/").unwrap_or(name);
    !name.contains(['/', '$'])
}
