//! Credentials in plain text.

use findings::{Level, RuleMeta, Span};

use super::variables;
use crate::context::TaskContext;
use crate::{Check, Found, Rule};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: "GD850",
        name: "literal-secret",
        level: Level::Warning,
        summary: "An `env` table of task.toml holds a credential in plain text.",
        page: include_str!("../../../pages/literal-secret.md"),
    },
    on: true,
    check: Check::Task(check),
};

fn check(task: &TaskContext<'_>, found: &mut Found) {
    let Some(config) = task.task.declared.as_ref() else {
        return;
    };
    for variable in variables(config) {
        if let Some(kind) = secret(&variable.value.value) {
            let span: Option<Span> = Some(variable.value.span);
            let message = format!("`{}` holds {kind} in plain text", variable.name.value);
            let help = format!(
                "write `${{{}}}` and grant the variable when it runs; treat this one as leaked",
                variable.name.value
            );
            found.add(task.in_toml(&RULE.meta, span, message).help(help));
        }
    }
}

/// Beginnings of keys that their issuers publish, with the least length of what follows.
const KNOWN: [(&str, usize, &str); 14] = [
    ("sk-ant-", 20, "an Anthropic key"),
    ("sk-proj-", 20, "an OpenAI key"),
    ("sk-", 32, "an API key"),
    ("ghp_", 30, "a GitHub token"),
    ("github_pat_", 40, "a GitHub token"),
    ("gho_", 30, "a GitHub token"),
    ("glpat-", 18, "a GitLab token"),
    ("hf_", 30, "a Hugging Face token"),
    ("AKIA", 16, "an AWS key"),
    ("ASIA", 16, "an AWS key"),
    ("xoxb-", 20, "a Slack token"),
    ("AIza", 30, "a Google key"),
    ("nvapi-", 30, "an NVIDIA key"),
    ("npm_", 30, "an npm token"),
];

/// Returns what a value is, when it looks like a credential that works.
fn secret(value: &str) -> Option<&'static str> {
    if value.contains("-----BEGIN") && value.contains("PRIVATE KEY-----") {
        return Some("a private key");
    }
    let (beginning, _, kind) = KNOWN.iter().find(|(beginning, least, _)| {
        value
            .strip_prefix(beginning)
            .is_some_and(|rest| rest.len() >= *least)
    })?;
    let rest = value.strip_prefix(beginning)?;
    let letters = rest
        .bytes()
        .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
    // `sk-xxxxxxxx` is somebody's placeholder.
    let mut kinds: Vec<u8> = rest.bytes().collect();
    kinds.sort_unstable();
    kinds.dedup();
    (letters && kinds.len() >= 8).then_some(*kind)
}

#[cfg(test)]
mod tests {
    use super::secret;

    #[test]
    fn placeholders_and_templates_are_no_secrets() {
        assert_eq!(
            secret("sk-abcdefghijklmnop0123456789ABCDEFGH"),
            Some("an API key")
        );
        for text in [
            "sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "${API_KEY}",
            "test",
            "",
            "sk-test",
            "sk-live-...",
        ] {
            assert_eq!(secret(text), None, "{text}");
        }
    }
}
