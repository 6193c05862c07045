//! What a sandbox is made from: the agent's, and one that a verifier has to itself.

use camino::{Utf8Path, Utf8PathBuf};
use sandbox::{Network, RootFs, Spec};
use task_model::Task;
use task_model::config::Environment;

use super::image::{self, Image};
use super::{AGENT_LOGS, ARTIFACTS, BaseEnv, NotRun, RoomPlan, VERIFIER_LOGS, compose, limits};
use crate::api::TrialOptions;
use crate::env::Filler;
use crate::files;

/// Where the image of a sandbox comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Home {
    /// The task's: `[environment].docker_image`, or what environment/ makes.
    Task,
    /// The task's, with the services of its Compose file when it has one.
    Project,
    /// The `docker_image` of a verifier's own table.
    Named,
    /// Built from the Dockerfile of this folder.
    Build(Utf8PathBuf),
}

/// Plans a sandbox with the settings of `environment`.
///
/// # Errors
/// A mask when there is no image, or none that the host's root can stand for.
pub(super) fn room(
    task: &Task,
    options: &TrialOptions,
    home: &Home,
    environment: &Environment,
    network: Network,
    filler: &mut Filler<'_>,
) -> Result<RoomPlan, NotRun> {
    let image = match home {
        Home::Task | Home::Project => image::read(&task.tree, environment)?,
        Home::Named => Image::default(),
        Home::Build(folder) => image::build(&task.tree, folder)?,
    };
    let (workdir, workdir_source) = image::workdir(environment, &image)?;
    let mut base = BaseEnv {
        path_prefix: options.path_prefix.clone(),
        image: image.env,
        task: filler.fill(&environment.env),
    };
    let project = match home {
        Home::Project => compose::plan(task, environment, &base.task, options, filler)?,
        Home::Task | Home::Named | Home::Build(_) => None,
    };
    if let Some(project) = &project {
        base.image.extend(compose::variables(project));
    }
    Ok(RoomPlan {
        spec: spec(options, environment, network, &workdir),
        compose: project,
        workdir_source,
        user: image.user,
        base,
        environment: if image.files_to_workdir {
            files::uploads(&task.tree, "environment", &|_| false)
        } else {
            Vec::new()
        },
        health: environment.healthcheck.as_ref().map(limits::health),
        workdir,
    })
}

fn spec(options: &TrialOptions, environment: &Environment, network: Network, workdir: &Utf8Path) -> Spec {
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
        network,
        limits: limits::resources(environment),
        folders,
        compose: None,
    }
}
