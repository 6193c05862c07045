//! How a run can end, and the exit code of each ending: the only place that knows the numbers.

/// Wrong usage that clap cannot see: a path, a filter, a variable. The text is one sentence with the remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UsageError(pub String);

impl UsageError {
    /// Returns the error as the `anyhow` error that commands return.
    pub(crate) fn because(text: impl Into<String>) -> anyhow::Error {
        Self(text.into()).into()
    }
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Nothing to complain about.
    Good,
    /// An error-level finding.
    Findings,
    /// A task failed, was masked or refused.
    Tasks,
    /// A run, not `--static`, in which no task came to a verdict.
    NoVerdict,
    /// There is no score (`reward`), no digest (`digest`), or a refusal (`publish`, `render`).
    Refused,
    /// Wrong usage, no such path, nothing selected.
    Usage,
    /// Nothing selected can run here.
    NoEngine,
    /// A fault of the tool or the machine.
    Fault,
    /// Ctrl-C.
    Interrupted,
}

impl Ending {
    /// Every ending, for the reference page.
    pub const ALL: [Self; 9] = [
        Self::Good,
        Self::Findings,
        Self::Tasks,
        Self::NoVerdict,
        Self::Refused,
        Self::Usage,
        Self::NoEngine,
        Self::Fault,
        Self::Interrupted,
    ];

    /// Returns the exit code.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Self::Good => 0,
            Self::Findings | Self::Tasks | Self::NoVerdict | Self::Refused => 1,
            Self::Usage | Self::NoEngine | Self::Fault => 2,
            Self::Interrupted => 130,
        }
    }

    /// Returns when it happens, one sentence for the reference page.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Good => "All well; also when the reader of a pipe went away.",
            Self::Findings => "There is an error-level finding.",
            Self::Tasks => "A selected task failed, was masked, or does not load under the contract.",
            Self::NoVerdict => "A run without `--static` ended and no task came to a verdict.",
            Self::Refused => {
                "`reward` found no score, `digest` found a task without a digest, `render` or `image add` refused."
            }
            Self::Usage => {
                "Wrong usage, no such path, a dataset without tasks, a filter that selects nothing."
            }
            Self::NoEngine => "No selected task can run on this machine with the sandbox asked for.",
            Self::Fault => "The tool or the machine failed; the message says what.",
            Self::Interrupted => "Ctrl-C; tasks that had not ended are `not-run` with kind `interrupted`.",
        }
    }

    /// Returns the ending of a command that returned an error.
    pub(crate) fn of_error(error: &anyhow::Error) -> Self {
        if error.is::<UsageError>() {
            Self::Usage
        } else if matches!(error.downcast_ref(), Some(sandbox::StoreError::Refused(_))) {
            Self::Refused
        } else {
            Self::Fault
        }
    }
}

/// Says whether the cause of all is a reader that went away (`gym-dataset ... | head`).
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<std::io::Error>()
            .is_some_and(|e| e.kind() == std::io::ErrorKind::BrokenPipe)
    })
}
