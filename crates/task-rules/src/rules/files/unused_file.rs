//! Files of tests/ and solution/ that nothing names.

use std::sync::Arc;

use aho_corasick::AhoCorasick;
use camino::Utf8Path;
use findings::{Level, RuleMeta, SourceFile};
use task_model::{Grader, Reference, TreeNode};

use crate::context::TaskContext;
use crate::{Check, Found, Rule};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: "GD822",
        name: "unused-file",
        level: Level::Note,
        summary: "A file of tests/ or solution/ is named by no other file of the task, and nothing reads its folder as a whole.",
        page: include_str!("../../../pages/unused-file.md"),
    },
    on: true,
    check: Check::Task(check),
};

/// Longer texts are data, and name nothing.
const LONGEST: u64 = 1 << 20;
/// A task of more files is not looked through.
const MOST_FILES: usize = 2000;
/// Nor is one of more text, in bytes.
const MOST_TEXT: usize = 8 << 20;
/// The most files of a folder that are looked for.
const MOST_CANDIDATES: usize = 100;

fn check(task: &TaskContext<'_>, found: &mut Found) {
    let mut texts: Option<Vec<(&Utf8Path, Arc<SourceFile>)>> = None;
    for folder in ["tests", "solution"] {
        let candidates: Vec<&TreeNode> = task
            .files_in(folder)
            .filter(|node| needs_a_reader(node))
            .take(MOST_CANDIDATES)
            .collect();
        if candidates.is_empty() || !begins_here(task, folder) || walks(task, folder) {
            continue;
        }
        let texts = texts.get_or_insert_with(|| all_texts(task));
        if texts.iter().map(|(_, text)| text.text().len()).sum::<usize>() > MOST_TEXT {
            return;
        }
        for node in candidates {
            let named = texts
                .iter()
                .any(|(path, text)| *path != node.path && names(text.text(), &node.path));
            if !named {
                let message = format!("nothing in the task names `{}`", node.path);
                let finding = task
                    .finding(&RULE.meta, message)
                    .at_path(task.path(&node.path))
                    .help("remove it, or name it where it is to be read");
                found.add(finding);
            }
        }
    }
}

/// Says whether a folder has the script that starts; one that an image brings reads what nobody here can see.
fn begins_here(task: &TaskContext<'_>, folder: &str) -> bool {
    match folder {
        "tests" => matches!(task.task.grader, Grader::TestSh | Grader::Python(_)),
        _ => task.task.reference == Reference::SolveSh,
    }
}

/// Says whether anything in a folder may read its neighbours without naming them, or there is too much to look through.
fn walks(task: &TaskContext<'_>, folder: &str) -> bool {
    task.files().count() > MOST_FILES
        || task
            .files_in(folder)
            .filter_map(|node| task.small_text(node, LONGEST))
            .any(|text| reads_folders(text.text()))
}

fn all_texts<'a>(task: &TaskContext<'a>) -> Vec<(&'a Utf8Path, Arc<SourceFile>)> {
    task.files()
        .filter_map(|node| Some((node.path.as_path(), task.small_text(node, LONGEST)?)))
        .collect()
}

/// Says whether a text names a file, a module of its name, or a folder it lies in.
fn names(text: &str, path: &Utf8Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    let stem = match path.extension() {
        Some("py" | "sh" | "js" | "ts") => path.file_stem().unwrap_or(name),
        _ => name,
    };
    let mut folders = path.parent().into_iter().flat_map(Utf8Path::components);
    text.contains(stem)
        || folders.any(|folder| {
            let folder = folder.as_str();
            !matches!(folder, "tests" | "solution" | "steps") && text.contains(folder)
        })
}

/// Says whether a script or program may read files without naming them: by a pattern, a walk, a copy of the folder, or
/// a tool that looks for its files itself.
fn reads_folders(text: &str) -> bool {
    const WORDS: [&str; 40] = [
        "glob",
        "iterdir",
        "listdir",
        "scandir",
        "os.walk",
        "readdir",
        "walkdir",
        "filepath.Walk",
        "WalkDir",
        "fs.walk",
        "/*",
        "*.",
        "cp -",
        "rsync",
        "tar ",
        "find ",
        "ls ",
        "unzip",
        "patch",
        "git apply",
        "npm ",
        "npx ",
        "pnpm ",
        "yarn ",
        "bun ",
        "cargo ",
        "go test",
        "mvn",
        "gradle",
        "make",
        "jest",
        "vitest",
        "mocha",
        "ctest",
        "rspec",
        "phpunit",
        "dotnet",
        "sbt ",
        "copytree",
        "bundle",
    ];
    // Built once for all tasks.
    static ALL: std::sync::LazyLock<Option<AhoCorasick>> =
        std::sync::LazyLock::new(|| AhoCorasick::new(WORDS).ok());
    ALL.as_ref().is_none_or(|all| all.is_match(text))
}

/// Says whether a file has to be named to be of use: what tools find by convention, and what is for people, has not.
fn needs_a_reader(node: &TreeNode) -> bool {
    let name = node.path.file_name().unwrap_or_default();
    let lower = name.to_ascii_lowercase();
    let by_convention = lower.starts_with("test")
        || lower.contains("_test.")
        || lower.starts_with("solve.")
        || lower.starts_with('.')
        || lower.starts_with("dockerfile")
        || lower.starts_with("docker-compose")
        || matches!(
            lower.as_str(),
            "conftest.py" | "__init__.py" | "verifier.py" | "answer.md" | "pytest.ini" | "pyproject.toml"
        );
    let for_people = lower.starts_with("readme") || lower.starts_with("license") || lower.ends_with(".md");
    !by_convention && !for_people
}
