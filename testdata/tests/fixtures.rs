//! The fixtures and their typed model name the same things.

use std::collections::BTreeSet;

use camino::Utf8Path;
use testdata::{QUICKSTART, cases, datasets, root};

fn folders(of: &Utf8Path) -> BTreeSet<String> {
    of.read_dir_utf8()
        .expect("a folder")
        .map(|entry| entry.expect("an entry"))
        .filter(|entry| entry.file_type().expect("a type").is_dir())
        .map(|entry| entry.file_name().to_owned())
        .collect()
}

#[test]
fn every_task_folder_has_a_case_and_every_case_a_folder() {
    let named: BTreeSet<String> = cases().iter().map(|case| case.task.to_owned()).collect();
    assert_eq!(folders(&root().join("tasks")), named);
}

#[test]
fn every_dataset_is_named() {
    let mut named: BTreeSet<String> = datasets().iter().map(|dataset| dataset.name.to_owned()).collect();
    for other in ["quickstart", "empty", "typed"] {
        named.insert(other.to_owned());
    }
    assert_eq!(folders(&root().join("datasets")), named);
}

#[test]
fn no_two_cases_are_the_same_run() {
    let mut seen = BTreeSet::new();
    for case in cases() {
        assert!(seen.insert(case.name()), "{} twice", case.name());
    }
}

#[test]
fn quickstart_ids_are_its_folders_and_rows() {
    let mut ids = folders(&testdata::quickstart());
    assert!(ids.remove("unit-prices"));
    for line in std::fs::read_to_string(testdata::quickstart().join("unit-prices/tasks.jsonl"))
        .unwrap()
        .lines()
    {
        let id = line.split('"').nth(3).unwrap();
        ids.insert(id.to_owned());
    }
    assert_eq!(ids.into_iter().collect::<Vec<_>>(), QUICKSTART);
}

#[test]
fn scripts_are_executable_but_where_a_case_is_about_that() {
    use std::os::unix::fs::PermissionsExt as _;
    let mut plain = Vec::new();
    for entry in walk(&root()) {
        if entry.extension() == Some("sh") && entry.metadata().unwrap().permissions().mode() & 0o111 == 0 {
            plain.push(entry.strip_prefix(root()).unwrap().to_string());
        }
    }
    plain.retain(|path| !path.starts_with("rules/script-not-executable/invalid-"));
    assert_eq!(plain, ["tasks/shebang/tests/test.sh"]);
}

fn walk(folder: &Utf8Path) -> Vec<camino::Utf8PathBuf> {
    let mut found = Vec::new();
    for entry in folder
        .read_dir_utf8()
        .expect("a folder")
        .map(|entry| entry.expect("an entry"))
    {
        if entry.file_type().expect("a type").is_dir() {
            found.extend(walk(entry.path()));
        } else {
            found.push(entry.into_path());
        }
    }
    found
}
