//! What git knows of changes. The repository is somebody else's: nothing that its configuration names is run (no
//! monitor, hook, filter, external diff, text conversion or fetch), and nothing of it is written.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read as _, Seek as _, Write as _};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};

/// A git that does not end in this time is given up.
const PATIENCE: Duration = Duration::from_secs(120);
/// Bytes of an answer that are read: millions of paths.
const LONGEST: u64 = 256 << 20;

/// Submodules within submodules that are looked into.
const DEPTH: usize = 4;

/// A commit of a repository, to compare the working tree with.
pub(crate) struct Since<'a> {
    git: Git<'a>,
    oid: String,
}

impl<'a> Since<'a> {
    /// Finds the repository of a folder and the commit in it.
    ///
    /// # Errors
    /// One sentence for people: no git, no repository, no such commit.
    pub(crate) fn open(
        folder: &Utf8Path,
        commit: &str,
        environment: &'a BTreeMap<String, String>,
    ) -> Result<Self, String> {
        let mut git = Git {
            folder: folder.to_owned(),
            environment,
            filters: Vec::new(),
        };
        let top = git
            .text(&["rev-parse", "--show-toplevel"])
            .map_err(|why| explained(folder, &why))?;
        git.folder = Utf8PathBuf::from(top.trim_end_matches('\n'));
        git.filters = git.filters();
        let name = format!("{commit}^{{commit}}");
        let oid = git
            .text(&["rev-parse", "--verify", "--quiet", "--end-of-options", &name])
            .map_err(|_| {
                format!(
                    "`{commit}` is no commit of the repository {}; a shallow clone lacks older ones (`git fetch --unshallow`)",
                    git.folder
                )
            })?;
        let oid = oid.trim_end().to_owned();
        Ok(Self { git, oid })
    }

    /// Returns the files of the repository that differ from the commit: committed, staged, changed in the working tree,
    /// untracked (what is ignored aside), and deleted; those of submodules too. Absolute, without links in the
    /// repository's own path. A folder stands for everything in it.
    ///
    /// # Errors
    /// One sentence for people: git failed.
    pub(crate) fn changed(&self) -> Result<BTreeSet<Utf8PathBuf>, String> {
        self.changed_within(DEPTH)
    }

    fn changed_within(&self, depth: usize) -> Result<BTreeSet<Utf8PathBuf>, String> {
        let differing = self.git.bytes(
            &[
                "diff-index",
                "--raw",
                "-z",
                "--no-renames",
                "--ignore-submodules=dirty",
                "--no-ext-diff",
                "--no-textconv",
                "--full-index",
                &self.oid,
                "--",
            ],
            b"",
        )?;
        let untracked = self
            .git
            .bytes(&["ls-files", "--others", "--exclude-standard", "-z"], b"")?;
        let mut changed = self.git.really_changed(&differing)?;
        changed.extend(paths(&untracked));
        let mut changed: BTreeSet<Utf8PathBuf> = changed
            .into_iter()
            .map(|path| self.git.folder.join(path))
            .collect();
        for path in self.submodules()? {
            self.look_into(&path, depth, &mut changed);
        }
        Ok(changed)
    }

    /// Returns the paths of submodules.
    fn submodules(&self) -> Result<Vec<String>, String> {
        let staged = self.git.bytes(&["ls-files", "--stage", "-z"], b"")?;
        let link = |entry: String| Some(entry.strip_prefix("160000 ")?.split_once('\t')?.1.to_owned());
        Ok(paths(&staged).filter_map(link).collect())
    }

    /// Puts what changed in a submodule since the commit that it had in the place of the submodule as a whole, where git
    /// can tell.
    fn look_into(&self, path: &str, depth: usize, changed: &mut BTreeSet<Utf8PathBuf>) {
        let folder = self.git.folder.join(path);
        let within = || {
            let commit = self
                .git
                .text(&["rev-parse", "--verify", "--quiet", &self.place(path)]);
            let sub = Since::open(&folder, commit.ok()?.trim_end(), self.git.environment).ok()?;
            // One that is not checked out is a folder of the repository around it.
            let own = sub.git.folder.canonicalize_utf8().ok()? == folder.canonicalize_utf8().ok()?;
            own.then(|| sub.changed_within(depth.checked_sub(1)?).ok())
                .flatten()
        };
        if let Some(within) = within() {
            changed.remove(&folder);
            changed.extend(within);
        }
    }

    /// Returns a file's bytes as the commit has them; `None` when it has no such file. The path is absolute.
    pub(crate) fn file(&self, path: &Utf8Path) -> Option<Vec<u8>> {
        let inside = path.strip_prefix(&self.git.folder).ok()?;
        let place = self.place(inside.as_str());
        self.git.bytes(&["cat-file", "blob", &place], b"").ok()
    }

    fn place(&self, path: &str) -> String {
        format!("{}:{path}", self.oid)
    }
}

struct Git<'a> {
    folder: Utf8PathBuf,
    environment: &'a BTreeMap<String, String>,
    /// Settings that name a program which would see the files' contents; they are overridden with nothing.
    filters: Vec<String>,
}

