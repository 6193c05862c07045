//! Engines and shorthands for the tests.

use std::ffi::OsString;
use std::fs;
use std::ops::Deref;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use sandbox::{
    Command, Embedded, Ended, Engine as _, Entry, EntryKind, Exit, FileRead, HELPER_WORD, Limits, Network,
    RootFs, Sandbox, Spec, User, UserName, View,
};
use tempfile::TempDir;

/// Who starts the sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caller {
    Root,
    Plain,
}

pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// An engine, and the folder of the helper that it starts.
pub(crate) struct TestEngine {
    engine: Embedded,
    _folder: Option<TempDir>,
}

impl TestEngine {
    /// The engine of a test run by root or by the plain user who runs it.
    pub(crate) fn into_engine(self) -> Embedded {
        assert!(self._folder.is_none());
        self.engine
    }

    /// Lets it start from the images of a store.
    pub(crate) fn with_store(self, store: sandbox::Store) -> Self {
        Self {
            engine: self.engine.with_store(store),
            ..self
        }
    }
}

impl Deref for TestEngine {
    type Target = Embedded;

    fn deref(&self) -> &Embedded {
        &self.engine
    }
}

/// An engine whose helper runs as the caller. A test run by root has both, any other only its own.
pub(crate) fn engine(caller: Caller) -> Option<TestEngine> {
    let helper = OsString::from(env!("CARGO_BIN_EXE_sandbox-helper"));
    match (caller, is_root()) {
        (Caller::Root, true) | (Caller::Plain, false) => Some(TestEngine {
            engine: Embedded::new(vec![helper, HELPER_WORD.into()]),
            _folder: None,
        }),
        (Caller::Root, false) => None,
        (Caller::Plain, true) => {
            let (folder, helper) = readable_helper();
            let mut words: Vec<OsString> = [
                "/usr/bin/setpriv",
                "--reuid=65534",
                "--regid=65534",
                "--clear-groups",
            ]
            .map(OsString::from)
            .into();
            words.extend([helper, HELPER_WORD.into()]);
            Some(TestEngine {
                engine: Embedded::new(words),
                _folder: Some(folder),
            })
        }
    }
}

/// A copy of the helper that a plain user can execute, wherever the build folder lies.
fn readable_helper() -> (TempDir, OsString) {
    let folder = tempfile::Builder::new()
        .prefix("sandbox-helper-")
        .tempdir()
        .unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    let copy = folder.path().join("sandbox-helper");
    copy_helper(&copy);
    (folder, copy.into_os_string())
}

/// Copies the helper by another process: a file that this one has open for writing could, through a fork of another
/// test's thread, be busy when it is to be started.
pub(crate) fn copy_helper(to: &std::path::Path) {
    let copied = std::process::Command::new("cp")
        .arg(env!("CARGO_BIN_EXE_sandbox-helper"))
        .arg(to)
        .status();
    assert!(copied.unwrap().success());
    fs::set_permissions(to, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Runs a check for every caller that this test run can be.
pub(crate) fn for_each_caller(check: impl Fn(Caller, &Embedded)) {
    for caller in [Caller::Root, Caller::Plain] {
        if let Some(engine) = engine(caller) {
            check(caller, &engine);
        }
    }
}

pub(crate) fn spec() -> Spec {
    Spec {
        root: RootFs::Host,
        host_paths: Vec::new(),
        network: Network::None,
        limits: Limits::default(),
        folders: vec![
            ("/app".into(), 0o755),
            ("/logs/verifier".into(), 0o777),
            ("/tests".into(), 0o777),
        ],
        compose: None,
    }
}

pub(crate) fn start(engine: &Embedded) -> Box<dyn Sandbox> {
    engine.start(&spec()).unwrap()
}

pub(crate) fn root() -> User {
    User {
        uid: 0,
        gid: 0,
        name: "root".to_owned(),
        home: "/root".to_owned(),
    }
}

pub(crate) fn named(sandbox: &mut dyn Sandbox, name: &str) -> User {
    sandbox.user(Some(&UserName::Name(name.to_owned()))).unwrap()
}

pub(crate) fn bash(script: &str) -> Command {
    Command {
        argv: vec!["bash".into(), "-c".into(), script.into()],
        cwd: "/app".into(),
        env: vec![
            (
                "PATH".into(),
                "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin".into(),
            ),
            ("LANG".into(), "C.UTF-8".into()),
        ],
        user: root(),
        time_limit: Some(Duration::from_secs(30)),
        output: None,
        view: View::Work,
    }
}

pub(crate) fn apart(script: &str) -> Command {
    Command {
        view: View::Apart,
        ..bash(script)
    }
}

pub(crate) fn text(exit: &Exit) -> String {
    String::from_utf8_lossy(&exit.tail).into_owned()
}

/// Runs a script that must succeed; its output.
pub(crate) fn ok(sandbox: &mut dyn Sandbox, script: &str) -> String {
    done(sandbox, &bash(script))
}

pub(crate) fn done(sandbox: &mut dyn Sandbox, command: &Command) -> String {
    let exit = sandbox.run(command).unwrap();
    assert_eq!(exit.ended, Ended::Code(0), "{:?}: {}", command.argv, text(&exit));
    text(&exit)
}

pub(crate) fn file(path: &str, mode: u32, text: &str) -> Entry {
    Entry {
        path: path.into(),
        mode,
        kind: EntryKind::Bytes(text.as_bytes().into()),
    }
}

pub(crate) fn read(sandbox: &mut dyn Sandbox, view: View, path: &str) -> FileRead {
    sandbox.read(view, path.into(), 1 << 20).unwrap()
}

pub(crate) fn bytes(text: &str) -> FileRead {
    FileRead::Bytes(text.as_bytes().to_vec())
}

/// The inner process of the sandbox that was told this word.
pub(crate) fn inner_process(word: &str) -> u32 {
    let has = |line: &[u8], part: &str| line.windows(part.len()).any(|found| found == part.as_bytes());
    fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .find(|pid: &u32| {
            fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| has(&line, word) && has(&line, "inner"))
        })
        .unwrap()
}
