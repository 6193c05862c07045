//! Package managers of the system called by a script: what they are asked for.

use std::sync::Arc;

use findings::{SourceFile, Span};

use crate::context::TaskContext;
use crate::shell::{Command, Script, Word};

/// One package that a command installs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Package {
    /// As written.
    pub(crate) text: String,
    /// Whether it names one version.
    pub(crate) pinned: bool,
}

impl Package {
    /// Says whether only one build of one version will do: `name=1.2-3`.
    pub(crate) fn is_exact(&self) -> bool {
        let version = self.text.split_once('=').map(|(_, version)| version);
        self.pinned && version.is_some_and(|version| !version.contains('*'))
    }
}

/// How a package manager is called.
struct Manager {
    names: &'static [&'static str],
    verbs: &'static [&'static str],
    /// Options that take the word behind them.
    with_value: &'static [&'static str],
    is_pinned: fn(&str) -> bool,
}

const MANAGERS: [Manager; 4] = [
    Manager {
        names: &["apt-get", "apt", "aptitude"],
        verbs: &["install"],
        with_value: &["-o", "--option", "-t", "--target-release", "-c", "--config-file"],
        is_pinned: |name| name.contains('='),
    },
    Manager {
        names: &["apk"],
        verbs: &["add"],
        with_value: &["-t", "--virtual", "-X", "--repository", "-p", "--root", "--arch"],
        is_pinned: |name| name.contains(['=', '~']),
    },
    Manager {
        names: &["yum", "dnf", "microdnf", "tdnf"],
        verbs: &["install"],
        with_value: &["-c", "--config", "--installroot", "--releasever", "--setopt"],
        is_pinned: has_version_behind_dash,
    },
    Manager {
        names: &["zypper"],
        verbs: &["install", "in"],
        with_value: &["-r", "--repo", "-t", "--type"],
        is_pinned: |name| name.contains('='),
    },
];

/// Returns the packages that a command takes from the system's mirrors; `None` when it installs nothing from there.
/// Files and addresses are left out.
pub(crate) fn installed_by(command: &Command) -> Option<Vec<Package>> {
    let words = command.effective();
    let program = words.first()?.literal.as_deref()?;
    let base = program.rsplit('/').next().unwrap_or(program);
    let manager = MANAGERS.iter().find(|manager| manager.names.contains(&base))?;
    let plain = without_options(words.get(1..)?, manager.with_value);
    let (verb, rest) = plain.split_first()?;
    if !manager.verbs.contains(&verb.literal.as_deref()?) {
        return None;
    }
    let packages = rest
        .iter()
        .filter_map(|word| word.literal.as_deref())
        .filter(|name| is_package(name))
        .map(|name| Package {
            text: name.to_owned(),
            pinned: (manager.is_pinned)(name),
        });
    Some(packages.collect())
}

fn without_options<'a>(words: &[&'a Word], with_value: &[&str]) -> Vec<&'a Word> {
    let mut plain = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.literal.as_deref() {
            Some(option) if with_value.contains(&option) => {
                words.next();
            }
            Some(option) if option.starts_with('-') => {}
            _ => plain.push(*word),
        }
    }
    plain
}

/// No file, no address, no group, no name that apk is to call the packages by.
fn is_package(name: &str) -> bool {
    !name.is_empty()
        && !name.contains('/')
        && !name.starts_with(['.', '@', '!'])
        && !name.ends_with(".deb")
        && !name.ends_with(".rpm")
}

/// `name-1.2`: yum writes the version behind a dash.
fn has_version_behind_dash(name: &str) -> bool {
    let mut parts = name.split('-').skip(1);
    parts.any(|part| part.starts_with(|c: char| c.is_ascii_digit()) && part.contains('.'))
}

/// Hands over what every Dockerfile, test.sh and solve.sh of a task installs, a command at a time, with its place.
pub(crate) fn each(task: &TaskContext<'_>, mut take: impl FnMut(&Arc<SourceFile>, Span, &[Package])) {
    let mut of = |source: &Arc<SourceFile>, script: &Script, place: &dyn Fn(Span) -> Span| {
        for command in &script.commands {
            if let Some(packages) = installed_by(command) {
                take(source, place(command.span), &packages);
            }
        }
    };
    for dockerfile in task.dockerfiles().iter().filter_map(|path| task.dockerfile(path)) {
        for run in dockerfile.run_scripts() {
            of(&dockerfile.source, &run.script, &|span| run.place(span));
        }
    }
    for path in task.graders().into_iter().chain(task.solvers()) {
        if let (Some(source), Some(script)) = (task.text(&path), task.script(&path)) {
            of(&source, &script, &|span| span);
        }
    }
}

/// Returns the first names of a list, in code marks; `None` of an empty one.
pub(crate) fn names<'a>(packages: impl Iterator<Item = &'a Package>) -> Option<String> {
    let mut all: Vec<String> = packages.map(|package| format!("`{}`", package.text)).collect();
    let more = if all.len() > 4 { ", ..." } else { "" };
    all.truncate(4);
    (!all.is_empty()).then(|| format!("{}{more}", all.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packages(text: &str) -> Option<Vec<(String, bool)>> {
        let script = Script::parse(text);
        let all = installed_by(&script.commands[0])?;
        Some(
            all.into_iter()
                .map(|package| (package.text, package.pinned))
                .collect(),
        )
    }

    fn said(pairs: &[(&str, bool)]) -> Option<Vec<(String, bool)>> {
        Some(
            pairs
                .iter()
                .map(|(name, pinned)| ((*name).to_owned(), *pinned))
                .collect(),
        )
    }

    #[test]
    fn packages_are_what_is_neither_option_nor_file() {
        assert_eq!(
            packages("sudo apt-get -o A=b install -y --no-install-recommends curl git=1:2.39 ./x.deb"),
            said(&[("curl", false), ("git=1:2.39", true)])
        );
        assert_eq!(
            packages("apk add --no-cache --virtual .build gcc~13 musl-dev"),
            said(&[("gcc~13", true), ("musl-dev", false)])
        );
        assert_eq!(
            packages("dnf install -y gcc-c++ git-2.43.0-1.el9"),
            said(&[("gcc-c++", false), ("git-2.43.0-1.el9", true)])
        );
    }

    #[test]
    fn other_verbs_and_programs_install_nothing() {
        for text in [
            "apt-get update",
            "apt-get remove curl",
            "apk del curl",
            "cat install",
            "apt-get",
        ] {
            assert_eq!(packages(text), None, "{text}");
        }
    }
}
