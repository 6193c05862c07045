//! What is wrong with a task's ignore files.

use std::sync::Arc;

use camino::Utf8Path;
use findings::{Finding, Level};

use super::filter::{HARBORIGNORE, HarborFilter, IgnoredBy, scope};
use super::ignore_file::IgnoreFile;
use super::package::{self, GITIGNORE};
use super::pattern::PatternFault;
use super::{DigestFault, rules};
use crate::TaskTree;

/// Returns the findings about a task's ignore files: lines that Harbor cannot read, files that it does not look at,
/// rules that keep a file the task needs out of the package, and leftovers that get into it. Paths are shown below
/// the tree's folder.
#[must_use]
pub fn check(tree: &TaskTree) -> Vec<Finding> {
    let has_harborignore = tree
        .nodes()
        .iter()
        .any(|node| node.path.file_name() == Some(HARBORIGNORE));
    if !has_harborignore && tree.get(GITIGNORE).is_none() {
        return Vec::new();
    }
    let mut found = without_effect(tree);
    let mut harbor = HarborFilter::new(tree);
    let root = match package::root_rules(tree) {
        Ok(root) => Some(root),
        Err(fault) => {
            found.extend(of_fault(tree, &fault));
            None
        }
    };
    for node in tree.nodes().iter().filter(|node| is_required(node.path.as_str())) {
        match ignored_by(&node.path, root.as_ref(), &mut harbor) {
            Ok(Some(by)) => found.push(required_ignored(tree, &node.path, &by)),
            Ok(None) => {}
            Err(fault) => found.extend(of_fault(tree, &fault)),
        }
    }
    if found.iter().all(|finding| finding.level != Level::Error) {
        match package::files(tree) {
            Ok(files) => found.extend(leftovers(tree, files.iter().map(|file| file.path.as_path()))),
            Err(fault) => found.extend(of_fault(tree, &fault)),
        }
    }
    found.dedup();
    found
}

/// Returns the finding that a fault of an ignore file is; other faults are for those who list the task's files.
#[must_use]
pub fn of_fault(tree: &TaskTree, fault: &DigestFault) -> Option<Finding> {
    Some(match fault {
        DigestFault::BadPattern {
            text, span, fault, ..
        } => {
            let finding = Finding::new(
                &rules::BAD_PATTERN,
                format!("Harbor cannot read this line: {fault}"),
            );
            finding.at(text, *span).help(remedy(*fault))
        }
        DigestFault::NotUtf8 { path, .. }
        | DigestFault::TooLarge { path }
        | DigestFault::TooComplex { path } => {
            let finding = Finding::new(&rules::UNREADABLE, fault.to_string())
                .help("it is a text file in UTF-8 with one pattern a line");
            finding.at_path(shown(tree, path))
        }
        DigestFault::Unreadable { path, .. }
            if matches!(path.file_name(), Some(GITIGNORE | HARBORIGNORE)) =>
        {
            let finding = Finding::new(&rules::UNREADABLE, fault.to_string())
                .help("put a regular file there that this user may read");
            finding.at_path(shown(tree, path))
        }
        _ => return None,
    })
}

fn remedy(fault: PatternFault) -> &'static str {
    match fault {
        PatternFault::NothingNegated => "write the pattern behind the `!`, or remove the line",
        PatternFault::DanglingBackslash => "write `\\\\` for a backslash in a name",
        PatternFault::ReversedRange { .. } => "write the lower character of the range first",
    }
}

fn without_effect(tree: &TaskTree) -> Vec<Finding> {
    tree.nodes()
        .iter()
        .filter(|node| node.path.file_name() == Some(HARBORIGNORE) && scope(node.path.as_str()).is_none())
        .map(|node| {
            Finding::new(&rules::OUT_OF_SCOPE, "Harbor does not read a `.harborignore` here")
                .at_path(shown(tree, &node.path))
                .help(
                    "it counts in tests/, solution/, steps/NAME/tests/ and steps/NAME/solution/; the root's ignore \
                     file is `.gitignore`",
                )
        })
        .collect()
}

/// Says whether a task does not work as meant without the file.
fn is_required(path: &str) -> bool {
    let in_step = path.strip_prefix("steps/").and_then(|rest| rest.split_once('/'));
    match in_step {
        Some((_, rest)) => matches!(rest, "instruction.md" | "tests/test.sh" | "solution/solve.sh"),
        None => matches!(
            path,
            "task.toml"
                | "instruction.md"
                | "environment/Dockerfile"
                | "environment/docker-compose.yaml"
                | "tests/test.sh"
                | "tests/verifier.py"
                | "solution/solve.sh"
                | "solution/answer.md"
        ),
    }
}

/// Returns the line that keeps `path` out of the package.
pub(super) fn ignored_by(
    path: &Utf8Path,
    root: Option<&IgnoreFile>,
    harbor: &mut HarborFilter<'_>,
) -> Result<Option<IgnoredBy>, DigestFault> {
    if let Some(by) = harbor.ignored(path)? {
        return Ok(Some(by));
    }
    let Some(root) = root else { return Ok(None) };
    let verdict = root
        .verdict(path.as_str(), &mut harbor.machine)
        .filter(|verdict| verdict.ignored);
    Ok(verdict.and_then(|verdict| {
        let source = Arc::clone(root.source.as_ref()?);
        Some(IgnoredBy {
            file: GITIGNORE.into(),
            source,
            span: root.span(verdict.rule),
        })
    }))
}

