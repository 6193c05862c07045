//! Puts the layers together and says which findings are shown.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use findings::{Finding, Level, Location};
use task_model::{Dataset, Task};

use super::tables::{Suppression, Tables};
use super::words::{Choice, On, UnknownWord};
use super::{UNUSED_SUPPRESSION, Universe, is_always_shown};

/// What is shown of one dataset's findings.
#[derive(Debug)]
pub struct Filter {
    /// For findings of no task, and of tasks without a word of their own.
    common: On,
    by_task: BTreeMap<String, On>,
    /// What the command line turns off, whatever the files say.
    off: On,
    /// Each task's folder as shown.
    folders: BTreeMap<String, Utf8PathBuf>,
    suppressions: Vec<(Suppression, bool)>,
    /// Raise warnings to errors.
    strict: bool,
    hidden: Vec<Hidden>,
}

/// A finding that a suppression hides.
#[derive(Clone, Debug)]
pub struct Hidden {
    /// What is hidden; the suppression is among its related places.
    pub finding: Finding,
    /// The reason that the suppression gives.
    pub reason: String,
}

impl Filter {
    /// Reads the tables of a dataset and its tasks, and adds what is wrong with them to its findings.
    ///
    /// # Errors
    /// A word of the command line that names no rule.
    pub fn of(
        dataset: &mut Dataset,
        words: &Choice,
        strict: bool,
        universe: &Universe,
    ) -> Result<Self, UnknownWord> {
        let shared = dataset
            .toml_source
            .as_ref()
            .map(|source| Tables::read(source, universe))
            .unwrap_or_default();
        let mut below = universe.defaults();
        shared.apply(&mut below);
        let mut common = below.clone();
        words.apply(universe, &mut common)?;
        let mut left: On = universe.all.iter().map(|rule| rule.code).collect();
        let mut off = left.clone();
        words.apply(universe, &mut left)?;
        off.retain(|code| !left.contains(code));
        let folder = |task: &Task| (task.id.clone(), task.folder.clone());
        let mut filter = Self {
            common,
            by_task: BTreeMap::new(),
            off,
            folders: dataset.tasks.iter().map(folder).collect(),
            suppressions: shared.suppressions.into_iter().map(|s| (s, false)).collect(),
            strict,
            hidden: Vec::new(),
        };
        let mut found = shared.findings;
        for task in &dataset.tasks {
            let Some(source) = &task.toml_source else { continue };
            let own = Tables::read(source, universe);
            let mut on = below.clone();
            own.apply(&mut on);
            words.apply(universe, &mut on)?;
            if on != filter.common {
                filter.by_task.insert(task.id.clone(), on);
            }
            found.extend(own.findings.into_iter().map(|finding| Finding {
                task: Some(task.id.clone()),
                // Like all that is said of a task that is not selected.
                level: if task.selected { finding.level } else { Level::Note },
                ..finding
            }));
            if task.selected {
                filter
                    .suppressions
                    .extend(own.suppressions.into_iter().map(|suppression| {
                        let task = Some(task.id.clone());
                        let owner = task.clone();
                        let suppression = Suppression {
                            task,
                            owner,
                            ..suppression
                        };
                        (suppression, false)
                    }));
            }
        }
        // Rows of one template share its table.
        found.dedup_by(|later, kept| {
            let same = later.location == kept.location && later.message == kept.message;
            if same && kept.level == Level::Note {
                std::mem::swap(later, kept);
            }
            same
        });
        dataset.findings.append(&mut found);
        Ok(filter)
    }

    /// Drops the findings that are not shown and raises levels.
    pub fn apply(&mut self, findings: &mut Vec<Finding>) {
        findings.retain(|finding| self.shows(finding));
        for finding in findings
            .iter_mut()
            .filter(|finding| self.strict && finding.level == Level::Warning)
        {
            finding.level = Level::Error;
        }
    }

