//! What NeMo Gym refuses by task.toml alone, beyond Harbor's schema and wrong numbers.

use std::sync::Arc;

use findings::{Finding, RuleMeta, SourceFile, Span};

use super::model::{Artifact, Environment, Field, NetworkMode, TaskToml, Verifier};
use super::rules;

/// Returns one error for each thing that NeMo Gym refuses when it loads the task: a network restriction anywhere
/// but on the `[verifier]` of a separate verifier, an artifact source `/` or under `/tests` or `/logs/verifier`, and
/// a step name of other characters than it takes. Any of them means that Gym does not load the task.
///
/// `task` may have a dataset's overrides applied; what they set points at `source` as a whole.
#[must_use]
pub fn gym_checks(task: &TaskToml, source: &Arc<SourceFile>) -> Vec<Finding> {
    let mut checks = Checks {
        source,
        findings: Vec::new(),
    };
    checks.network(task);
    let steps = task.steps.iter().map(|s| s.artifacts.as_slice());
    for artifact in std::iter::once(task.artifacts.as_slice()).chain(steps).flatten() {
        checks.artifact(artifact);
    }
    for step in &task.steps {
        let name = &step.name.value;
        let head = name.bytes().next().is_some_and(|b| b.is_ascii_alphanumeric());
        if !head
            || !name
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'))
        {
            checks
                .say(
                    &rules::GYM_STEP_NAME,
                    step.name.span,
                    format!("NeMo Gym does not take the step name {name:?}"),
                )
                .help
                .push("use letters, digits, `.`, `_` and `-`, and begin with a letter or digit".to_owned());
        }
    }
    checks.findings
}

struct Checks<'s> {
    source: &'s Arc<SourceFile>,
    findings: Vec<Finding>,
}

impl Checks<'_> {
    fn say(&mut self, rule: &'static RuleMeta, span: Span, message: String) -> &mut Finding {
        let finding = Finding::new(rule, message);
        let finding = if span == Span::default() {
            finding.at_path(self.source.path())
        } else {
            finding.at(self.source, span)
        };
        self.findings.push(finding);
        let last = self.findings.len() - 1;
        &mut self.findings[last]
    }

    fn network(&mut self, task: &TaskToml) {
        self.restricted("environment", &task.environment.network_mode);
        self.restricted("agent", &task.agent.network_mode);
        if !task.verifies_separately() {
            self.restricted("verifier", &task.verifier.network_mode);
        }
        self.verifier_environment("verifier.environment", &task.verifier);
        for (i, step) in task.steps.iter().enumerate() {
            self.restricted(&format!("steps[{i}].agent"), &step.agent.network_mode);
            self.restricted(&format!("steps[{i}].verifier"), &step.verifier.network_mode);
            self.verifier_environment(&format!("steps[{i}].verifier.environment"), &step.verifier);
        }
    }

    fn verifier_environment(&mut self, table: &str, verifier: &Verifier) {
        let mode = verifier
            .environment
            .as_deref()
            .map(|e: &Environment| &e.network_mode);
        if let Some(mode) = mode {
            self.restricted(table, mode);
        }
    }

    fn restricted(&mut self, table: &str, mode: &Field<NetworkMode>) {
        let Some(mode) = mode.as_ref().filter(|m| m.value != NetworkMode::Public) else {
            return;
        };
        let word = if mode.value == NetworkMode::NoNetwork {
            "no-network"
        } else {
            "allowlist"
        };
        let message = format!("NeMo Gym refuses the network mode `{word}` in `{table}`");
        let finding = self.say(&rules::GYM_NETWORK, mode.span, message);
        finding.help.push(if table == "verifier" {
            "a verifier can be restricted only when it is separate: add `environment_mode = \"separate\"`"
                .to_owned()
        } else {
            "only `[verifier]` of a separate verifier may restrict the network; remove it here".to_owned()
        });
        let other = "`--contract harbor` judges the task by Harbor's rules, which know the restriction";
        finding.help.push(other.to_owned());
    }

    fn artifact(&mut self, artifact: &Artifact) {
        let source = &artifact.source;
        if let Some(folder) = reserved(&source.value) {
            let message = if folder == "/" {
                "NeMo Gym refuses the whole file system as an artifact".to_owned()
            } else {
                format!("NeMo Gym refuses artifacts under `{folder}`")
            };
            self.say(&rules::GYM_ARTIFACT, source.span, message)
                .help
                .push("name the files or the folder that the verifier needs".to_owned());
        }
    }
}

/// Returns the reserved folder that an artifact's source is or lies under, `.` and repeated slashes resolved.
fn reserved(source: &str) -> Option<&'static str> {
    if !source.starts_with('/') {
        return None;
    }
    let mut parts = source.split('/').filter(|part| !matches!(*part, "" | "."));
    match (parts.next(), parts.next()) {
        (None, _) => Some("/"),
        (Some("tests"), _) => Some("/tests"),
        (Some("logs"), Some("verifier")) => Some("/logs/verifier"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::reserved;

    #[test]
    fn reserved_folders() {
        for (source, folder) in [
            ("/", Some("/")),
            ("//./", Some("/")),
            ("/tests", Some("/tests")),
            ("/tests/x", Some("/tests")),
            ("/./tests/", Some("/tests")),
            ("/logs/verifier/x", Some("/logs/verifier")),
            ("/logs/artifacts", None),
            ("/logs", None),
            ("/tests2", None),
            ("tests", None),
            ("", None),
        ] {
            assert_eq!(reserved(source), folder, "{source:?}");
        }
    }
}
