//! From a loaded task to a [`TrialPlan`].

use camino::{Utf8Path, Utf8PathBuf};
use sandbox::{Entry, RootFs, Spec, UserName};
use task_model::config::{Field, Os, TaskToml, UserRef};
use task_model::{Contract, Dataset, Reference, Task, digest};

use super::{
    AGENT_LOGS, ARTIFACTS, BaseEnv, Clear, HookPlan, NotRun, SOLUTION, ScriptPlan, SolutionPlan, TESTS,
    TrialPlan, Users, VERIFIER_LOGS, image, limits, network,
};
use crate::api::{AttemptKind, TrialOptions};
use crate::env::{Filler, Redactor, Variable};
use crate::{files, trajectory};

/// The bound on reading answer.md and instruction.md.
const TEXT_BOUND: u64 = 16 << 20;

/// Plans one attempt.
///
/// # Errors
/// The ending of a task that is not run, with the first reason found: refused when it does not load under the
/// contract, masked when this engine cannot run it or a variable is missing.
pub fn plan(
    task: &Task,
    dataset: &Dataset,
    options: &TrialOptions,
    kind: AttemptKind,
) -> Result<TrialPlan, NotRun> {
    let contract = options.contract;
    if let Some(reason) = &dataset.refused {
        return Err(NotRun::refused(reason.clone()));
    }
    let config = limits::toml(task, contract)
        .filter(|_| task.loads.under(contract))
        .ok_or_else(|| {
            NotRun::refused(format!(
                "it does not load under the contract `{}`",
                contract.as_str()
            ))
        })?;
    let times = limits::times(task, dataset, contract)?;
    unsupported(config)?;
    let image = image::read(&task.tree, &config.environment)?;
    network::check(config, options.network)?;
    let (workdir, workdir_source) = image::workdir(&config.environment, &image)?;
    let collect = hooks(config, contract)?;

    let oracle = kind == AttemptKind::Oracle;
    let mut filler = Filler::new(&options.grants);
    let base = BaseEnv {
        path_prefix: options.path_prefix.clone(),
        image: image.env,
        task: filler.fill(&config.environment.env),
    };
    let verify_env = filler.fill(&config.verifier.env);
    let solve_env = if oracle {
        filler.fill(&config.solution_env)
    } else {
        Vec::new()
    };
    missing(&filler)?;
    for variable in base.task.iter().chain(&verify_env).chain(&solve_env) {
        usable(variable)?;
    }

    Ok(TrialPlan {
        kind,
        contract,
        spec: spec(options, config, &workdir),
        workdir_source,
        users: users(config, contract, image.user)?,
        base,
        environment: if image.files_to_workdir {
            files::uploads(&task.tree, "environment", &|_| false)
        } else {
            Vec::new()
        },
        health: config.environment.healthcheck.as_ref().map(limits::health),
        solution: if oracle {
            solution(task, contract, solve_env, times.solve)?
        } else {
            None
        },
        collect,
        inputs: match contract {
            Contract::Gym => config.verifier.inputs.iter().map(|s| s.value.clone()).collect(),
            Contract::Harbor | Contract::Agentcompass => Vec::new(),
        },
        clear: match contract {
            Contract::Gym | Contract::Agentcompass => Clear::Folders,
            Contract::Harbor => Clear::RewardFiles,
        },
        tests: scripts(task, contract, "tests", "test.sh"),
        verify: ScriptPlan {
            argv: argv(contract, &format!("{TESTS}/test.sh")),
            env: verify_env,
            limit: times.verify,
        },
        tools: tools(task, contract, oracle),
        instruction: instruction(task),
        redactor: Redactor::new(&filler.used),
        workdir,
    })
}

/// What the task asks for and no embedded engine has.
fn unsupported(config: &TaskToml) -> Result<(), NotRun> {
    let environment = &config.environment;
    let what = if environment.os.as_ref().is_some_and(|s| s.value == Os::Windows) {
        "a Windows task"
    } else if !config.steps.is_empty() {
        "a multi-step task"
    } else if config.verifies_separately() {
        "a task with a separate verifier"
    } else if environment.gpus.as_ref().is_some_and(|n| n.value.as_f64() > 0.0) {
        "a task that needs GPUs"
    } else if environment.tpu.is_some() {
        "a task that needs a TPU"
    } else {
        return Ok(());
    };
    Err(NotRun::masked(
        "resource_unsupported",
        format!("{what} is not run by this version's embedded engine"),
    ))
}

fn missing(filler: &Filler<'_>) -> Result<(), NotRun> {
    if filler.missing.is_empty() {
        return Ok(());
    }
    let names: Vec<String> = filler
        .missing
        .iter()
        .map(|name| format!("`{}`", findings::sanitize::line(name)))
        .collect();
    let (noun, verb) = if names.len() == 1 {
        ("variable", "is")
    } else {
        ("variables", "are")
    };
    Err(NotRun::masked(
        "missing_variable",
        format!(
            "the {noun} {} {verb} needed and not granted; pass `--env NAME` or `--env-file FILE`",
            names.join(", ")
        ),
    ))
}

