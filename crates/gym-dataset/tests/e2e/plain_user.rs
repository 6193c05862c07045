//! The same as somebody who is not root: user 65534, by setpriv.

use camino::{Utf8Path, Utf8PathBuf};
use testdata::{Need, QUICKSTART, Status, cases};

use crate::endings::{arguments, compare};
use crate::support::{Output, Tool, copy_binary, copy_tree, each, finish, has, task, temp_dir};

/// A copy of the binary and of fixtures where a plain user can read them.
struct Copy {
    folder: tempfile::TempDir,
}

impl Copy {
    fn new() -> Self {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = temp_dir();
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).expect("mode");
        let copy = Self { folder };
        copy_binary(copy.path("gym-dataset").as_ref());
        std::fs::set_permissions(copy.path("gym-dataset"), std::fs::Permissions::from_mode(0o755))
            .expect("mode");
        copy_tree(&testdata::quickstart(), &copy.path("quickstart"));
        copy_tree(&testdata::root().join("tasks"), &copy.path("tasks"));
        copy
    }

    fn path(&self, name: &str) -> Utf8PathBuf {
        Utf8Path::from_path(self.folder.path()).expect("UTF-8").join(name)
    }

    fn run(&self, arguments: &[String]) -> Output {
        let program = self.path("gym-dataset");
        let before = [
            "--reuid=65534",
            "--regid=65534",
            "--clear-groups",
            "--",
            program.as_str(),
        ];
        let mut tool = Tool::of("setpriv", &before, arguments);
        std::os::unix::fs::chown(tool.home(), Some(65534), Some(65534)).expect("handed over");
        finish(tool.spawn())
    }
}

/// Becoming somebody else takes root; whoever is not root is that plain user in every other test.
fn can_drop(test: &str) -> bool {
    has(test, &[Need::Embedded, Need::Python, Need::Root])
}

#[test]
fn quickstart_passes_as_a_plain_user() {
    if !can_drop("quickstart_passes_as_a_plain_user") {
        return;
    }
    let copy = Copy::new();
    let words = [
        "validate",
        copy.path("quickstart").as_str(),
        "--sandbox",
        "embedded",
        "--nop",
        "--format",
        "json",
    ]
    .map(str::to_owned);
    let output = copy.run(&words);
    let report = output.report();
    assert_eq!(output.code, Some(0), "{report:#}\n{}", output.stderr);
    for id in QUICKSTART {
        assert_eq!(task(&report, id)["status"], "passed", "{report:#}");
    }
}

#[test]
fn every_fixture_ends_the_same_but_for_users_that_cannot_be_had() {
    if !can_drop("every_fixture_ends_the_same_but_for_users_that_cannot_be_had") {
        return;
    }
    let copy = Copy::new();
    each(cases(), |case| {
        let mut case = *case;
        if case.needs.contains(&Need::Root) {
            (case.status, case.kind, case.reward, case.exit) =
                (Status::Masked, Some("user_unavailable"), None, 1);
        }
        let path = copy.path("tasks").join(case.task);
        compare(&case, &copy.run(&arguments(&case, path.as_str())))
    });
}

#[test]
fn a_solution_that_cannot_be_read_masks_the_task() {
    use std::os::unix::fs::PermissionsExt as _;
    if !can_drop("a_solution_that_cannot_be_read_masks_the_task") {
        return;
    }
    let copy = Copy::new();
    let task_folder = copy.path("tasks/pass-reward-txt");
    let closed = task_folder.join("solution/closed");
    std::fs::write(&closed, "x").expect("written");
    std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o600)).expect("mode");
    let words = [
        "validate",
        task_folder.as_str(),
        "--sandbox",
        "embedded",
        "--format",
        "json",
    ]
    .map(str::to_owned);
    let output = copy.run(&words);
    let report = output.report();
    let ended = task(&report, "pass-reward-txt");
    assert_eq!(ended["status"], "masked", "{ended:#}");
    assert_eq!(ended["failure_kind"], "solution_upload_failed", "{ended:#}");
    assert!(
        ended["reason"]
            .as_str()
            .is_some_and(|reason| reason.contains("closed")),
        "{ended:#}"
    );
    assert_eq!(output.code, Some(1));
}