fn required_ignored(tree: &TaskTree, path: &Utf8Path, by: &IgnoredBy) -> Finding {
    let finding = Finding::new(
        &rules::REQUIRED_IGNORED,
        format!("this line keeps `{}` out of Harbor's package", shown(tree, path)),
    )
    .at(&by.source, by.span);
    if by.file.file_name() == Some(HARBORIGNORE) {
        return finding
            .level(Level::Error)
            .help("Harbor refuses the task: remove the line, or except the file with `!`");
    }
    finding.help("remove the line, or except the file with a later line that starts with `!`")
}

fn leftovers<'a>(tree: &TaskTree, files: impl Iterator<Item = &'a Utf8Path>) -> Option<Finding> {
    let built_in = IgnoreFile::built_in();
    let mut machine = HarborFilter::new(tree).machine;
    let mut left = files.filter(|path| built_in.verdict(path.as_str(), &mut machine).is_some());
    let first = left.next()?;
    let more = match left.count() {
        0 => String::new(),
        1 => " and 1 more".to_owned(),
        n => format!(" and {n} more"),
    };
    let finding = Finding::new(
        &rules::LEFTOVER,
        format!(
            "`{first}`{more} counts in the content hash: a task with its own `.gitignore` loses the built-in rules"
        ),
    );
    Some(
        finding
            .at_path(shown(tree, first))
            .help("add `__pycache__/`, `*.pyc`, `.DS_Store`, `*.swp`, `*.swo` and `*~` to it"),
    )
}

/// Returns the path to show for something in the task.
fn shown(tree: &TaskTree, path: &Utf8Path) -> camino::Utf8PathBuf {
    tree.root()
        .map_or_else(|| path.to_owned(), |root| root.join(path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::tests::tree;

    fn rules_of(files: &[(&str, &str)]) -> Vec<(&'static str, String)> {
        check(&tree(files))
            .into_iter()
            .map(|f| (f.rule.name, f.location.unwrap().path().to_string()))
            .collect()
    }

    #[test]
    fn a_task_without_ignore_files_has_no_findings() {
        assert_eq!(
            rules_of(&[("task.toml", ""), ("tests/test.sh", ""), ("tests/a.pyc", "")]),
            []
        );
    }

    #[test]
    fn a_bad_line_is_pointed_at() {
        let found = check(&tree(&[(".gitignore", "ok\n[z-a]\n"), ("task.toml", "")]));
        let (start, _) = found[0].location.as_ref().unwrap().range().unwrap();
        assert_eq!(
            (found[0].rule.name, start.line, start.column),
            ("ignore-pattern", 2, 1)
        );
        assert_eq!(found.len(), 1);
        assert_eq!(
            rules_of(&[("tests/.harborignore", "!\n"), ("tests/test.sh", "")]),
            [("ignore-pattern", "tests/.harborignore".to_owned())]
        );
    }

    #[test]
    fn a_line_that_drops_a_needed_file_is_pointed_at() {
        let files = [
            (".gitignore", "*.log\n*.sh\n"),
            ("task.toml", ""),
            ("tests/test.sh", ""),
            ("tests/x.log", ""),
        ];
        let found = check(&tree(&files));
        let (start, _) = found[0].location.as_ref().unwrap().range().unwrap();
        assert_eq!(
            (found[0].rule.name, found[0].level, start.line),
            ("required-file-ignored", Level::Warning, 2)
        );
        let hidden = [("tests/.harborignore", "test.*\n"), ("tests/test.sh", "")];
        assert_eq!(check(&tree(&hidden))[0].level, Level::Error);
    }

    #[test]
    fn a_harborignore_counts_only_in_its_scopes() {
        let files = [
            (".harborignore", ""),
            ("environment/.harborignore", ""),
            ("steps/a/.harborignore", ""),
            ("steps/a/tests/.harborignore", ""),
            ("tests/sub/.harborignore", ""),
        ];
        let expected = [
            ".harborignore",
            "environment/.harborignore",
            "steps/a/.harborignore",
        ];
        assert_eq!(
            rules_of(&files),
            expected.map(|path| ("harborignore-without-effect", path.to_owned()))
        );
    }

    #[test]
    fn leftovers_are_reported_once_when_the_built_in_rules_are_off() {
        let files = [
            (".gitignore", "x\n"),
            ("tests/__pycache__/a.pyc", ""),
            ("tests/b~", ""),
            ("tests/test.sh", ""),
        ];
        let found = check(&tree(&files));
        assert_eq!(found.len(), 1);
        assert!(
            found[0]
                .message
                .starts_with("`tests/__pycache__/a.pyc` and 1 more counts"),
            "{}",
            found[0].message
        );
    }
}
