//! From what the attempts left to how the task ended.

mod judge;
mod sum;
mod tally;
mod warn;

use crate::api::Status;

pub(crate) use sum::Sum;

/// What one attempt means by itself.
#[derive(Debug, Default)]
pub(crate) struct Verdict {
    status: Option<Status>,
    reward: Option<f64>,
    kind: Option<String>,
    reason: Option<String>,
}
