//! Scripts: test.sh, solve.sh and what they call.

pub(crate) mod byte_order_mark;
pub(crate) mod carriage_return;
pub(crate) mod constant_reward;
pub(crate) mod errexit_before_reward;
pub(crate) mod host_cpu_count;
pub(crate) mod install_while_grading;
pub(crate) mod not_executable;
pub(crate) mod private_umask;
pub(crate) mod relative_reward_path;
pub(crate) mod relative_script_file;
pub(crate) mod shebang;
pub(crate) mod shell_startup_file;

pub(crate) mod brought;
pub(crate) mod called;
pub(crate) mod errexit;
pub(crate) mod flow;
pub(crate) mod paths;
pub(crate) mod programs;
pub(crate) mod system_packages;

use crate::shell::Word;

/// Says whether a word names one of the two reward files.
pub(crate) fn is_reward_file(word: &Word) -> bool {
    let text = word.literal.as_deref().unwrap_or_default();
    text.ends_with("/reward.txt") || text.ends_with("/reward.json")
}
