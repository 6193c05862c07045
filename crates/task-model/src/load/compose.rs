//! Compose files: that they can be read, and what Gym takes of a separate verifier's
//! (NeMo Gym, data/task-folders/verifiers: "tests/docker-compose.yaml").

use std::ops::Range;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use container_files::compose::{ComposeFile, Field, parse};
use findings::{Finding, SourceFile};

use super::assess::{Assessment, View};
use super::{MAX_TEXT, read_finding, rules};
use crate::config::Environment;
use crate::text;

const NAME: &str = "docker-compose.yaml";

pub(super) fn check(view: &View<'_>, out: &mut Assessment) {
    let path = Utf8Path::new("environment").join(NAME);
    if view.has(&path)
        && let Err(fault) = read(view, &path)
        && !out.told(&view.show(&path))
    {
        // Gym refuses such a task when it prepares it, not when it loads it.
        out.say(*fault);
    }
    for (tests, prebuilt) in verifiers(view) {
        let path = tests.join(NAME);
        if !view.has(&path) {
            continue;
        }
        match read(view, &path) {
            Ok((source, file)) => {
                for (span, message) in refused(&file, prebuilt) {
                    let finding = Finding::new(&rules::VERIFIER_COMPOSE, message).at(&source, span);
                    out.refuse(finding.help(allowed(prebuilt)));
                }
            }
            Err(_) if out.told(&view.show(&path)) => out.gym_refuses = true,
            Err(fault) => out.refuse(*fault),
        }
    }
}

fn allowed(prebuilt: bool) -> &'static str {
    if prebuilt {
        "the verifier's image is not built, so `main` may set `pull_policy` only"
    } else {
        "`main` may set `image`, `build` and `pull_policy`, and no other service may be there"
    }
}

/// Returns the test folders of separate verifiers, and whether the verifier's image is one that nobody builds.
fn verifiers<'a>(view: &View<'a>) -> Vec<(Utf8PathBuf, bool)> {
    let Some(config) = view.config else {
        return Vec::new();
    };
    let image = config.environment.image().is_some();
    let prebuilt = |own: Option<&'a Environment>| own.map_or(image, |own| own.image().is_some());
    let task = config.verifier.environment.as_deref();
    let mut found = Vec::new();
    let mut task_level = config.steps.is_empty() && config.verifies_separately();
    for step in &config.steps {
        let own = &step.verifier;
        let separate = config.step_verifies_separately(step);
        if separate {
            task_level = true;
            let tests = Utf8Path::new("steps").join(&step.name.value).join("tests");
            found.push((tests, prebuilt(own.environment.as_deref().or(task))));
        }
    }
    if task_level {
        found.push(("tests".into(), prebuilt(task)));
    }
    found
}

fn read(view: &View<'_>, path: &Utf8Path) -> Result<(Arc<SourceFile>, ComposeFile), Box<Finding>> {
    let shown = view.show(path);
    let bytes = view
        .tree
        .read(path, MAX_TEXT)
        .map_err(|fault| Box::new(read_finding(&shown, &fault)))?;
    let (source, _) = text::decode(&shown, &bytes);
    match parse(&bytes) {
        Ok(file) => Ok((source, file)),
        Err(fault) => {
            let message = format!("`{path}` cannot be read: {}", fault.message);
            let finding = Finding::new(&rules::COMPOSE_SYNTAX, message).at(&source, fault.span);
            Err(Box::new(finding.help(
                "`docker compose -f FILE config` shows what Compose makes of a file",
            )))
        }
    }
}

/// Returns what Gym does not take, with its place.
fn refused(file: &ComposeFile, prebuilt: bool) -> Vec<(Range<usize>, String)> {
    let top = file
        .fields
        .iter()
        .filter(|f| !matches!(f.name.as_str(), "services" | "name" | "version") && !f.name.starts_with("x-"));
    let top = top.map(|f| {
        let message = format!("Gym takes no `{}` in a separate verifier's Compose file", f.name);
        (f.key.clone(), message)
    });
    let others = file.services.iter().filter(|s| s.name != "main").map(|s| {
        let message = format!(
            "Gym takes no service but `main` in a separate verifier's Compose file, and this is `{}`",
            s.name
        );
        (s.key.clone(), message)
    });
    let main = file.service("main").into_iter().flat_map(|s| &s.fields);
    let main = main.filter_map(|f| Some((f.key.clone(), main_field(f, prebuilt)?)));
    top.chain(others).chain(main).collect()
}

fn main_field(field: &Field, prebuilt: bool) -> Option<String> {
    match field.name.as_str() {
        "pull_policy" if prebuilt && field.value.text().is_none_or(|policy| policy == "build") => Some(
            "Gym takes no `pull_policy = build` of a separate verifier whose image is not built".to_owned(),
        ),
        "pull_policy" => None,
        "image" | "build" if !prebuilt => None,
        name => Some(format!(
            "Gym takes no `{name}` of a separate verifier's service `main`"
        )),
    }
}
