//! The attempts of a task added up.

use findings::{Finding, RuleMeta};
use sandbox::{Ended, Exit};
use task_model::{Reference, Task};

use super::Verdict;
use super::tally::Tally;
use crate::api::{Attempt, AttemptKind, Script, Status, TaskOutcome, TrialOptions};
use crate::evidence;
use crate::plan::{NotRun, TrialPlan};
use crate::results::TaskLogs;
use crate::rules;
use crate::trial::{Fault, Record, TurnRecord};

impl TaskOutcome {
    /// Returns an outcome with nothing but an ending.
    pub(crate) fn ended(status: Status, kind: Option<&str>, reason: Option<String>) -> Self {
        Self {
            status,
            reward: None,
            rewards: None,
            reward_components: None,
            failure_kind: kind.map(str::to_owned),
            reason,
            tail: None,
            verifier_files: Vec::new(),
            workdir: None,
            workdir_source: None,
            attempts: Vec::new(),
            findings: Vec::new(),
        }
    }

    pub(crate) fn interrupted() -> Self {
        Self::ended(
            Status::NotRun,
            Some("interrupted"),
            Some("the run was interrupted".to_owned()),
        )
    }

    pub(crate) fn not_run(why: NotRun) -> Self {
        Self::ended(why.status, why.kind, Some(why.reason))
    }
}

/// Adds up the attempts of one task.
pub(crate) struct Sum<'a> {
    pub(super) task: &'a Task,
    pub(super) options: &'a TrialOptions,
    pub(super) outcome: TaskOutcome,
    tally: Tally,
}

impl<'a> Sum<'a> {
    /// Starts with the ending of a task whose solution did not run.
    pub(crate) fn new(task: &'a Task, options: &'a TrialOptions, has_solution: bool) -> Self {
        let outcome = if has_solution {
            TaskOutcome::interrupted()
        } else {
            unvalidated(task)
        };
        Self {
            task,
            options,
            outcome,
            tally: Tally::default(),
        }
    }

    /// Adds an attempt and says whether another one makes sense.
    pub(crate) fn add(
        &mut self,
        plan: &TrialPlan,
        repeat: u32,
        record: &Record,
        logs: Option<&TaskLogs>,
    ) -> bool {
        self.outcome.workdir = Some(plan.room.workdir.clone());
        self.outcome.workdir_source = Some(plan.room.workdir_source);
        let (Some(turn), Some(left)) = (plan.turns.first(), record.turns.first()) else {
            return false;
        };
        let verdict = self.judge(plan, turn, left);
        self.attempt(plan, repeat, left, &verdict, logs);
        self.warn_of_leftover(record.leftover.as_ref());
        self.warn(plan, turn, left, &verdict);
        let go_on = matches!(verdict.status, Some(Status::Passed | Status::Failed));
        match record.kind {
            AttemptKind::Oracle => self.settle(plan, repeat, left, verdict),
            AttemptKind::Nop => self.settle_nop(plan, left, verdict),
        }
        go_on
    }

    /// Returns the sum.
    pub(crate) fn finish(self) -> TaskOutcome {
        self.outcome
    }

    /// Adds a warning of the tool itself.
    pub(crate) fn find(&mut self, rule: &'static RuleMeta, message: String) {
        self.push(Finding::new(rule, message));
    }

    /// Adds a finding of this task; what repeated attempts say again is said once.
    pub(super) fn push(&mut self, finding: Finding) {
        let finding = finding.in_task(&self.task.id).at_path(&self.task.folder);
        if !self.outcome.findings.contains(&finding) {
            self.outcome.findings.push(finding);
        }
    }

