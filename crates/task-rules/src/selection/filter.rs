//! Puts the layers together and says which findings are shown.

use std::collections::BTreeMap;
use std::sync::Arc;

use findings::{Finding, Level, Location};
use task_model::Dataset;

use super::tables::{Suppression, Tables};
use super::words::{Choice, On, UnknownWord};
use super::{UNUSED_SUPPRESSION, Universe, is_always_shown};

/// What is shown of one dataset's findings.
#[derive(Debug)]
pub struct Filter {
    /// For findings of no task, and of tasks without a word of their own.
    common: On,
    by_task: BTreeMap<String, On>,
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
        let mut filter = Self {
            common,
            by_task: BTreeMap::new(),
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
                ..finding
            }));
            if task.selected {
                filter
                    .suppressions
                    .extend(own.suppressions.into_iter().map(|suppression| {
                        let task = Some(task.id.clone());
                        (Suppression { task, ..suppression }, false)
                    }));
            }
        }
        found.dedup_by(|a, b| a.location == b.location && a.message == b.message);
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

    /// Returns a finding for every suppression that hid nothing so far; of rules that only a run can find, when there
    /// was one.
    #[must_use]
    pub fn unused(&self, universe: &Universe, ran: bool) -> Vec<Finding> {
        let waits = |suppression: &Suppression| {
            !ran && suppression
                .codes
                .iter()
                .any(|code| universe.of_runs.contains(code))
        };
        let mut found: Vec<Finding> = self
            .suppressions
            .iter()
            .filter(|(suppression, used)| !used && !waits(suppression))
            .map(|(suppression, _)| {
                let finding = Finding::new(
                    &UNUSED_SUPPRESSION,
                    format!("the suppression of `{}` hides nothing", suppression.word),
                );
                finding
                    .at(&suppression.source, suppression.span)
                    .help("remove it")
            })
            .collect();
        found.retain(|finding| self.common.contains(finding.rule.code));
        found.dedup_by(|a, b| a.location == b.location);
        if self.strict {
            found.iter_mut().for_each(|finding| finding.level = Level::Error);
        }
        found
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
        let on = finding
            .task
            .as_ref()
            .and_then(|task| self.by_task.get(task))
            .unwrap_or(&self.common);
        if !on.contains(code) {
            return false;
        }
        let mut by = None;
        for (suppression, used) in &mut self.suppressions {
            if suppression.matches(finding) {
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
    fn matches(&self, finding: &Finding) -> bool {
        let path_fits = || match (&self.path, &finding.location) {
            (None, _) => true,
            (Some(path), Some(location)) => location.path().ends_with(path),
            (Some(_), None) => false,
        };
        self.codes.contains(finding.rule.code)
            && self
                .task
                .as_ref()
                .is_none_or(|task| finding.task.as_ref() == Some(task))
            && path_fits()
    }
}
