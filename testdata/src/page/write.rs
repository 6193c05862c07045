//! An example on disk, with what it leaves out.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use camino::{Utf8Path, Utf8PathBuf};

use super::{Example, ExampleFile};

/// What stands at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A regular file.
    Bytes(Vec<u8>),
    /// A symbolic link.
    Link(String),
    /// A named pipe.
    Fifo,
    /// A tar archive of other files of the example, by their paths.
    Archive(Vec<String>),
    /// Nothing.
    Absent,
}

/// What a task has that an example does not show.
const BASE: [(&str, &str); 5] = [
    (
        "task.toml",
        "schema_version = \"1.4\"\n\n[environment]\ndocker_image = \"debian:12\"\n",
    ),
    ("instruction.md", "Write the answer.\n"),
    ("environment/Dockerfile", "FROM debian:12\n"),
    (
        "tests/test.sh",
        "#!/bin/bash\necho 1 > /logs/verifier/reward.txt\n",
    ),
    ("solution/solve.sh", "#!/bin/bash\ntrue\n"),
];

impl Example {
    /// Writes the files below a folder, each task completed to one that loads; returns the folder to look at.
    ///
    /// # Panics
    ///
    /// When a file cannot be written.
    #[must_use]
    pub fn write(&self, scratch: &Utf8Path) -> Utf8PathBuf {
        let set = scratch.join("set");
        let of_set = |file: &ExampleFile| file.path == "dataset.toml" || file.path.ends_with("/task.toml");
        let target = if self.files.iter().any(of_set) {
            set
        } else {
            set.join("task")
        };
        fs::create_dir_all(&target).expect("a folder");
        for file in &self.files {
            let path = join(&target, &file.path);
            match &file.kind {
                Kind::Archive(members) => put(&path, &Kind::Bytes(self.packed(members))),
                kind => put(&path, kind),
            }
        }
        for task in self.tasks(&target) {
            for (path, text) in BASE {
                let path = if task.is_empty() {
                    path.to_owned()
                } else {
                    format!("{task}/{path}")
                };
                if self.leaves_open(&path) {
                    put(&join(&target, &path), &Kind::Bytes(text.into()));
                }
            }
        }
        for file in &self.files {
            if let Some(mode) = file.mode {
                let path = join(&target, &file.path);
                fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("a mode");
            }
        }
        target
    }

    /// Returns the folders that are tasks: those with a task.toml, and others that files of a dataset lie in.
    fn tasks(&self, target: &Utf8Path) -> BTreeSet<String> {
        if target.file_name() == Some("task") {
            return BTreeSet::from([String::new()]);
        }
        let paths = || self.files.iter().map(|file| file.path.as_str());
        let mut tasks: BTreeSet<String> = paths()
            .filter_map(|path| path.strip_suffix("/task.toml"))
            .map(str::to_owned)
            .collect();
        let tops: BTreeSet<&str> = paths().filter_map(|path| Some(path.split_once('/')?.0)).collect();
        for top in tops {
            let within = format!("{top}/");
            if !tasks.iter().any(|task| task == top || task.starts_with(&within)) {
                tasks.insert(top.to_owned());
            }
        }
        if tasks.is_empty() {
            tasks.insert("task".to_owned());
        }
        tasks
    }

    /// Returns an archive of some of the files.
    fn packed(&self, members: &[String]) -> Vec<u8> {
        let mut archive = tar::Builder::new(Vec::new());
        for file in self.files.iter().filter(|file| members.contains(&file.path)) {
            if let Kind::Bytes(bytes) = &file.kind {
                let mut header = tar::Header::new_gnu();
                header.set_size(bytes.len() as u64);
                archive
                    .append_data(&mut header, &file.path, bytes.as_slice())
                    .expect("a member");
            }
        }
        archive.into_inner().expect("an archive")
    }

    /// Says whether the example shows neither the path, nor something in its place, nor a template of it.
    fn leaves_open(&self, path: &str) -> bool {
        let below = |inner: &str, outer: &str| {
            inner
                .strip_prefix(outer)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let template = path
            .rsplit_once('.')
            .map(|(stem, suffix)| format!("{stem}.template.{suffix}"));
        !self.files.iter().any(|file| {
            below(path, &file.path) || below(&file.path, path) || template.as_ref() == Some(&file.path)
        })
    }
}

/// Joins a path in which `\xHH` is a byte and a name `d{N}` that name N times over, each in the one before.
fn join(folder: &Utf8Path, path: &str) -> OsString {
    let names: Vec<String> = path.split('/').map(repeated).collect();
    let whole = folder.join(names.join("/")).into_string();
    let mut pieces = whole.split("\\x");
    let mut bytes = pieces.next().unwrap_or_default().as_bytes().to_vec();
    for piece in pieces {
        let (digits, rest) = piece.split_at(2);
        bytes.push(u8::from_str_radix(digits, 16).expect("two hexadecimal digits"));
        bytes.extend(rest.as_bytes());
    }
    OsString::from_vec(bytes)
}

fn repeated(name: &str) -> String {
    let times = name.strip_suffix('}').and_then(|rest| rest.split_once('{'));
    match times.and_then(|(name, times)| Some((name, times.parse().ok()?))) {
        Some((name, times)) => vec![name; times].join("/"),
        None => name.to_owned(),
    }
}

fn put(path: &OsStr, kind: &Kind) {
    if *kind == Kind::Absent {
        return;
    }
    fs::create_dir_all(Path::new(path).parent().expect("a parent")).expect("a folder");
    match kind {
        Kind::Bytes(bytes) => fs::write(path, bytes).expect("a file"),
        Kind::Link(to) => symlink(to, path).expect("a link"),
        Kind::Fifo => {
            let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
            rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, mode, 0).expect("a pipe");
        }
        Kind::Archive(_) | Kind::Absent => {}
    }
}

/// Returns the bytes that pairs of hexadecimal digits say.
pub(super) fn bytes_of_hex(text: &str) -> Vec<u8> {
    let pairs = text.split_whitespace();
    pairs
        .map(|pair| u8::from_str_radix(pair, 16).expect("two hexadecimal digits"))
        .collect()
}