impl Git<'_> {
    /// Returns the settings of every filter. Git compares contents, and so runs filters, for files that are as young as
    /// its index.
    fn filters(&self) -> Vec<String> {
        let pattern = r"^filter\..*\.(clean|smudge|process|required)$";
        let listed = self.bytes(&["config", "-z", "--name-only", "--get-regexp", pattern], b"");
        paths(&listed.unwrap_or_default()).collect()
    }

    /// Reads raw lines. A file that was only touched has no hash yet; its bytes are compared here, without filters.
    fn really_changed(&self, raw: &[u8]) -> Result<BTreeSet<String>, String> {
        let mut changed = BTreeSet::new();
        let mut touched = Vec::new();
        let mut fields = raw.split(|b| *b == 0).filter(|f| !f.is_empty());
        while let (Some(head), Some(path)) = (fields.next(), fields.next()) {
            let head = String::from_utf8_lossy(head);
            let path = String::from_utf8_lossy(path).into_owned();
            let words: Vec<&str> = head.trim_start_matches(':').split(' ').collect();
            match words.as_slice() {
                [before, after, old, new, _]
                    if before == after && new.bytes().all(|b| b == b'0') && !path.contains('\n') =>
                {
                    touched.push(((*old).to_owned(), path));
                }
                _ => {
                    changed.insert(path);
                }
            }
        }
        let input: String = touched.iter().map(|(_, path)| format!("{path}\n")).collect();
        let hashes = if touched.is_empty() {
            Vec::new()
        } else {
            // A link or a file that went away meanwhile makes the whole answer an error: then all count as changed.
            self.bytes(
                &["hash-object", "--no-filters", "--stdin-paths"],
                input.as_bytes(),
            )
            .unwrap_or_default()
        };
        let hashes = String::from_utf8_lossy(&hashes);
        let mut hashes = hashes.lines();
        for (old, path) in touched {
            if hashes.next() != Some(old.as_str()) {
                changed.insert(path);
            }
        }
        Ok(changed)
    }

    fn text(&self, args: &[&str]) -> Result<String, String> {
        String::from_utf8(self.bytes(args, b"")?)
            .map_err(|_| "git printed a path that is not UTF-8".to_owned())
    }

    /// Runs git and returns what it printed; an error is what it complained of.
    fn bytes(&self, args: &[&str], input: &[u8]) -> Result<Vec<u8>, String> {
        let io = |e: std::io::Error| format!("git cannot be run: {e}");
        let mut stdin = tempfile::tempfile().map_err(io)?;
        stdin.write_all(input).and_then(|()| stdin.rewind()).map_err(io)?;
        let mut stdout = tempfile::tempfile().map_err(io)?;
        let mut stderr = tempfile::tempfile().map_err(io)?;
        let outside = |name: &str| !name.starts_with("GIT_");
        let mut child = Command::new("git")
            .args([
                "--no-optional-locks",
                "--no-pager",
                "--no-replace-objects",
                "--literal-pathspecs",
            ])
            .args(["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"])
            .args([
                "-c",
                "diff.external=",
                "-c",
                "core.untrackedCache=false",
                "-c",
                "core.quotePath=false",
            ])
            .args(["-C", self.folder.as_str()])
            .args(args)
            .env_clear()
            .envs(self.environment.iter().filter(|(name, _)| outside(name)))
            .env("LC_ALL", "C")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_NO_LAZY_FETCH", "1")
            .env("GIT_CONFIG_COUNT", self.filters.len().to_string())
            .envs(self.filters.iter().enumerate().flat_map(|(i, name)| {
                let off = if name.ends_with(".required") { "false" } else { "" };
                [
                    (format!("GIT_CONFIG_KEY_{i}"), name.clone()),
                    (format!("GIT_CONFIG_VALUE_{i}"), off.to_owned()),
                ]
            }))
            .stdin(Stdio::from(stdin))
            .stdout(Stdio::from(stdout.try_clone().map_err(io)?))
            .stderr(Stdio::from(stderr.try_clone().map_err(io)?))
            .spawn()
            .map_err(|e| match e.kind() {
                std::io::ErrorKind::NotFound => "there is no `git` on PATH".to_owned(),
                _ => io(e),
            })?;
        let deadline = Instant::now() + PATIENCE;
        let status = loop {
            match child.try_wait() {
                Ok(Some(status)) => break status,
                Ok(None) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(2)),
                Ok(None) | Err(_) => {
                    // It may have ended in between; either way it is reaped here.
                    let _killed = child.kill();
                    let _reaped = child.wait();
                    return Err(format!("git did not end within {} seconds", PATIENCE.as_secs()));
                }
            }
        };
        if !status.success() {
            let complaint = read(&mut stderr, 64 << 10).map_err(io)?;
            return Err(String::from_utf8_lossy(&complaint).trim().to_owned());
        }
        read(&mut stdout, LONGEST).map_err(io)
    }
}

fn read(file: &mut std::fs::File, bound: u64) -> std::io::Result<Vec<u8>> {
    file.rewind()?;
    let mut bytes = Vec::new();
    file.take(bound).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn paths(listed: &[u8]) -> impl Iterator<Item = String> {
    let paths = listed.split(|b| *b == 0).filter(|p| !p.is_empty());
    paths.map(|path| String::from_utf8_lossy(path).into_owned())
}

/// Says what to do about a repository that git does not open.
fn explained(folder: &Utf8Path, complaint: &str) -> String {
    if complaint.contains("dubious ownership") {
        return format!(
            "git does not trust the repository of {folder}, because another user owns it; when you do, say `git config \
             --global --add safe.directory <repository>`"
        );
    }
    if complaint.contains("not a git repository") || complaint.contains("must be run in a work tree") {
        return format!("{folder} is not in a git repository");
    }
    let first = complaint.lines().next().unwrap_or_default();
    let first = first.trim_start_matches("fatal: ");
    if first.is_empty() {
        format!("git cannot read the repository of {folder}")
    } else {
        first.to_owned()
    }
}
