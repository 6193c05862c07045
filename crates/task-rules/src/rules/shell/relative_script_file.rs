//! Files beside a script named as if it ran there.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use findings::{Level, RuleMeta};

use super::called::folders_of;
use super::paths::{Made, file_of, is_plain, read_words};
use crate::context::TaskContext;
use crate::shell::{Command, Script, Word};
use crate::{Check, Found, Rule};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: "GD814",
        name: "relative-script-file",
        level: Level::Warning,
        summary: "test.sh or solve.sh names a file beside it by a relative path, which counts from the working directory.",
        page: include_str!("../../../pages/relative-script-file.md"),
    },
    on: true,
    check: Check::Task(check),
};

fn check(task: &TaskContext<'_>, found: &mut Found) {
    for path in task.graders().into_iter().chain(task.solvers()) {
        let (Some(source), Some(script)) = (task.text(&path), task.script(&path)) else {
            continue;
        };
        let folders = folders_of(&path);
        let mount = folders
            .first()
            .and_then(|folder| folder.file_name())
            .unwrap_or_default();
        let workdir = workdir(task, &path);
        let inside = workdir
            .as_deref()
            .is_some_and(|dir| dir.trim_start_matches('/').starts_with(mount));
        if !script.whole || inside || goes_elsewhere(&script, mount) {
            continue;
        }
        let made = Made::by(&script);
        let mut seen = BTreeSet::new();
        let sure = script
            .commands
            .iter()
            .filter(|c| c.place.branches == 0 && !c.place.conditional);
        for word in sure.flat_map(named_files) {
            let text = word.literal.as_deref().unwrap_or_default();
            let name = file_of(text);
            let name = name.strip_prefix("./").unwrap_or(name);
            if !is_plain(name) || name.starts_with(['/', '~']) || !seen.insert(name) || made.covers(name) {
                continue;
            }
            let Some(below) = beside(task, &folders, name, mount, workdir.as_deref()) else {
                continue;
            };
            if comes_otherwise(task, name) {
                continue;
            }
            let script_name = path.file_name().unwrap_or_default();
            let finding = task
                .finding(
                    &RULE.meta,
                    format!("`{script_name}` names `{text}`, which counts from the working directory and not from `/{mount}`"),
                )
                .at(&source, word.span)
                .help(format!("write `/{mount}/{below}`"));
            found.add(finding);
        }
    }
}

/// Returns the file's path below the script's folder when the task ships it there.
fn beside<'a>(
    task: &TaskContext<'_>,
    folders: &[Utf8PathBuf],
    name: &'a str,
    mount: &str,
    workdir: Option<&str>,
) -> Option<&'a str> {
    let shipped = |below: &str| {
        folders
            .iter()
            .any(|folder| task.task.tree.is_file(folder.join(below)))
    };
    if shipped(name) {
        return Some(name);
    }
    // `tests/x` is right where the working directory is the root, and many images leave it there.
    let below = name.strip_prefix(mount)?.strip_prefix('/')?;
    let elsewhere = workdir.is_some_and(|dir| dir != "/");
    (elsewhere && shipped(below)).then_some(below)
}

/// Says whether a file of that name can be in the working directory: the image or the step brings one, the image fetches
/// a repository, or the instruction asks for it.
fn comes_otherwise(task: &TaskContext<'_>, name: &str) -> bool {
    // Nobody asks for a task's own files.
    let own = name.starts_with("tests/") || name.starts_with("solution/");
    let in_image = task
        .files()
        .map(|node| &node.path)
        .filter(|path| path.starts_with("environment") || path.iter().any(|part| part == "workdir"));
    let asked = task
        .files()
        .filter(|_| !own)
        .map(|node| &node.path)
        .filter(|path| path.file_name() == Some("instruction.md"));
    let asked: Vec<Utf8PathBuf> = asked.cloned().collect();
    in_image.into_iter().any(|path| path.ends_with(name))
        || asked
            .iter()
            .any(|path| task.text(path).is_some_and(|source| source.text().contains(name)))
        || fetches_repository(task)
}

/// Says whether the image is built with files of a repository or an archive, which may be any.
fn fetches_repository(task: &TaskContext<'_>) -> bool {
    const FETCHES: [&str; 9] = [
        "git clone",
        "git fetch",
        "git pull",
        "hg clone",
        "svn co",
        "svn checkout",
        "tar -x",
        "tar x",
        "unzip -",
    ];
    let source = task.text("environment/Dockerfile");
    source.is_some_and(|source| {
        let mut lines = source
            .text()
            .lines()
            .filter(|line| !line.trim_start().starts_with('#'));
        lines.any(|line| {
            line.trim_start().starts_with("ADD ") || FETCHES.iter().any(|fetch| line.contains(fetch))
        })
    })
}

/// Returns the words that surely name files.
fn named_files(command: &Command) -> Vec<&Word> {
    let words = command.effective();
    let first = words.first().and_then(|word| word.literal.as_deref());
    if first.is_some_and(|first| first.starts_with("./")) {
        return words.into_iter().take(1).collect();
    }
    read_words(command)
}

/// Says whether the script leaves the working directory, or brings its files there.
fn goes_elsewhere(script: &Script, mount: &str) -> bool {
    script.commands.iter().any(|command| match command.base_name() {
        Some("cd" | "pushd") => !command.place.substitution,
        Some("cp" | "mv" | "ln" | "install" | "rsync" | "tar" | "unzip" | "git") => {
            let stays = |word: &Word| {
                let text = word.literal.as_deref();
                text.is_some_and(|text| !text.strip_prefix('/').is_some_and(|path| path.starts_with(mount)))
            };
            !command.arguments.iter().all(stays)
        }
        _ => wrapped_elsewhere(command),
    })
}

/// Says whether `env -C` and its like run the command in another folder.
fn wrapped_elsewhere(command: &Command) -> bool {
    let all = 1 + command.arguments.len();
    let wrapper = all.saturating_sub(command.effective().len() + 1);
    let mut options = command.texts().into_iter().take(wrapper);
    options.any(|text| text.starts_with("-C") || text.starts_with("--chdir") || text == "-D")
}

/// Returns the working directory in which a script starts, as far as the task's files tell.
fn workdir(task: &TaskContext<'_>, script: &Utf8Path) -> Option<String> {
    let config = task.config()?;
    let separate = task.separate_graders().iter().any(|grader| grader == script);
    let own = config.verifier.environment.as_deref().filter(|_| separate);
    let set = own.unwrap_or(&config.environment).workdir.as_ref();
    if let Some(set) = set {
        return Some(set.value.clone());
    }
    let dockerfile = if separate {
        task.separate_dockerfile()?
    } else {
        task.dockerfile("environment/Dockerfile")?
    };
    Some(dockerfile.lineage()?.workdir()?.to_owned())
}
