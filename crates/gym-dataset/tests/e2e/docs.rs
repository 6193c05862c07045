//! Console blocks of README.md and of the guide are what the tool does. `TRYCMD=overwrite` writes what it does into them.

use camino::{Utf8Path, Utf8PathBuf};
use testdata::Need;

use crate::support::{SYSTEM_PATH, copy_tree, has, temp_dir};

fn repository() -> Utf8PathBuf {
    Utf8PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn pages() -> Vec<Utf8PathBuf> {
    let guide = repository().join("docs/guide");
    let mut pages = vec![repository().join("README.md")];
    for entry in guide.read_dir_utf8().expect("a guide") {
        pages.push(entry.expect("an entry").into_path());
    }
    pages.retain(|page| {
        std::fs::read_to_string(page)
            .expect("a page")
            .contains("```console")
    });
    pages.sort();
    pages
}

#[test]
fn console_blocks_are_what_the_tool_does() {
    if !has(
        "console_blocks_are_what_the_tool_does",
        &[Need::Embedded, Need::Python],
    ) {
        return;
    }
    let folder = temp_dir();
    let folder = Utf8Path::from_path(folder.path()).expect("UTF-8");
    let pages = pages();
    assert!(pages.len() >= 2, "{pages:?}");
    let cases = trycmd::TestCases::new();
    cases.env("PATH", SYSTEM_PATH).env("HOME", folder.as_str());
    cases.register_bin("sh", std::path::Path::new("/bin/sh"));
    cases.register_bin("sed", std::path::Path::new("/bin/sed"));
    let mut copies = Vec::new();
    for page in &pages {
        // A page runs in a folder of its own, with a copy of the sample dataset in it.
        let copy = folder.join(page.file_name().expect("a name"));
        std::fs::copy(page, &copy).expect("copied");
        copy_tree(
            &testdata::quickstart(),
            &copy.with_extension("in").join("quickstart"),
        );
        cases.case(&copy);
        copies.push((copy, page));
    }
    cases.run();
    if std::env::var_os("TRYCMD").is_some_and(|value| value == "overwrite") {
        for (copy, page) in copies {
            std::fs::copy(copy, page).expect("copied back");
        }
    }
}

/// Links between pages lead somewhere.
#[test]
fn links_between_pages_lead_to_files() {
    let mut seen = 0;
    let mut lost = Vec::new();
    for entry in walkdir::WalkDir::new(repository().join("docs")) {
        let entry = entry.expect("readable");
        let path = Utf8PathBuf::from_path_buf(entry.into_path()).expect("UTF-8");
        if path.extension() == Some("md") {
            seen += 1;
            lost.extend(lost_links(&path));
        }
    }
    for page in ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"] {
        seen += 1;
        lost.extend(lost_links(&repository().join(page)));
    }
    assert!(seen > 8, "{seen} pages");
    assert!(lost.is_empty(), "{lost:#?}");
}

/// A page that no other leads to is read by nobody.
#[test]
fn every_page_is_linked_from_another() {
    let root = repository().canonicalize_utf8().expect("a repository");
    let mut pages: Vec<Utf8PathBuf> = walkdir::WalkDir::new(root.join("docs"))
        .into_iter()
        .map(|entry| Utf8PathBuf::from_path_buf(entry.expect("readable").into_path()).expect("UTF-8"))
        .filter(|path| path.extension() == Some("md"))
        .collect();
    pages.sort();
    let docs = pages.clone();
    pages.extend(["README.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(|page| root.join(page)));
    let mut linked = std::collections::BTreeSet::new();
    for page in &pages {
        let targets = links(page).into_iter().map(|(_, target)| target);
        linked.extend(
            targets
                .filter_map(|target| target.canonicalize_utf8().ok())
                .filter(|target| target != page),
        );
    }
    let lonely: Vec<&Utf8PathBuf> = docs.iter().filter(|page| !linked.contains(*page)).collect();
    assert!(lonely.is_empty(), "{lonely:#?}");
}

/// Returns the links of a page to files: as written, and where they lead.
fn links(page: &Utf8Path) -> Vec<(String, Utf8PathBuf)> {
    let text = std::fs::read_to_string(page).expect("a page");
    text.split("](")
        .skip(1)
        .filter_map(|rest| rest.split_once(')').map(|(link, _)| link))
        .filter(|link| !link.contains("://") && !link.starts_with('#'))
        .map(|link| {
            let file = link.split('#').next().unwrap_or(link);
            (link.to_owned(), page.parent().expect("a folder").join(file))
        })
        .collect()
}

fn lost_links(page: &Utf8Path) -> Vec<String> {
    let lost = links(page).into_iter().filter(|(_, target)| !target.exists());
    lost.map(|(link, _)| format!("{page}: {link}")).collect()
}
