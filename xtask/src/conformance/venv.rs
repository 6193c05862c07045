//! Finds or makes a Python with Harbor.

use std::process::{Command, Stdio};

use anyhow::Context as _;
use camino::{Utf8Path, Utf8PathBuf};

use crate::say;

/// Why there is none, for people.
type Reason = String;

/// Returns a Python that has harbor 0.26.0: the one given, else one of our own in target/, made when it is missing.
pub(super) fn python(given: Option<&Utf8Path>) -> anyhow::Result<Result<Utf8PathBuf, Reason>> {
    if let Some(given) = given {
        let absolute = given
            .canonicalize_utf8()
            .with_context(|| format!("no such Python: {given}"))?;
        // A virtual environment's python is a link; resolved, it would be another Python.
        let name = given.file_name().unwrap_or("python");
        let parent = given
            .parent()
            .filter(|p| !p.as_str().is_empty())
            .map(Utf8Path::canonicalize_utf8)
            .transpose()?;
        let kept = parent.map_or(absolute, |p| p.join(name));
        return Ok(if has_harbor(&kept) {
            Ok(kept)
        } else {
            Err(format!("{given} has no harbor 0.26.0"))
        });
    }
    let folder = crate::root().join("target/conformance-venv");
    let own = folder.join("bin/python");
    if has_harbor(&own) && starts(&own) {
        return Ok(Ok(own));
    }
    let Some(base) = candidates().into_iter().find(|p| is_new_enough(p)) else {
        return Ok(Err(
            "no Python 3.12 or later on PATH or in ~/.pyenv; give one with --python".to_owned(),
        ));
    };
    say(&format!("conformance: making {folder} with {base}"));
    if folder.exists() {
        std::fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {folder}"))?;
    }
    let constraints = crate::root().join("xtask/python/constraints.txt");
    let install = [
        "-m",
        "pip",
        "install",
        "--quiet",
        "-c",
        constraints.as_str(),
        "harbor==0.26.0",
    ];
    let made = run(&base, &["-m", "venv", folder.as_str()]) && run(&own, &install);
    Ok(if made && has_harbor(&own) {
        Ok(own)
    } else {
        Err(format!("harbor 0.26.0 could not be installed in {folder}"))
    })
}

fn candidates() -> Vec<Utf8PathBuf> {
    let mut all = Vec::new();
    let path = std::env::var_os("PATH").unwrap_or_default();
    for folder in std::env::split_paths(&path).filter_map(|p| Utf8PathBuf::from_path_buf(p).ok()) {
        all.extend(["python3.12", "python3.13", "python3.14", "python3"].map(|name| folder.join(name)));
    }
    if let Some(home) = std::env::home_dir().and_then(|p| Utf8PathBuf::from_path_buf(p).ok()) {
        let versions = home.join(".pyenv/versions").read_dir_utf8();
        let mut own: Vec<_> = versions
            .into_iter()
            .flatten()
            .flatten()
            .map(|e| e.path().join("bin/python"))
            .collect();
        own.sort();
        all.extend(own);
    }
    all.retain(|p| p.is_file());
    // The pinned versions were read with 3.12: it goes first wherever it lies.
    all.sort_by_key(|p| !p.as_str().contains("3.12"));
    all
}

fn is_new_enough(python: &Utf8Path) -> bool {
    run(
        python,
        &[
            "-I",
            "-c",
            "import sys, venv; sys.exit(sys.version_info < (3, 12))",
        ],
    )
}

/// Says whether the environment's programs start: they name their Python by an absolute path, and a folder of builds may have
/// been moved since.
fn starts(python: &Utf8Path) -> bool {
    let program = python.with_file_name("harbor");
    let first = std::fs::read(program).unwrap_or_default();
    let text = String::from_utf8_lossy(&first);
    // Pip writes `#!PYTHON`, or a line of sh that runs it when the path is long.
    text.lines().take(2).any(|line| line.contains(python.as_str()))
}

fn has_harbor(python: &Utf8Path) -> bool {
    let check = "import importlib.metadata as m, sys; sys.exit(m.version('harbor') != '0.26.0')";
    python.is_file() && run(python, &["-I", "-c", check])
}

fn run(program: &Utf8Path, arguments: &[&str]) -> bool {
    let quiet = arguments.first() == Some(&"-I");
    let stdio = || if quiet { Stdio::null() } else { Stdio::inherit() };
    let done = Command::new(program)
        .args(arguments)
        .current_dir("/")
        .stdout(stdio())
        .stderr(stdio())
        .status();
    done.is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_environment_that_was_moved_does_not_start() {
        let scratch = tempfile::tempdir().unwrap();
        let bin = Utf8Path::from_path(scratch.path()).unwrap().join("bin");
        std::fs::create_dir(&bin).unwrap();
        let python = bin.join("python");
        assert!(!starts(&python), "no program at all");
        std::fs::write(bin.join("harbor"), format!("#!{python}\nimport harbor\n")).unwrap();
        assert!(starts(&python));
        let long = format!("#!/bin/sh\n'''exec' {python} \"$0\" \"$@\"\n");
        std::fs::write(bin.join("harbor"), long).unwrap();
        assert!(starts(&python));
        std::fs::write(bin.join("harbor"), "#!/elsewhere/bin/python\n").unwrap();
        assert!(!starts(&python));
    }
}
