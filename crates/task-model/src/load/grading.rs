//! Which verifier grades a task: test.sh always wins, then tests/verifier.py, then the dataset's module for a task without
//! a tests folder.

use camino::{Utf8Path, Utf8PathBuf};

use super::assess::{Assessment, View, not_a_file};
use super::{MAX_TEXT, read_finding, rules};
use crate::config::{Environment, Step};
use crate::{Grader, PythonVerifier, VerifierHome, text};

pub(super) fn check(view: &View<'_>, out: &mut Assessment) {
    let script = if view.windows() { "test.bat" } else { "test.sh" };
    match (view.multi_step(), view.config) {
        (Some(true), Some(config)) => {
            out.grader = Grader::TestSh;
            for step in &config.steps {
                step_tests(view, out, step, script);
            }
        }
        (Some(true), None) => out.grader = Grader::None,
        _ => single(view, out, script),
    }
}

fn single(view: &View<'_>, out: &mut Assessment, script: &str) {
    let test = Utf8PathBuf::from("tests").join(script);
    if view.has(&test) {
        out.grader = Grader::TestSh;
        if !view.tree.is_file(&test) {
            out.say(not_a_file(view, &test));
        }
    } else if view.has("tests/verifier.py") {
        python(view, out);
    } else if view.tree.get("tests").is_some() {
        out.grader = Grader::Image;
        let told = out.told(&view.show("tests"));
        if !told
            && !view.config.is_some_and(|c| {
                brings_tests(view, c.verifies_separately(), c.verifier.environment.as_deref())
            })
        {
            let message = format!("`tests` has neither {script} nor verifier.py, so nothing grades the task");
            let mut finding = view.finding(&rules::NO_GRADER, "tests", message);
            finding = if view.shared.verifier.is_some() {
                finding.help(
                    "the dataset's verifier.py grades only tasks without a tests folder; remove the folder",
                )
            } else {
                finding.help("write `tests/test.sh`, which writes a reward to `/logs/verifier/reward.txt`")
            };
            out.say(finding);
        }
    } else if let Some(verifier) = view.shared.shared_verifier() {
        out.grader = Grader::Python(verifier);
    } else {
        let message = if view.shared.verifier_broken {
            "the task has no tests folder, and the dataset's verifier.py cannot be used".to_owned()
        } else {
            "the task has no tests folder, and its dataset has no verifier.py".to_owned()
        };
        out.refuse(
            view.finding(&rules::NO_TESTS, "tests", message)
                .help("write `tests/test.sh`, which writes a reward to `/logs/verifier/reward.txt`"),
        );
    }
}

/// Whether a separate verifier's image holds the tests.
fn brings_tests(view: &View<'_>, separate: bool, environment: Option<&Environment>) -> bool {
    separate && (environment.and_then(Environment::image).is_some() || view.has("tests/Dockerfile"))
}

fn python(view: &View<'_>, out: &mut Assessment) {
    let path = Utf8Path::new("tests/verifier.py");
    // Where a test.sh grades, the folder may well be what that calls: published tasks are such.
    let shim = "tests/.ng";
    if view.tree.get(shim).is_some() {
        let message =
            format!("`{shim}` is where the shim of a Python verifier goes; same-named files are replaced");
        let finding = view.finding(&rules::SHIM_FOLDER, shim, message);
        out.say(finding.help("remove the folder, or rename it"));
    }
    match view.tree.read(path, MAX_TEXT) {
        Ok(bytes) => {
            let (source, bad) = text::decode(&view.show(path), &bytes);
            let source = bad.is_none().then_some(source);
            out.grader = Grader::Python(PythonVerifier {
                home: VerifierHome::Task,
                source,
                bytes,
            });
        }
        Err(fault) => out.refuse(read_finding(&view.show(path), &fault)),
    }
}

fn step_tests(view: &View<'_>, out: &mut Assessment, step: &Step, script: &str) {
    let name = &step.name.value;
    let folder = Utf8Path::new("steps").join(name).join("tests");
    let own = folder.join(script);
    let root = Utf8Path::new("tests").join(script);
    for test in [&own, &root] {
        if view.has(test) {
            if !view.tree.is_file(test) {
                out.say(not_a_file(view, test));
            }
            return;
        }
    }
    let separate = view
        .config
        .is_some_and(|config| config.step_verifies_separately(step));
    let environment = step.verifier.environment.as_deref();
    let environment = environment.or_else(|| view.config.and_then(|c| c.verifier.environment.as_deref()));
    if view.has(folder.join("Dockerfile")) || brings_tests(view, separate, environment) {
        return;
    }
    let message = format!("the step `{name}` has no {script}, in `{folder}` or in `tests`");
    let python = view.has(folder.join("verifier.py")) || view.has("tests/verifier.py");
    let help = if python {
        "a Python verifier grades single-step tasks only; write a test.sh that calls it".to_owned()
    } else {
        format!("write `{own}`, or one for all steps in `tests`")
    };
    out.refuse(view.finding(&rules::STEP_TESTS, &folder, message).help(help));
}