/// A NUL cannot be handed to a program, nor can a name that is empty or has `=`.
fn usable(variable: &Variable) -> Result<(), NotRun> {
    let bad_name = variable.name.is_empty() || variable.name.contains(['=', '\0']);
    if bad_name || variable.value.contains('\0') {
        return Err(NotRun::masked(
            "resource_unsupported",
            format!(
                "the variable `{}` cannot be given to a program: {}",
                findings::sanitize::line(&variable.name),
                if bad_name {
                    "its name is empty or has `=` or NUL"
                } else {
                    "its value has a NUL"
                }
            ),
        ));
    }
    Ok(())
}

fn hooks(config: &TaskToml, contract: Contract) -> Result<Vec<HookPlan>, NotRun> {
    let mut plans = Vec::new();
    for hook in &config.verifier.collect {
        if let Some(service) = hook.service.as_ref().filter(|s| s.value != "main") {
            return Err(NotRun::masked(
                "collect_failed",
                format!(
                    "a collect hook runs in the service `{}`, and a task without a Compose file has only `main`",
                    findings::sanitize::line(&service.value)
                ),
            ));
        }
        plans.push(HookPlan {
            command: hook.command.value.clone(),
            user: user(&hook.user, contract)?,
            limit: limits::hook(&hook.timeout_sec),
        });
    }
    Ok(plans)
}

fn spec(options: &TrialOptions, config: &TaskToml, workdir: &Utf8Path) -> Spec {
    // The log folders are made as Harbor makes them, so that every user can write there.
    let mut folders: Vec<(Utf8PathBuf, u32)> = ["/logs", AGENT_LOGS, VERIFIER_LOGS, ARTIFACTS]
        .into_iter()
        .map(|path| (Utf8PathBuf::from(path), 0o777))
        .collect();
    // An image's working directory belongs to its user; here nobody prepared it.
    if !matches!(workdir.as_str(), "/" | "/tmp") && !folders.iter().any(|(path, _)| path == workdir) {
        folders.push((workdir.to_owned(), 0o777));
    }
    Spec {
        root: RootFs::Host,
        host_paths: options.host_paths.clone(),
        network: options.network,
        limits: limits::resources(&config.environment),
        folders,
        compose: None,
    }
}

/// AgentCompass runs everything as the image's user.
fn users(config: &TaskToml, contract: Contract, image: Option<UserName>) -> Result<Users, NotRun> {
    Ok(Users {
        agent: user(&config.agent.user, contract)?.or_else(|| image.clone()),
        verifier: user(&config.verifier.user, contract)?.or_else(|| image.clone()),
        image,
    })
}

/// A string of digits is a name to Gym, and no image has such a user; Docker, which Harbor asks, takes it for a uid.
fn user(field: &Field<UserRef>, contract: Contract) -> Result<Option<UserName>, NotRun> {
    let Some(user) = field.as_ref().filter(|_| contract != Contract::Agentcompass) else {
        return Ok(None);
    };
    Ok(match &user.value {
        UserRef::Name(name) if name.is_empty() => None,
        UserRef::Name(name) if contract == Contract::Gym && name.bytes().all(|b| b.is_ascii_digit()) => {
            return Err(NotRun::masked(
                "user_unavailable",
                format!("the user `\"{name}\"` is a name to Gym, not a uid; write a uid without quotes"),
            ));
        }
        UserRef::Name(name) => Some(UserName::Name(name.clone())),
        UserRef::Uid(uid) => Some(UserName::Uid(*uid)),
    })
}

/// Gym hands the script to bash; Harbor and AgentCompass run it by its path from a shell, so the shebang counts.
fn argv(contract: Contract, script: &str) -> Vec<String> {
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

fn solution(
    task: &Task,
    contract: Contract,
    env: Vec<Variable>,
    limit: std::time::Duration,
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
fn scripts(task: &Task, contract: Contract, folder: &str, script: &str) -> Vec<Entry> {
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
fn tools(task: &Task, contract: Contract, oracle: bool) -> Vec<&'static str> {
    if contract != Contract::Gym {
        return Vec::new();
    }
    let mut tools = vec!["timeout", "tar", "gzip", "find"];
    if oracle && reference(task, contract) == Reference::AnswerMd {
        tools.push("base64");
    }
    tools
}

fn instruction(task: &Task) -> String {
    match task.tree.read("instruction.md", TEXT_BOUND) {
        Ok(bytes) => trajectory::without_canary(&String::from_utf8_lossy(&bytes)).to_owned(),
        Err(_) => String::new(),
    }
}
