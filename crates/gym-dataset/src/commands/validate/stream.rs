//! What goes to stdout while tasks run, in the formats that need not wait for the end.

use findings::Finding;
use findings::render::{FindingObject, concise};

use crate::cli::{ValidateArgs, ValidateFormat};
use crate::output::{Columns, TaskLines};
use crate::report::{ReportLine, TaskReport, render};

/// Lines of findings and tasks, each complete in itself.
#[derive(Clone, Copy, Debug)]
pub(super) enum Stream {
    /// For people.
    Human {
        /// The layout.
        lines: TaskLines,
        /// Nothing runs: what is well is not mentioned.
        only_static: bool,
    },
    /// One line each.
    Concise,
    /// One object each.
    Jsonl,
    /// The format is written in one piece at the end.
    Silent,
}

impl Stream {
    /// Returns the lines of these arguments; `ids` are those of the tasks picked.
    pub(super) fn new<'a>(args: &ValidateArgs, ids: impl Iterator<Item = &'a str>, color: bool) -> Self {
        match args.format {
            ValidateFormat::Human => Self::Human {
                lines: TaskLines::new(ids, columns(args), color),
                only_static: args.only_static,
            },
            ValidateFormat::Concise => Self::Concise,
            ValidateFormat::Jsonl => Self::Jsonl,
            ValidateFormat::Json
            | ValidateFormat::Github
            | ValidateFormat::Sarif
            | ValidateFormat::Junit
            | ValidateFormat::Markdown => Self::Silent,
        }
    }

    /// Says whether tasks that were not picked are listed too.
    pub(super) fn lists_all(self) -> bool {
        matches!(self, Self::Jsonl)
    }

    /// Says whether two tasks that do not run share a line.
    pub(super) fn joins(self, a: Option<&TaskReport>, b: Option<&TaskReport>) -> bool {
        let (Self::Human { .. }, Some(a), Some(b)) = (self, a, b) else {
            return false;
        };
        TaskLines::alike(a, b)
    }

    /// Returns what tasks that share a line print.
    pub(super) fn tasks(self, tasks: &[&TaskReport]) -> String {
        match self {
            Self::Human { lines, .. } if tasks.len() > 1 => lines.tasks(tasks),
            _ => tasks.iter().map(|task| self.task(task)).collect(),
        }
    }

    /// Returns what a task's ending prints.
    pub(super) fn task(self, task: &TaskReport) -> String {
        match self {
            Self::Human { only_static, .. } if only_static && task.reason.is_none() => String::new(),
            Self::Human { lines, .. } => lines.task(task),
            Self::Concise => render::task_line(task),
            Self::Jsonl => ReportLine::Task(Box::new(task.clone())).text(),
            Self::Silent => String::new(),
        }
    }
}

/// Returns what a task's line shows under these arguments.
pub(super) fn columns(args: &ValidateArgs) -> Columns {
    Columns {
        repeat: (args.repeat.get() > 1).then_some(args.min_reward),
        nop: args.nop(),
    }
}

/// Returns what a finding prints in the formats of one line each; `None` in the others.
pub(super) fn finding(format: ValidateFormat, finding: &Finding) -> Option<String> {
    match format {
        ValidateFormat::Concise => Some(concise(finding) + "\n"),
        ValidateFormat::Jsonl => Some(ReportLine::Finding(FindingObject::from(finding)).text()),
        ValidateFormat::Human
        | ValidateFormat::Json
        | ValidateFormat::Github
        | ValidateFormat::Sarif
        | ValidateFormat::Junit
        | ValidateFormat::Markdown => None,
    }
}