    fn attempt(
        &mut self,
        plan: &TrialPlan,
        repeat: u32,
        record: &TurnRecord,
        verdict: &Verdict,
        logs: Option<&TaskLogs>,
    ) {
        let written = logs.filter(|_| !record.logs.is_empty()).map(|logs| {
            let files: Vec<(&'static str, Vec<u8>)> = record
                .logs
                .iter()
                .map(|(name, bytes)| (*name, plan.redactor.bytes(bytes)))
                .collect();
            logs.write(plan.kind, repeat, &files)
        });
        let folder = match written {
            None => None,
            Some(Ok(folder)) => Some(folder),
            Some(Err(error)) => {
                self.find(&rules::LOGS_NOT_WRITTEN, error.to_string());
                None
            }
        };
        self.outcome.attempts.push(Attempt {
            kind: plan.kind,
            repeat,
            reward: verdict.reward,
            failure_kind: verdict.kind.clone(),
            solve: record.solve.as_ref().map(script),
            verify: record.verify.as_ref().map(script),
            logs: folder,
        });
    }

    /// Of repeated attempts the lowest speaks for the task; when they differ, it is flaky. A fault leaves the task
    /// without a verdict unless the attempts before it differed already.
    fn settle(&mut self, plan: &TrialPlan, repeat: u32, record: &TurnRecord, mut verdict: Verdict) {
        if !matches!(verdict.status, Some(Status::Passed | Status::Failed)) {
            if self.options.repeat > 1 {
                let which = format!("in attempt {repeat} of {}: ", self.options.repeat);
                verdict.reason = verdict.reason.map(|reason| which + &reason);
            }
            if self.tally.differs() && verdict.status == Some(Status::Masked) {
                let so_far = self.outcome.reason.take().unwrap_or_default();
                self.outcome.reason = Some(format!("{so_far}; {}", verdict.reason.unwrap_or_default()));
                return;
            }
            self.take(plan, record, verdict);
            return;
        }
        if self.tally.add(&verdict) {
            self.take(plan, record, verdict);
        }
        if self.tally.differs() {
            self.outcome.status = Status::Flaky;
            self.outcome.failure_kind = None;
            self.outcome.reason = Some(self.tally.sentence());
        }
    }

    /// Makes an attempt's verdict the task's.
    fn take(&mut self, plan: &TrialPlan, record: &TurnRecord, verdict: Verdict) {
        let failed = verdict.status != Some(Status::Passed);
        self.outcome.status = verdict.status.unwrap_or(Status::NotRun);
        self.outcome.reward = verdict.reward;
        self.outcome.failure_kind = verdict.kind;
        self.outcome.reason = verdict.reason;
        self.outcome.rewards = None;
        self.outcome.reward_components = None;
        if let Ok(scored) = &record.result {
            let shown = |key: &str| plan.redactor.text(key);
            let reward = &scored.reward;
            self.outcome.rewards = reward
                .rewards
                .as_ref()
                .map(|keys| keys.iter().map(|key| (shown(&key.key), key.value)).collect());
            self.outcome.reward_components = reward
                .components
                .as_ref()
                .map(|keys| keys.iter().map(|key| shown(key)).collect());
        }
        if failed {
            self.explain(plan, record);
        }
    }

    /// The no-op can only make things worse: at the threshold the task proves nothing, and a fault leaves it open.
    fn settle_nop(&mut self, plan: &TrialPlan, record: &TurnRecord, verdict: Verdict) {
        match verdict.status {
            Some(Status::Passed) if self.outcome.failure_kind.is_none() => {
                self.outcome.status = Status::Failed;
                self.outcome.failure_kind = Some("nop_passed".to_owned());
                self.outcome.reason = Some(format!(
                    "the verifier gives {} to the untouched state, at or above {}; it does not check the work",
                    verdict.reward.unwrap_or_default(),
                    self.options.min_reward
                ));
                self.explain(plan, record);
            }
            Some(Status::Masked | Status::NotRun)
                if matches!(self.outcome.status, Status::Passed | Status::Unvalidated) =>
            {
                self.outcome.status = verdict.status.unwrap_or(Status::Masked);
                self.outcome.reward = None;
                self.outcome.rewards = None;
                self.outcome.reward_components = None;
                self.outcome.failure_kind = verdict.kind;
                self.outcome.reason = verdict
                    .reason
                    .map(|reason| format!("in the no-op attempt: {reason}"));
                self.explain(plan, record);
            }
            _ => {}
        }
    }

    /// Shows the log that explains a failure, and what lay in /logs/verifier.
    fn explain(&mut self, plan: &TrialPlan, record: &TurnRecord) {
        self.outcome.verifier_files = record
            .verifier_files
            .iter()
            .map(|name| plan.redactor.text(&findings::sanitize::line(name)))
            .collect();
        let (name, bytes) = match (&record.result, &record.solve, &record.verify) {
            (
                Err(Fault::Masked {
                    tail: Some((name, bytes)),
                    ..
                }),
                _,
                _,
            ) => (*name, bytes),
            // A solution that failed explains a low reward better than the verifier does.
            (Ok(scored), Some(solve), _)
                if solve.ended != Ended::Code(0)
                    && scored.reward.failure.is_none()
                    && !solve.tail.is_empty() =>
            {
                ("solve.txt", &solve.tail)
            }
            (_, _, Some(verify)) => ("test-stdout.txt", &verify.tail),
            (_, Some(solve), None) => ("solve.txt", &solve.tail),
            (_, None, None) => return,
        };
        let lines = evidence::tail(bytes, &plan.redactor);
        if !lines.is_empty() {
            self.outcome.tail = Some((name.to_owned(), lines));
        }
    }
}

fn script(exit: &Exit) -> Script {
    Script {
        exit: match exit.ended {
            Ended::Code(code) => Some(code),
            Ended::Signal(_) | Ended::TimedOut => None,
        },
        seconds: exit.seconds,
    }
}

fn unvalidated(task: &Task) -> TaskOutcome {
    let reason = match task.reference {
        // Only another contract than Gym's comes here with one.
        Reference::AnswerMd => {
            "`solution/answer.md` is a reference solution to Gym alone; add `solution/solve.sh`"
        }
        Reference::SolveSh | Reference::None => {
            "the task has no reference solution, so nothing proves that it can be solved"
        }
    };
    TaskOutcome::ended(Status::Unvalidated, None, Some(reason.to_owned()))
}
