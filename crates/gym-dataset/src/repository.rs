//! Where the working directory lies in its repository: code scanning, annotations and diffs name files from its root.

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};

/// The working directory and the repository around it, if there is one.
#[derive(Clone, Debug)]
pub(crate) struct Repository {
    cwd: Utf8PathBuf,
    root: Option<Utf8PathBuf>,
}

impl Repository {
    /// Looks for the repository of a folder, given as an absolute path.
    pub(crate) fn around(cwd: &Utf8Path) -> Self {
        // In a worktree and in a submodule it is a file.
        let root = cwd.ancestors().find(|folder| folder.join(".git").exists());
        Self {
            cwd: cwd.to_owned(),
            root: root.map(Utf8Path::to_owned),
        }
    }

    /// Returns a path as seen from the repository's root, absolute when it lies outside; without a repository, from the
    /// working directory.
    pub(crate) fn name(&self, path: &Utf8Path) -> Utf8PathBuf {
        let full = tidy(&self.cwd.join(path));
        let root = self.root.as_ref().unwrap_or(&self.cwd);
        match full.strip_prefix(root) {
            Ok(inside) => inside.to_owned(),
            Err(_) => full,
        }
    }
}

/// Returns an absolute path without `.` and `..`, by its text alone.
fn tidy(path: &Utf8Path) -> Utf8PathBuf {
    let mut out = Utf8PathBuf::new();
    for part in path.components() {
        match part {
            Utf8Component::CurDir => {}
            Utf8Component::ParentDir => {
                let _at_the_root = out.pop();
            }
            other => out.push(other.as_str()),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_begin_at_the_repositorys_root() {
        let scratch = tempfile::tempdir().unwrap();
        let top = Utf8Path::from_path(scratch.path()).unwrap();
        let cwd = top.join("repo/sub/deep");
        std::fs::create_dir_all(&cwd).unwrap();
        let name = |path: &str| Repository::around(&cwd).name(Utf8Path::new(path));
        assert_eq!(name("./set/a.toml"), "set/a.toml");
        assert_eq!(name("../set"), top.join("repo/sub/set"));
        std::fs::write(top.join("repo/.git"), "gitdir: elsewhere\n").unwrap();
        assert_eq!(name("set/a.toml"), "sub/deep/set/a.toml");
        assert_eq!(name("../../set/./b"), "set/b");
        assert_eq!(name(top.join("repo/c").as_str()), "c");
        assert_eq!(name("../../../outside"), top.join("outside"));
        assert_eq!(name("/../etc"), "/etc");
    }
}
