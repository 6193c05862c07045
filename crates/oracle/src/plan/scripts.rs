//! The scripts of a task: what is uploaded, and how each contract starts it.

use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use sandbox::Entry;
use task_model::{Contract, Reference, Task, digest};

use super::{AGENT_LOGS, NotRun, SOLUTION, ScriptPlan, SolutionPlan};
use crate::env::Variable;
use crate::{files, trajectory};

/// The bound on reading answer.md and instruction.md.
const TEXT_BOUND: u64 = 16 << 20;

/// Gym hands the script to bash; Harbor and AgentCompass run it by its path from a shell, so the shebang counts.
pub(super) fn argv(contract: Contract, script: &str) -> Vec<String> {
    match contract {
        Contract::Gym => vec!["bash".to_owned(), script.to_owned()],
        Contract::Harbor | Contract::Agentcompass => {
            vec!["bash".to_owned(), "-c".to_owned(), format!("({script})")]
        }
    }
}

/// Returns the reference that counts: answer.md is Gym's alone.
pub(crate) fn reference(task: &Task, contract: Contract) -> Reference {
    match (task.reference, contract) {
        (Reference::AnswerMd, Contract::Harbor | Contract::Agentcompass) => Reference::None,
        (reference, _) => reference,
    }
}

pub(super) fn solution(
    task: &Task,
    contract: Contract,
    env: Vec<Variable>,
    limit: Duration,
) -> Result<Option<SolutionPlan>, NotRun> {
    Ok(match reference(task, contract) {
        Reference::None => None,
        Reference::AnswerMd => {
            let bytes = task
                .tree
                .read("solution/answer.md", TEXT_BOUND)
                .map_err(|fault| {
                    NotRun::masked("solution_upload_failed", format!("`solution/answer.md` {fault}"))
                })?;
            Some(SolutionPlan::Answer(bytes))
        }
        Reference::SolveSh => {
            let mut own = Vec::new();
            let mut output = None;
            if contract != Contract::Gym {
                own.push(Variable {
                    name: "DEBIAN_FRONTEND".to_owned(),
                    value: "noninteractive".to_owned(),
                    granted: false,
                });
                output = Some(Utf8PathBuf::from(format!("{AGENT_LOGS}/oracle.txt")));
            }
            own.extend(env);
            Some(SolutionPlan::Script {
                files: scripts(task, contract, "solution", "solve.sh"),
                script: ScriptPlan {
                    argv: argv(contract, &format!("{SOLUTION}/solve.sh")),
                    env: own,
                    limit,
                },
                output,
            })
        }
    })
}

/// Returns a folder of scripts as the runner uploads it, its entry script executable. Harbor (and AgentCompass, which
/// uses its verifier) leaves behind what a .harborignore names.
pub(super) fn scripts(task: &Task, contract: Contract, folder: &str, script: &str) -> Vec<Entry> {
    let tree = &task.tree;
    let rules = contract != Contract::Gym
        && tree
            .under(folder)
            .iter()
            .any(|node| node.path.file_name() == Some(".harborignore"));
    let skip = |path: &Utf8Path| rules && digest::is_ignored(tree, path).unwrap_or(false);
    let mut entries = files::uploads(tree, folder, &skip);
    files::make_executable(tree, folder, script, &mut entries);
    entries
}

/// Programs that the runner itself uses in the image.
pub(super) fn tools(task: &Task, contract: Contract, oracle: bool) -> Vec<&'static str> {
    if contract != Contract::Gym {
        return Vec::new();
    }
    let mut tools = vec!["timeout", "tar", "gzip", "find"];
    if oracle && reference(task, contract) == Reference::AnswerMd {
        tools.push("base64");
    }
    tools
}

pub(super) fn instruction(task: &Task) -> String {
    match task.tree.read("instruction.md", TEXT_BOUND) {
        Ok(bytes) => trajectory::without_canary(&String::from_utf8_lossy(&bytes)).to_owned(),
        Err(_) => String::new(),
    }
}
