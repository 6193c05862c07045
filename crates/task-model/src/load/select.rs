//! Which tasks the user picked.

use std::collections::BTreeSet;

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};

use super::{LoadError, Selection};
use crate::nearest::nearest;
use crate::{Dataset, Task};

/// Compiled `--task` and `--exclude`.
pub(super) struct Filter {
    task: Option<GlobSet>,
    exclude: GlobSet,
    only: Option<BTreeSet<String>>,
}

impl Filter {
    pub(super) fn new(selection: &Selection) -> Result<Self, LoadError> {
        let task = (!selection.task.is_empty())
            .then(|| set(&selection.task))
            .transpose()?;
        Ok(Self {
            task,
            exclude: set(&selection.exclude)?,
            only: selection.only.clone(),
        })
    }

    pub(super) fn picks(&self, id: &str) -> bool {
        self.only.as_ref().is_none_or(|only| only.contains(id))
            && self.task.as_ref().is_none_or(|t| t.is_match(id))
            && !self.exclude.is_match(id)
    }

    /// Says whether a folder that makes no task, and so has no id to be picked by, counts: only globs leave it out.
    pub(super) fn takes_nameless(&self) -> bool {
        self.task.is_none() && self.exclude.is_empty()
    }
}

fn set(globs: &[String]) -> Result<GlobSet, LoadError> {
    let bad = |glob: &str, cause: &globset::Error| LoadError::BadGlob {
        glob: glob.to_owned(),
        cause: cause.kind().to_string(),
    };
    let mut builder = GlobSetBuilder::new();
    for glob in globs {
        builder.add(compile(glob).map_err(|e| bad(glob, &e))?);
    }
    builder
        .build()
        .map_err(|e| bad(globs.first().map_or("", String::as_str), &e))
}

/// Task ids hold no `/`, so `*` means anything; a backslash in a name is written `\\`.
fn compile(glob: &str) -> Result<Glob, globset::Error> {
    GlobBuilder::new(glob)
        .literal_separator(false)
        .backslash_escape(true)
        .build()
}

/// Returns the error for a filter that picks nothing.
pub(super) fn nothing(selection: &Selection, tasks: &[Task]) -> LoadError {
    let shown = |globs: &[String], option: &str| {
        globs
            .iter()
            .map(|g| format!("{option} {g}"))
            .collect::<Vec<_>>()
            .join(" ")
    };
    let options = [
        shown(&selection.task, "--task"),
        shown(&selection.exclude, "--exclude"),
    ];
    let options = options
        .iter()
        .filter(|o| !o.is_empty())
        .cloned()
        .collect::<Vec<_>>()
        .join(" ");
    let near = selection
        .task
        .iter()
        .find_map(|g| nearest(g, tasks.iter().map(|t| t.id.as_str())));
    let hint = match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            let ids: Vec<String> = tasks.iter().take(5).map(|t| format!("`{}`", t.id)).collect();
            let more = if tasks.len() > 5 { ", ..." } else { "" };
            format!("there are {}{more}", ids.join(", "))
        }
    };
    let count = tasks.len();
    let noun = if count == 1 { "task" } else { "tasks" };
    LoadError::EmptySelection(format!("`{options}` picks none of {count} {noun}; {hint}"))
}

/// Returns a sentence for each `--task` glob that matches no task at all: another one does, so that nothing else would
/// tell of a misspelt id.
#[must_use]
pub fn idle_globs(globs: &[String], datasets: &[Dataset]) -> Vec<String> {
    let ids = || {
        datasets
            .iter()
            .flat_map(|d| &d.tasks)
            .map(|task| task.id.as_str())
    };
    let idle = |glob: &&String| {
        let matcher = compile(glob).map(|glob| glob.compile_matcher());
        matcher.is_ok_and(|matcher| !ids().any(|id| matcher.is_match(id)))
    };
    let idle = globs.iter().filter(idle);
    idle.map(|glob| match nearest(glob, ids()) {
        Some(near) => format!("`--task {glob}` picks no task; did you mean `{near}`?"),
        None => format!("`--task {glob}` picks no task"),
    })
    .collect()
}
