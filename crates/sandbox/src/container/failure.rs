//! What a client's failure means: the engine is gone, the container is, the disk is full, or it just says no.

use std::io;

use camino::Utf8Path;

use crate::api::SandboxError;

/// Words by which a client says that it cannot reach its engine, or lost it on the way.
const NO_ENGINE: [&str; 13] = [
    "cannot connect to the docker daemon",
    "is the docker daemon running",
    "error during connect",
    "failed to connect to the docker api",
    "unable to connect to podman",
    "cannot connect to podman",
    "connection refused",
    "connection reset",
    "broken pipe",
    "unexpected eof",
    "dial unix",
    "dial tcp",
    "context deadline exceeded",
];
/// Words by which it says that the container is not there, or not running.
const NO_CONTAINER: [&str; 7] = [
    "no such container",
    "no container with name or id",
    "is not running",
    "container state improper",
    "running containers",
    "can only create exec sessions",
    "marked for removal",
];
/// Words by which it says that a path is not there.
const NO_PATH: [&str; 5] = [
    "could not find the file",
    "could not be found on container",
    "no such file or directory",
    "not a directory",
    "copied no items",
];
/// Words by which it says that an image is not there.
const NO_IMAGE: [&str; 4] = [
    "no such image",
    "image not known",
    "unable to find image",
    "no such object",
];

/// Why a call of the client did not do what it was to do.
#[derive(Debug)]
pub(super) enum Failure {
    /// The engine was told to stop.
    Stopped,
    /// It did not end in time, and was killed.
    TimedOut {
        /// The client's subcommand.
        action: String,
    },
    /// It could not be started.
    NotStarted {
        /// The program.
        program: String,
        /// The system's word.
        cause: io::Error,
    },
    /// It ended with a failure.
    Refused {
        /// The client's subcommand.
        action: String,
        /// The last thing that it said, one line.
        text: String,
        /// Everything that it said, in small letters.
        all: String,
    },
}

impl Failure {
    pub(super) fn not_started(program: &Utf8Path, cause: io::Error) -> Self {
        Self::NotStarted {
            program: program.to_string(),
            cause,
        }
    }

    pub(super) fn timed_out(action: &str) -> Self {
        Self::TimedOut {
            action: action.to_owned(),
        }
    }

    pub(super) fn refused(action: &str, messages: &[u8]) -> Self {
        let messages = String::from_utf8_lossy(messages);
        Self::Refused {
            action: action.to_owned(),
            text: sentence(&messages),
            // Older clients say this of a path as of a container; who needs to know has asked the container before.
            all: messages
                .to_lowercase()
                .replace("no such container:path", "could not find the file"),
        }
    }

    fn says(&self, words: &[&str]) -> bool {
        matches!(self, Self::Refused { all, .. } if words.iter().any(|word| all.contains(word)))
    }

    pub(super) fn is_no_path(&self) -> bool {
        self.says(&NO_PATH) && !self.is_lost()
    }

    pub(super) fn is_no_image(&self) -> bool {
        self.says(&NO_IMAGE)
    }

    pub(super) fn is_lost(&self) -> bool {
        // A runtime that cannot start a process has trouble with its pipes, not with the engine.
        (self.says(&NO_ENGINE) && !self.says(&["oci runtime", "exec failed"])) || self.says(&NO_CONTAINER)
    }

    /// The client cannot reach its engine. A registry that cannot be reached sounds much the same.
    pub(super) fn is_engine_gone(&self) -> bool {
        self.says(&NO_ENGINE[..6])
    }

    pub(super) fn is_no_container(&self) -> bool {
        self.says(&NO_CONTAINER)
    }

    pub(super) fn is_disk_full(&self) -> bool {
        self.says(&["no space left on device", "disk quota exceeded"])
    }

    /// The program that a process was to be started from is not there.
    pub(super) fn is_no_program(&self) -> bool {
        self.says(&[
            "executable file not found",
            "oci runtime attempted to invoke a command that was not found",
        ]) || (self.says(&["exec: ", "exec failed", "starting container process"])
            && self.says(&["no such file or directory", "executable file `"]))
    }

    /// No process can be started, for the container has as many as it may.
    pub(super) fn is_full_of_processes(&self) -> bool {
        self.says(&[
            "resource temporarily unavailable",
            "fork/exec",
            "pthread_create failed",
            "read init-p: connection reset",
        ])
    }

    /// What it said, for a sentence.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Stopped => "the run was stopped".to_owned(),
            Self::TimedOut { action } => format!("`{action}` did not end in time"),
            Self::NotStarted { program, cause } => format!("`{program}` cannot be started: {cause}"),
            Self::Refused { action, text, .. } if text.is_empty() => {
                format!("`{action}` failed and did not say why")
            }
            Self::Refused { text, .. } => text.clone(),
        }
    }
}

impl From<Failure> for SandboxError {
    fn from(failure: Failure) -> Self {
        match &failure {
            Failure::Stopped | Failure::TimedOut { .. } => Self::Lost(failure.text()),
            Failure::NotStarted { program, .. } => Self::Io {
                what: format!("start `{program}`"),
                source: match failure {
                    Failure::NotStarted { cause, .. } => cause,
                    _ => io::Error::other("not started"),
                },
            },
            Failure::Refused { .. } if failure.is_lost() => Self::Lost(failure.text()),
            Failure::Refused { action, .. } => Self::Io {
                what: format!("the engine's `{action}`"),
                source: io::Error::other(failure.text()),
            },
        }
    }
}

/// Returns the line that says most: the last one that is not advice, without the client's prefixes.
fn sentence(messages: &str) -> String {
    let advice = |line: &str| {
        line.is_empty()
            || line.starts_with("See '")
            || line.starts_with("Run '")
            || line.starts_with("DEPRECATED")
            || line.starts_with("WARNING")
            || line.starts_with("time=")
    };
    let mut said = messages
        .lines()
        .map(str::trim)
        .rfind(|line| !advice(line))
        .unwrap_or_default();
    for prefix in ["docker: ", "Error: ", "Error response from daemon: ", "* "] {
        said = said.strip_prefix(prefix).unwrap_or(said);
    }
    said.trim_end_matches('.').chars().take(400).collect()
}

#[cfg(test)]
mod tests {
    use super::Failure;
    use crate::api::SandboxError;

    #[test]
    fn a_gone_engine_and_a_gone_container_are_lost_and_others_are_not() {
        for text in [
            "Cannot connect to the Docker daemon at unix:///x.sock. Is the docker daemon running?",
            "error during connect: Get \"http://x\": EOF",
            "Error response from daemon: No such container: x",
            "Error response from daemon: Container abc is not running",
            "Error: no container with name or ID \"x\" found: no such container",
        ] {
            let failure = Failure::refused("exec", text.as_bytes());
            assert!(
                matches!(SandboxError::from(failure), SandboxError::Lost(_)),
                "{text}"
            );
        }
        let failure = Failure::refused("cp", b"Error: No such container:path: name:/logs");
        assert!(failure.is_no_path() && !failure.is_lost());
        let failure = Failure::refused("cp", b"write /x: no space left on device");
        assert!(matches!(SandboxError::from(failure), SandboxError::Io { .. }));
    }

    #[test]
    fn the_sentence_is_what_the_engine_said() {
        let text = "WARNING: x\ndocker: Error response from daemon: Conflict. The name is taken.\nSee 'docker run --help'.\n";
        assert_eq!(
            Failure::refused("create", text.as_bytes()).text(),
            "Conflict. The name is taken"
        );
        assert_eq!(
            Failure::refused("create", b"").text(),
            "`create` failed and did not say why"
        );
    }
}
