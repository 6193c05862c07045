//! A rule of `task-rules` is four things of one name: a file, a line of the registry, a page, and a folder of fixtures.

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};

const FILES: &str = "crates/task-rules/src/rules";
const REGISTRY: &str = "crates/task-rules/src/registry.rs";
const PAGES: &str = "crates/task-rules/pages";
const FIXTURES: &str = "testdata/rules";

/// Pages of rules that no file checks: they are about the choice of rules itself.
const NO_FILE: [&str; 2] = ["lint-settings", "unused-suppression"];

/// A rule's file.
struct Declared {
    /// As the registry writes it: `family::file`.
    module: String,
    code: String,
    name: String,
}

/// Returns what each rule lacks, and what belongs to no rule.
pub(super) fn check(root: &Utf8Path) -> Vec<String> {
    let rules = declared(root);
    let names: BTreeSet<&str> = rules.iter().map(|rule| rule.name.as_str()).collect();
    let mut faults = registry(root, &rules);
    let pages: BTreeSet<String> = entries(&root.join(PAGES))
        .iter()
        .filter_map(|page| Some(page.strip_suffix(".md")?.to_owned()))
        .collect();
    let fixtures = fixtures(root);
    for name in &names {
        if !pages.contains(*name) {
            faults.push(format!("{name}: no page `{PAGES}/{name}.md`"));
        }
        if !fixtures.contains_key(*name) {
            faults.push(format!("{name}: no fixtures in `{FIXTURES}/{name}`"));
        }
    }
    let known = |name: &str| names.contains(name);
    let stray = pages
        .iter()
        .filter(|p| !known(p) && !NO_FILE.contains(&p.as_str()));
    faults.extend(stray.map(|page| format!("{PAGES}/{page}.md: no file of `{FILES}` declares `{page}`")));
    for (name, cases) in &fixtures {
        if !known(name) {
            faults.push(format!(
                "{FIXTURES}/{name}: no file of `{FILES}` declares `{name}`"
            ));
        }
        for kind in ["invalid-", "valid-"] {
            if !cases
                .iter()
                .any(|case| case.starts_with(kind) && !case.contains('.'))
            {
                faults.push(format!("{FIXTURES}/{name}: no `{kind}*` folder"));
            }
        }
        let folders = cases
            .iter()
            .filter(|case| case.starts_with("invalid-") && !case.contains('.'));
        let silent = folders.filter(|case| !cases.contains(&format!("{case}.expect")));
        faults.extend(silent.map(|case| format!("{FIXTURES}/{name}/{case}: no `{case}.expect` beside it")));
    }
    faults
}

/// Compares the registry's lines with the files, and their order with the codes.
fn registry(root: &Utf8Path, rules: &[Declared]) -> Vec<String> {
    let text = std::fs::read_to_string(root.join(REGISTRY)).unwrap_or_default();
    let lines: Vec<&str> = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix("&rules::")?.strip_suffix("::RULE,"))
        .collect();
    let mut faults = Vec::new();
    for rule in rules {
        match lines.iter().filter(|line| **line == rule.module).count() {
            1 => {}
            0 => faults.push(format!(
                "{}: no line `&rules::{}::RULE,` in {REGISTRY}",
                rule.name, rule.module
            )),
            times => faults.push(format!("{}: {times} lines in {REGISTRY}", rule.name)),
        }
    }
    let code = |line: &&str| {
        rules
            .iter()
            .find(|rule| rule.module == *line)
            .map(|rule| &rule.code)
    };
    let codes: Vec<&String> = lines.iter().filter_map(code).collect();
    for pair in codes.windows(2).filter(|pair| pair[0] >= pair[1]) {
        faults.push(format!("{REGISTRY}: {} stands before {}", pair[0], pair[1]));
    }
    faults
}

fn declared(root: &Utf8Path) -> Vec<Declared> {
    let mut rules = Vec::new();
    for family in entries(&root.join(FILES)) {
        for file in entries(&root.join(FILES).join(&family)) {
            let path = root.join(FILES).join(&family).join(&file);
            let text = std::fs::read_to_string(path).unwrap_or_default();
            let Some((_, meta)) = text.split_once("static RULE: Rule") else {
                continue;
            };
            let value = |key: &str| Some(meta.split_once(key)?.1.split_once('"')?.0.to_owned());
            rules.push(Declared {
                module: format!("{family}::{}", file.trim_end_matches(".rs")),
                code: value("code: \"").unwrap_or_default(),
                name: value("name: \"").unwrap_or_default(),
            });
        }
    }
    rules
}

