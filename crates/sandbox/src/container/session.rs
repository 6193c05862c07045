//! One container as a sandbox.

use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::sync::Arc;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};

use super::accounts::Accounts;
use super::client::Streams;
use super::failure::Failure;
use super::take::Snapshot;
use super::{CALL_LIMIT, CLEAR_LIMIT, Shared, download, exec, put, take};
use crate::api::{Command, Exit, Sandbox, SandboxError, User, UserError, UserName, View};
use crate::files::{Download, DownloadBounds, Entry, FileRead};

/// A container that runs. Dropping it removes it.
pub(super) struct Session {
    pub(super) shared: Arc<Shared>,
    /// The container's name or id, for the client.
    pub(super) container: String,
    /// Its number among what runs; `None` when it is somebody else's to remove.
    pub(super) number: Option<u64>,
    /// The shell in it, by its path.
    pub(super) shell: String,
    /// Names of the variables that its image sets.
    pub(super) inherited: Vec<String>,
    /// The image's user, as written there.
    pub(super) image_user: Option<String>,
    /// `PATH` for a command that says nothing of it, and needs none of ours; for sidecars.
    pub(super) own_path: Option<String>,
    pub(super) accounts: Option<Accounts>,
    /// It was killed, its files are there, and it must be started before anything runs in it.
    pub(super) halted: bool,
    /// The bound on its processes was raised once, for what comes after the work.
    pub(super) pids: Option<u32>,
    /// Folders that are known to be empty until the next command.
    pub(super) empty: BTreeSet<Utf8PathBuf>,
    /// What was read of a folder since the last command.
    pub(super) snapshot: Option<Snapshot>,
    /// Begins every line of a script; made anew for each.
    pub(super) words: u64,
    pub(super) secret: String,
}

impl Session {
    /// Returns a word that nobody inside knows yet.
    pub(super) fn word(&mut self) -> String {
        self.words += 1;
        format!("{}-{}", self.secret, self.words)
    }

    /// Forgets what was known of files: a command may have changed them.
    pub(super) fn forget(&mut self) {
        self.empty.clear();
        self.snapshot = None;
    }

    /// Runs one of our scripts as root; returns what follows its word in each line.
    pub(super) fn speak(
        &mut self,
        word: &str,
        script: &str,
        limit: Duration,
    ) -> Result<Vec<String>, Failure> {
        self.revive()?;
        let deadline = Instant::now() + limit;
        let streams = Streams {
            input: true,
            ..Streams::default()
        };
        let args = [
            "exec",
            "--interactive",
            "--user",
            "0:0",
            &self.container,
            &self.shell,
        ];
        let mut client = self.shared.cli.start(&args, streams)?;
        let written = client
            .writer(deadline)
            .and_then(|mut to| to.write_all(script.as_bytes()));
        if let Err(error) = written {
            return Err(client.broken(&error));
        }
        let (status, messages) = client.wait(deadline)?;
        self.shared.cli.running.refuse_when_stopped()?;
        if !status.success() {
            return Err(Failure::refused("exec", &messages));
        }
        let messages = String::from_utf8_lossy(&messages);
        let lines = messages.lines().filter_map(|line| line.strip_prefix(word));
        Ok(lines.map(|line| line.trim().to_owned()).collect())
    }

    /// Starts the container again when it was killed.
    pub(super) fn revive(&mut self) -> Result<(), Failure> {
        if self.halted {
            self.shared.cli.ask(&["start", &self.container], CALL_LIMIT)?;
            self.halted = false;
        }
        Ok(())
    }

    /// Kills everything in the container; its files stay.
    pub(super) fn halt(&mut self) -> Result<(), Failure> {
        match self.shared.cli.ask(&["kill", &self.container], CALL_LIMIT) {
            Ok(_) => {}
            // It ended by itself: that is what was wanted.
            Err(failure @ Failure::Refused { .. }) if failure.is_no_container() => {}
            Err(failure) => return Err(failure),
        }
        self.halted = true;
        Ok(())
    }

