//! Attempts of probes, which never change how the task ended.

use super::{Sum, Verdict};
use crate::api::{AttemptKind, Status, TaskOutcome};
use crate::plan::TrialPlan;
use crate::results::TaskLogs;
use crate::trial::Record;

impl Sum<'_> {
    /// Adds an attempt of a probe and returns what it means. An interrupted one leaves the task unfinished.
    pub(crate) fn add_probe(
        &mut self,
        plan: &TrialPlan,
        number: u32,
        record: &Record,
        logs: Option<&TaskLogs>,
    ) -> Verdict {
        let turns = plan.turns.iter().zip(&record.turns);
        let verdicts: Vec<Verdict> = turns.map(|(turn, left)| self.judge(plan, turn, left)).collect();
        let total = self.roll_up(plan, record, &verdicts);
        self.attempt(plan, number, record, &verdicts, &total, logs);
        self.warn_of_leftover(record.leftover.as_ref());
        if total.verdict.status == Some(Status::NotRun) {
            let interrupted = TaskOutcome::interrupted();
            self.outcome = TaskOutcome {
                attempts: std::mem::take(&mut self.outcome.attempts),
                steps: std::mem::take(&mut self.outcome.steps),
                workdir: self.outcome.workdir.take(),
                workdir_source: self.outcome.workdir_source,
                ..interrupted
            };
        }
        total.verdict
    }

    /// Returns the no-op's reward.
    pub(crate) fn untouched(&self) -> Option<f64> {
        let nop = self.outcome.attempts.iter().find(|a| a.kind == AttemptKind::Nop);
        nop.and_then(|attempt| attempt.reward)
    }
}
