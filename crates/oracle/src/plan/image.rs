//! What the task's image would be, and whether the host's root can stand for it.

use camino::{Utf8Path, Utf8PathBuf};
use container_files::{BuildMode, Dockerfile};
use sandbox::UserName;
use task_model::TaskTree;
use task_model::config::Environment;

use super::{NotRun, compose};
use crate::api::WorkdirSource;
use crate::env::Variable;

pub(super) const DOCKERFILE: &str = "environment/Dockerfile";
/// The bound on reading a Dockerfile.
const BOUND: u64 = 16 << 20;

/// What environment/ and `docker_image` say.
#[derive(Debug, Default)]
pub(super) struct Image {
    /// The last literal `WORKDIR`.
    pub(super) workdir: Option<String>,
    /// `ENV` of the Dockerfile, when it makes the image.
    pub(super) env: Vec<Variable>,
    /// `USER` of the Dockerfile, when it makes the image.
    pub(super) user: Option<UserName>,
    /// Whether the files of environment/ go to the working directory.
    pub(super) files_to_workdir: bool,
}

/// Reads environment/.
///
/// # Errors
/// A mask when the task has no image at all or has an image that the host's root cannot stand for.
pub(super) fn read(tree: &TaskTree, environment: &Environment) -> Result<Image, NotRun> {
    if tree.exists(compose::FILE) {
        // The engine's own images: the Dockerfile says only where the work goes on.
        let dockerfile = tree.exists(DOCKERFILE).then(|| settings(tree)).flatten();
        return Ok(Image {
            workdir: dockerfile.and_then(|d| d.workdir),
            ..Image::default()
        });
    }
    let prebuilt = environment.image().is_some();
    if !tree.exists(DOCKERFILE) {
        if !prebuilt {
            return Err(NotRun::masked(
                "image_unavailable",
                "the task has no image: set `[environment].docker_image` or add environment/Dockerfile",
            ));
        }
        return Ok(Image {
            files_to_workdir: true,
            ..Image::default()
        });
    }
    let dockerfile = parse(tree, DOCKERFILE.into())?;
    // The engine's own image: a Dockerfile beside `docker_image` counts only when it adds nothing but settings.
    let counts = !prebuilt || dockerfile.mode == BuildMode::Pull;
    Ok(Image {
        workdir: dockerfile.workdir,
        env: if counts {
            variables(dockerfile.env)
        } else {
            Vec::new()
        },
        user: dockerfile.user.filter(|_| counts).as_deref().and_then(user),
        files_to_workdir: false,
    })
}

/// Reads environment/Dockerfile for its settings, whatever else is in it.
fn settings(tree: &TaskTree) -> Option<Dockerfile> {
    let bytes = tree.read(DOCKERFILE, BOUND).ok()?;
    container_files::parse(std::str::from_utf8(&bytes).ok()?).ok()
}

/// Reads the Dockerfile of a folder that makes an image by itself.
///
/// # Errors
/// A mask when the host's root cannot stand for the image.
pub(super) fn build(tree: &TaskTree, folder: &Utf8Path) -> Result<Image, NotRun> {
    let dockerfile = parse(tree, &folder.join("Dockerfile"))?;
    Ok(Image {
        workdir: dockerfile.workdir,
        env: variables(dockerfile.env),
        user: dockerfile.user.as_deref().and_then(user),
        files_to_workdir: false,
    })
}

fn parse(tree: &TaskTree, path: &Utf8Path) -> Result<Dockerfile, NotRun> {
    let needs_image = |why: String| {
        NotRun::masked(
            "image_required",
            format!(
                "{why}, so the host's root cannot stand for its image; run it on an engine that has the image"
            ),
        )
    };
    let bytes = tree
        .read(path, BOUND)
        .map_err(|fault| needs_image(format!("`{path}` {fault}")))?;
    let text = std::str::from_utf8(&bytes)
        .map_err(|fault| needs_image(format!("`{path}` is not UTF-8 at byte {}", fault.valid_up_to())))?;
    let dockerfile = container_files::parse(text)
        .map_err(|fault| needs_image(format!("`{path}` cannot be read ({fault})")))?;
    if let Some((instruction, _)) = dockerfile.changes.first() {
        return Err(needs_image(format!("`{path}` has `{instruction}`")));
    }
    Ok(dockerfile)
}

fn variables(env: Vec<(String, String)>) -> Vec<Variable> {
    env.into_iter()
        .map(|(name, value)| Variable {
            name,
            value,
            granted: false,
        })
        .collect()
}

/// Reads a Dockerfile's `USER`: digits are a uid, anything else is a name as written.
fn user(written: &str) -> Option<UserName> {
    match written.trim() {
        "" => None,
        name => Some(match name.parse() {
            Ok(uid) if name.bytes().all(|b| b.is_ascii_digit()) => UserName::Uid(uid),
            _ => UserName::Name(name.to_owned()),
        }),
    }
}

/// Returns the working directory: `[environment].workdir`, else the Dockerfile's, else `/app`.
///
/// # Errors
/// A mask for one that no engine can start in.
pub(super) fn workdir(
    environment: &Environment,
    image: &Image,
) -> Result<(Utf8PathBuf, WorkdirSource), NotRun> {
    let (written, source) = match (&environment.workdir, &image.workdir) {
        (Some(written), _) if !written.value.is_empty() => (written.value.as_str(), WorkdirSource::TaskToml),
        (_, Some(written)) => (written.as_str(), WorkdirSource::Dockerfile),
        _ => ("/app", WorkdirSource::Default),
    };
    if !written.starts_with('/') || written.contains('\0') {
        return Err(NotRun::masked(
            "resource_unsupported",
            format!(
                "the working directory `{}` is not absolute, and no engine starts a script there",
                findings::sanitize::line(written)
            ),
        ));
    }
    let mut clean = Utf8PathBuf::from("/");
    for part in written.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                clean.pop();
            }
            name => clean.push(name),
        }
    }
    Ok((clean, source))
}