    /// Returns a finding for every suppression that hid nothing so far; of rules that are off now nobody can say that,
    /// and of rules that only a run can find, when there was one.
    #[must_use]
    pub fn unused(&self, universe: &Universe, ran: bool) -> Vec<Finding> {
        let used: BTreeSet<_> = self
            .suppressions
            .iter()
            .filter(|(_, used)| *used)
            .map(|(suppression, _)| suppression.place())
            .collect();
        let mut told = BTreeSet::new();
        let mut found = Vec::new();
        for (suppression, _) in &self.suppressions {
            let place = suppression.place();
            // Rows of one template share its suppressions.
            if used.contains(&place) || self.waits(suppression, universe, ran) || !told.insert(place) {
                continue;
            }
            if !self
                .on(suppression.owner.as_ref())
                .contains(UNUSED_SUPPRESSION.code)
            {
                continue;
            }
            let message = format!("the suppression of `{}` hides nothing", suppression.word);
            let finding = Finding::new(&UNUSED_SUPPRESSION, message)
                .at(&suppression.source, suppression.span)
                .help("remove it");
            found.push(Finding {
                task: suppression.owner.clone(),
                level: if self.strict { Level::Error } else { finding.level },
                ..finding
            });
        }
        found
    }

    /// Says whether what a suppression hides may only not have been looked for.
    fn waits(&self, suppression: &Suppression, universe: &Universe, ran: bool) -> bool {
        let mut codes = suppression.codes.iter();
        let looked_for = match &suppression.task {
            Some(task) => self.on(Some(task)).intersection(&suppression.codes).count(),
            None => std::iter::once(&self.common)
                .chain(self.by_task.values())
                .map(|on| on.intersection(&suppression.codes).count())
                .sum(),
        };
        looked_for == 0
            || codes.any(|code| self.off.contains(code) || (!ran && universe.of_runs.contains(code)))
    }

    /// Returns what is on for a task.
    fn on(&self, task: Option<&String>) -> &On {
        task.and_then(|task| self.by_task.get(task))
            .unwrap_or(&self.common)
    }

    /// Says whether a rule can find anything that is shown, in one task or, without one, in any: what is off need not run.
    #[must_use]
    pub fn wants(&self, code: &str, task: Option<&str>) -> bool {
        match task {
            Some(task) => self.by_task.get(task).unwrap_or(&self.common).contains(code),
            None => self.common.contains(code) || self.by_task.values().any(|on| on.contains(code)),
        }
    }

    /// Says whether findings of a rule are shown where no task says otherwise.
    #[must_use]
    pub fn is_on(&self, code: &str) -> bool {
        self.common.contains(code)
    }

    /// Returns what suppressions hid.
    #[must_use]
    pub fn into_hidden(self) -> Vec<Hidden> {
        self.hidden
    }

    fn shows(&mut self, finding: &Finding) -> bool {
        let code = finding.rule.code;
        if is_always_shown(code, finding.level) {
            return true;
        }
        if !self.on(finding.task.as_ref()).contains(code) {
            return false;
        }
        let folder = finding.task.as_ref().and_then(|task| self.folders.get(task));
        let mut by = None;
        for (suppression, used) in &mut self.suppressions {
            if suppression.matches(finding, folder) {
                *used = true;
                by.get_or_insert(&*suppression);
            }
        }
        if let Some(suppression) = by {
            let place = Location::Place {
                source: Arc::clone(&suppression.source),
                span: suppression.span,
            };
            self.hidden.push(Hidden {
                finding: finding.clone().see(place, "the suppression"),
                reason: suppression.reason.clone(),
            });
        }
        by.is_none()
    }
}

impl Suppression {
    /// Says whether it hides a finding of a task in `folder`.
    fn matches(&self, finding: &Finding, folder: Option<&Utf8PathBuf>) -> bool {
        let path_fits = || match (&self.path, &finding.location) {
            (None, _) => true,
            (Some(path), Some(location)) => {
                let of_table = self.source.path().parent();
                let mut bases = folder.map(Utf8PathBuf::as_path).into_iter().chain(of_table);
                bases.any(|base| plain(&base.join(path)) == plain(location.path()))
            }
            (Some(_), None) => false,
        };
        self.codes.contains(finding.rule.code)
            && self
                .task
                .as_ref()
                .is_none_or(|task| finding.task.as_ref() == Some(task))
            && path_fits()
    }

    /// Where it stands.
    fn place(&self) -> (&Utf8Path, usize) {
        (self.source.path(), self.span.start)
    }
}

/// Returns a path without `.` in it.
fn plain(path: &Utf8Path) -> Utf8PathBuf {
    path.components()
        .filter(|part| *part != Utf8Component::CurDir)
        .collect()
}
