//! Files as a whole: what is said twice, leaks, or is used by nobody.

mod answers;
mod taken;

pub(crate) mod answer_in_environment;
pub(crate) mod answer_inside_file;
pub(crate) mod grader_in_environment;
pub(crate) mod misplaced_file;
pub(crate) mod missing_script_file;
pub(crate) mod odd_reward_keys;
pub(crate) mod unstated_path;
pub(crate) mod unused_file;
