//! Folders that a separate verifier lacks.

use std::collections::BTreeSet;

use camino::Utf8Path;
use container_files::InstructionKind;
use findings::{Level, RuleMeta};

use crate::context::{Lineage, TaskContext};
use crate::rules::harbor::artifacts::rounds;
use crate::{Check, Found, Rule};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: "GD761",
        name: "separate-artifact-parent",
        level: Level::Note,
        summary: "The image of a separate verifier has no folder for an artifact; runners that do not make it cannot put the artifact there.",
        page: include_str!("../../../pages/separate-artifact-parent.md"),
    },
    on: false,
    check: Check::Task(check),
};

/// Folders that every image has.
const USUAL: [&str; 16] = [
    "/",
    "/etc",
    "/home",
    "/media",
    "/mnt",
    "/opt",
    "/root",
    "/run",
    "/srv",
    "/tmp",
    "/usr",
    "/usr/local",
    "/var",
    "/var/lib",
    "/var/log",
    "/var/tmp",
];

fn check(task: &TaskContext<'_>, found: &mut Found) {
    let (Some(config), Some(dockerfile)) = (task.config(), task.separate_dockerfile()) else {
        return;
    };
    let Some(lineage) = dockerfile.lineage() else {
        return;
    };
    let mut told = BTreeSet::new();
    for claim in rounds(config).into_iter().flat_map(|(claims, _)| claims) {
        let Some(parent) = Utf8Path::new(&claim.source).parent() else {
            continue;
        };
        // Runners make what is below /logs.
        let made = USUAL.contains(&parent.as_str()) || parent.starts_with("/logs") || makes(&lineage, parent);
        if claim.span.is_none() || made || !told.insert(parent.to_owned()) {
            continue;
        }
        let message = format!(
            "tests/Dockerfile makes no `{parent}` for the artifact `{}`",
            claim.source
        );
        let finding = task
            .in_toml(&RULE.meta, claim.span, message)
            .help(format!("add `RUN mkdir -p {parent}` to tests/Dockerfile"));
        found.add(finding);
    }
}

/// Says whether an instruction makes a folder, or may.
fn makes(lineage: &Lineage<'_>, folder: &Utf8Path) -> bool {
    let name = folder.file_name().unwrap_or_default();
    lineage
        .instructions
        .iter()
        .any(|instruction| match &instruction.kind {
            InstructionKind::Workdir(path) => {
                path.value.contains('$') || Utf8Path::new(&path.value).starts_with(folder)
            }
            InstructionKind::Copy { destination, .. } => {
                destination.value.contains('$') || Utf8Path::new(&destination.value).starts_with(folder)
            }
            InstructionKind::Run { .. } => instruction.kind.run_texts().any(|text| text.contains(name)),
            _ => false,
        })
}