    /// Reads the stream of a small file of the image, links followed; `None` when it is not there.
    pub(super) fn image_file(&self, path: &str) -> Result<Option<Vec<u8>>, Failure> {
        let deadline = Instant::now() + CALL_LIMIT;
        let source = format!("{}:{path}", self.container);
        let streams = Streams {
            output: true,
            ..Streams::default()
        };
        let mut args = vec!["cp"];
        if !self.shared.info().is_ok_and(|info| info.podman) {
            args.push("--follow-link");
        }
        args.extend([source.as_str(), "-"]);
        let mut client = self.shared.cli.start(&args, streams)?;
        let mut archive = tar::Archive::new(client.reader(deadline));
        let mut bytes = Vec::new();
        let read = archive.entries().and_then(|mut entries| match entries.next() {
            Some(entry) => entry?.take(1 << 20).read_to_end(&mut bytes).map(Some),
            None => Ok(None),
        });
        match read {
            Ok(Some(_)) => {
                client.settle(archive.into_inner());
                Ok(Some(bytes))
            }
            Ok(None) => match client.finish(deadline) {
                Err(failure) if failure.is_no_path() => Ok(None),
                Err(failure) => Err(failure),
                Ok(()) => Ok(None),
            },
            Err(error) => match client.broken(&error) {
                failure if failure.is_no_path() => Ok(None),
                failure => Err(failure),
            },
        }
    }

    /// Removes the container.
    fn remove(&mut self) -> Result<(), SandboxError> {
        let Some(number) = self.number.take() else {
            return Ok(());
        };
        let removed = remove(&self.shared, &self.container);
        self.shared.cli.running.remove_container(number);
        removed
    }
}

/// Removes a container at once; one that is not there is no error.
pub(super) fn remove(shared: &Shared, container: &str) -> Result<(), SandboxError> {
    let mut args = vec!["rm", "--force", "--volumes"];
    if shared.info().is_ok_and(|info| info.podman) {
        args.extend(["--time", "0"]);
    }
    args.push(container);
    match shared.cli.clear(&args, CLEAR_LIMIT) {
        Ok(()) => Ok(()),
        Err(failure) if failure.is_no_container() => Ok(()),
        Err(failure) => Err(SandboxError::Lost(format!(
            "container `{container}` may be left: {}",
            failure.text()
        ))),
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        drop(self.remove());
    }
}

impl Sandbox for Session {
    fn user(&mut self, name: Option<&UserName>) -> Result<User, UserError> {
        super::accounts::resolve(self, name)
    }

    fn upload(
        &mut self,
        _view: View,
        target: &Utf8Path,
        owner: &User,
        entries: &[Entry],
    ) -> Result<(), SandboxError> {
        put::upload(self, target, owner, entries)
    }

    fn isolate(&mut self, folders: &[Utf8PathBuf]) -> Result<(), SandboxError> {
        put::isolate(self, folders)
    }

    fn run(&mut self, command: &Command) -> Result<Exit, SandboxError> {
        self.forget();
        match &self.own_path {
            Some(path) if !command.env.iter().any(|(name, _)| name == "PATH") => {
                let mut command = command.clone();
                command.env.push(("PATH".to_owned(), path.clone()));
                exec::run(self, &command)
            }
            _ => exec::run(self, command),
        }
    }

    fn read(&mut self, _view: View, path: &Utf8Path, limit: u64) -> Result<FileRead, SandboxError> {
        take::read(self, path, limit)
    }

    fn list(&mut self, _view: View, path: &Utf8Path) -> Result<Vec<String>, SandboxError> {
        take::list(self, path)
    }

    fn download(
        &mut self,
        _view: View,
        path: &Utf8Path,
        into: &Utf8Path,
        bounds: DownloadBounds,
    ) -> Result<Download, SandboxError> {
        download::download(self, path, into, bounds)
    }

    fn keep(mut self: Box<Self>) -> Result<Option<String>, SandboxError> {
        let Some(number) = self.number.take() else {
            return Ok(None);
        };
        self.shared.cli.running.remove_container(number);
        if self.halted {
            self.revive()?;
        }
        Ok(Some(format!(
            "{} exec --interactive --tty {} {}",
            self.shared.name, self.container, self.shell
        )))
    }

    fn close(mut self: Box<Self>) -> Result<(), SandboxError> {
        self.remove()
    }
}
