//! task.toml: values that load and are not meant.

pub(crate) mod literal_secret;
pub(crate) mod odd_timeout;
pub(crate) mod undocumented_variable;
pub(crate) mod unfilled_variable;

use task_model::config::{EnvVar, TaskToml};

/// Returns the variables of every `env` table.
fn variables(config: &TaskToml) -> impl Iterator<Item = &EnvVar> {
    let mut tables: Vec<&[EnvVar]> = vec![
        &config.environment.env,
        &config.verifier.env,
        &config.solution_env,
    ];
    tables.extend(config.verifier.environment.as_ref().map(|own| own.env.as_slice()));
    for step in &config.steps {
        tables.push(&step.verifier.env);
        tables.extend(step.verifier.environment.as_ref().map(|own| own.env.as_slice()));
    }
    tables.into_iter().flatten()
}