/// Returns what stands in each folder of fixtures.
fn fixtures(root: &Utf8Path) -> BTreeMap<String, BTreeSet<String>> {
    let all = entries(&root.join(FIXTURES)).into_iter().map(|name| {
        let cases = entries(&root.join(FIXTURES).join(&name));
        (name, cases.into_iter().collect())
    });
    all.collect()
}

/// Returns the names in a folder, sorted; none when there is no such folder.
fn entries(folder: &Utf8PathBuf) -> Vec<String> {
    let read = folder.read_dir_utf8().into_iter().flatten().flatten();
    let mut names: Vec<String> = read.map(|entry| entry.file_name().to_owned()).collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tree with two rules that lack nothing.
    fn tree() -> (tempfile::TempDir, Utf8PathBuf) {
        let scratch = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::from_path_buf(scratch.path().to_owned()).unwrap();
        for (code, name, module) in [("GD1", "big-thing", "big"), ("GD2", "odd-thing", "odd")] {
            let text = format!("static RULE: Rule = Rule {{ code: \"{code}\", name: \"{name}\" }}");
            put(&root, &format!("{FILES}/family/{module}.rs"), &text);
            put(&root, &format!("{PAGES}/{name}.md"), "");
            put(&root, &format!("{FIXTURES}/{name}/invalid-a/task.toml"), "");
            put(&root, &format!("{FIXTURES}/{name}/invalid-a.expect"), "");
            put(&root, &format!("{FIXTURES}/{name}/valid-a/task.toml"), "");
        }
        put(&root, &format!("{FILES}/family/helper.rs"), "fn help() {}");
        put(
            &root,
            REGISTRY,
            "    &rules::family::big::RULE,\n    &rules::family::odd::RULE,\n",
        );
        (scratch, root)
    }

    fn put(root: &Utf8Path, path: &str, text: &str) {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn broken(change: impl FnOnce(&Utf8Path)) -> Vec<String> {
        let (_scratch, root) = tree();
        change(&root);
        check(&root)
    }

    fn remove(path: &'static str) -> impl FnOnce(&Utf8Path) {
        move |root| {
            let path = root.join(path);
            if path.is_dir() {
                std::fs::remove_dir_all(path).unwrap();
            } else {
                std::fs::remove_file(path).unwrap();
            }
        }
    }

    #[test]
    fn a_rule_that_has_everything_is_tidy() {
        assert_eq!(broken(|_| {}), Vec::<String>::new());
        assert_eq!(check(&crate::root()), Vec::<String>::new());
    }

    #[test]
    fn each_of_the_four_is_missed() {
        let file = broken(remove("crates/task-rules/src/rules/family/odd.rs"));
        assert_eq!(file.len(), 2, "{file:?}");
        assert!(
            file.iter().all(|fault| fault.ends_with("declares `odd-thing`")),
            "{file:?}"
        );
        assert_eq!(
            broken(remove("crates/task-rules/pages/odd-thing.md")),
            ["odd-thing: no page `crates/task-rules/pages/odd-thing.md`"]
        );
        assert_eq!(
            broken(remove("testdata/rules/odd-thing")),
            ["odd-thing: no fixtures in `testdata/rules/odd-thing`"]
        );
        assert_eq!(
            broken(|root| put(root, REGISTRY, "    &rules::family::big::RULE,\n")),
            ["odd-thing: no line `&rules::family::odd::RULE,` in crates/task-rules/src/registry.rs"]
        );
    }

    #[test]
    fn fixtures_show_both_sides_and_say_where() {
        for (path, fault) in [
            (
                "testdata/rules/odd-thing/valid-a",
                "testdata/rules/odd-thing: no `valid-*` folder",
            ),
            (
                "testdata/rules/odd-thing/invalid-a",
                "testdata/rules/odd-thing: no `invalid-*` folder",
            ),
            (
                "testdata/rules/odd-thing/invalid-a.expect",
                "testdata/rules/odd-thing/invalid-a: no `invalid-a.expect` beside it",
            ),
        ] {
            assert_eq!(broken(remove(path)), [fault]);
        }
    }

    #[test]
    fn the_registry_is_in_the_order_of_the_codes_and_has_each_rule_once() {
        let lines = "    &rules::family::odd::RULE,\n    &rules::family::big::RULE,\n";
        assert_eq!(
            broken(|root| put(root, REGISTRY, lines)),
            ["crates/task-rules/src/registry.rs: GD2 stands before GD1"]
        );
        let twice = "    &rules::family::big::RULE,\n    &rules::family::odd::RULE,\n    &rules::family::odd::RULE,\n";
        let faults = broken(|root| put(root, REGISTRY, twice));
        assert_eq!(
            faults[0],
            "odd-thing: 2 lines in crates/task-rules/src/registry.rs"
        );
    }
}
