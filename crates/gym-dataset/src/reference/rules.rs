//! The rules of every crate: their list and their pages.

use std::fmt::Write as _;

use findings::RuleMeta;
use task_rules::registry;

use super::{Page, head};

/// Returns the rules of every crate, by code.
#[must_use]
pub fn rules() -> Vec<&'static RuleMeta> {
    let tables = [
        crate::rules::RULES,
        oracle::rules::RULES,
        publisher::rules::RULES,
        shim_builder::rules::RULES,
        task_model::config::RULES,
        task_model::digest::rules::RULES,
        task_model::load::rules::RULES,
        task_model::toml_text::RULES,
    ];
    let declared = tables.into_iter().flatten().copied();
    let mut rules: Vec<&RuleMeta> = declared.chain(registry::metas()).collect();
    rules.sort_by_key(|rule| rule.code);
    rules
}

/// Families by the first digit of a code.
const FAMILIES: [(&str, &str); 10] = [
    ("GD0", "Files and digests"),
    ("GD1", "task.toml"),
    ("GD2", "Instructions and templates"),
    ("GD3", "Environment"),
    ("GD4", "Solution"),
    ("GD5", "Tests, verifiers and rewards"),
    ("GD6", "Dataset, fields and publishing"),
    ("GD7", "Harbor's lint"),
    ("GD8", "Scripts, images and what leaks"),
    ("GD9", "Datasets as a whole, and the choice of rules"),
];

pub(super) fn page() -> String {
    let mut out = head("the `rules.rs` of every crate");
    out += "# Findings\n\nA code never changes its meaning. *error* fails the run, *warning* works but probably not as \
            meant, *note* is worth knowing.\n\nThe examples on the rules' pages show the files that matter; the rest of \
            the task is complete: a task.toml whose `docker_image` is `debian:12`, an instruction.md, an \
            environment/Dockerfile with `FROM debian:12`, a tests/test.sh that writes the reward 1, a solution/solve.sh. \
            Where no other command stands, it is `gym-dataset validate . --static` in the folder.\n";
    let all = rules();
    for (prefix, title) in FAMILIES {
        let mut family = all.iter().filter(|r| r.code.starts_with(prefix)).peekable();
        if family.peek().is_none() {
            continue;
        }
        // Writing to a string cannot fail.
        let _written = writeln!(
            out,
            "\n## {title}\n\n| code | name | level | says |\n|---|---|---|---|"
        );
        for rule in family {
            let summary = rule.summary.replace('|', "\\|");
            let name = format!("[`{0}`](rules/{0}.md)", rule.name);
            let off = if registry::is_on(rule.code) { "" } else { ", off" };
            let level = rule.level.as_str();
            let _written = writeln!(out, "| {} | {name} | {level}{off} | {summary} |", rule.code);
        }
    }
    out
}

/// Returns a rule's page for a reader, its code and level below the title.
#[must_use]
pub fn rule_page(rule: &RuleMeta) -> String {
    let off = if registry::is_on(rule.code) {
        ""
    } else {
        ", off unless selected"
    };
    let facts = format!("{} ({}{off})", rule.code, rule.level.as_str());
    rule.markdown().replacen('\n', &format!("\n\n{facts}\n"), 1)
}

/// Returns a page for every rule.
pub(super) fn own_pages() -> Vec<Page> {
    let page = |rule: &RuleMeta| {
        let name = rule.name;
        let source = head(&format!("`pages/{name}.md` of the crate that declares it"));
        Page {
            name: format!("rules/{name}.md"),
            text: format!("{source}{}", rule_page(rule)),
        }
    };
    rules().into_iter().map(page).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn codes_and_names_are_unique_and_well_formed() {
        let all = rules();
        let codes: BTreeSet<&str> = all.iter().map(|r| r.code).collect();
        let names: BTreeSet<&str> = all.iter().map(|r| r.name).collect();
        assert_eq!(codes.len(), all.len());
        assert_eq!(names.len(), all.len());
        for rule in all {
            let digits = rule.code.strip_prefix("GD").unwrap();
            assert!(
                digits.len() == 3 && digits.bytes().all(|b| b.is_ascii_digit()),
                "{}",
                rule.code
            );
            assert!(
                FAMILIES.iter().any(|(prefix, _)| rule.code.starts_with(prefix)),
                "{}",
                rule.code
            );
            let kebab = rule
                .name
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
            assert!(kebab && !rule.name.is_empty(), "{}", rule.name);
            assert!(rule.summary.ends_with('.'), "{}: {}", rule.code, rule.summary);
        }
    }
}
