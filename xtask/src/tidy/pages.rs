//! Every rule has a page of the usual shape, and every page a rule. That a rule's page is there is checked by the compiler.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use findings::RuleMeta;

/// The headings of a page, in this order.
const HEADINGS: [&str; 5] = ["What it does", "Why it is bad", "Invalid", "Valid", "Options"];

/// Returns every page without a rule, every name with two pages, and every page of another shape.
pub(super) fn check(files: &[Utf8PathBuf]) -> Vec<String> {
    let rules = gym_dataset::reference::rules();
    let mut faults = stray(files, &rules);
    faults.extend(rules.iter().filter_map(|rule| shape(rule)));
    faults
}

fn stray(files: &[Utf8PathBuf], rules: &[&RuleMeta]) -> Vec<String> {
    let mut pages: BTreeMap<&str, Vec<&Utf8Path>> = BTreeMap::new();
    for path in files {
        let parts: Vec<&str> = path.components().map(|part| part.as_str()).collect();
        if let ["crates", _, "pages", name] = parts.as_slice() {
            pages.entry(name.trim_end_matches(".md")).or_default().push(path);
        }
    }
    let mut faults = Vec::new();
    for (name, paths) in pages {
        if !rules.iter().any(|rule| rule.name == name) {
            faults.push(format!("{}: no rule is called `{name}`", paths[0]));
        }
        if let [first, second, ..] = paths.as_slice() {
            faults.push(format!("{second}: {first} has the same name"));
        }
    }
    faults
}

fn shape(rule: &RuleMeta) -> Option<String> {
    let name = rule.name;
    if !rule.page.starts_with(&format!("# {name}\n\n## ")) {
        return Some(format!(
            "page of {name}: does not begin with `# {name}` and a heading"
        ));
    }
    let headings: Vec<&str> = rule
        .page
        .lines()
        .filter_map(|line| line.strip_prefix("## "))
        .collect();
    (headings != HEADINGS).then(|| format!("page of {name}: has the headings {headings:?}, not {HEADINGS:?}"))
}

#[cfg(test)]
mod tests {
    use findings::Level;

    use super::*;

    static RULE: RuleMeta = RuleMeta {
        code: "GD001",
        name: "a",
        level: Level::Note,
        summary: "A.",
        page: "# a\n\n## Valid\n",
    };

    #[test]
    fn a_page_has_a_rule_and_the_usual_headings() {
        let files = [
            "crates/x/pages/a.md",
            "crates/y/pages/a.md",
            "crates/y/pages/b.md",
        ]
        .map(Utf8PathBuf::from);
        assert_eq!(
            stray(&files, &[&RULE]),
            [
                "crates/y/pages/a.md: crates/x/pages/a.md has the same name",
                "crates/y/pages/b.md: no rule is called `b`",
            ]
        );
        assert!(shape(&RULE).is_some());
    }
}
