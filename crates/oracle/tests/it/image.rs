//! Whether the host's root can stand for a task's image, and what a Dockerfile settles.

use oracle::{AttemptKind, WorkdirSource, plan};
use sandbox::Network;
use task_model::Contract;

use crate::masks::masked_before_start;
use crate::tasks::{dataset, options, spanned, task, tree};

#[test]
fn images_that_the_hosts_root_cannot_stand_for_are_masked() {
    let mut none = task(|t| t.environment.docker_image = Some(spanned(String::new())));
    masked_before_start(&none, Network::None, "image_unavailable", &["docker_image"]);
    for (instruction, line) in [("COPY", "COPY a /a"), ("ADD", "ADD a /a"), ("RUN", "RUN true")] {
        let dockerfile = format!("FROM debian:12\n{line}\n");
        none.tree = tree(&[("environment/Dockerfile", &dockerfile), ("solution/solve.sh", "")]);
        masked_before_start(
            &none,
            Network::None,
            "image_required",
            &[&format!("`{instruction}`")],
        );
    }
}

#[test]
fn files_of_environment_stay_where_a_dockerfile_decides() {
    let mut task = task(|_| ());
    task.tree = tree(&[
        (
            "environment/Dockerfile",
            "FROM debian:12\nWORKDIR /srv/x\nENV A=1\n",
        ),
        ("environment/a.txt", "a"),
        ("tests/test.sh", ""),
        ("solution/solve.sh", ""),
    ]);
    let plan = plan::plan(&task, &dataset(), &options(Contract::Gym), AttemptKind::Oracle).unwrap();
    assert_eq!(plan.room.environment, []);
    assert_eq!(plan.room.workdir, "/srv/x");
    assert_eq!(plan.room.workdir_source, WorkdirSource::Dockerfile);
    assert_eq!(plan.room.base.image.len(), 1);
    assert!(
        plan.room
            .spec
            .folders
            .iter()
            .any(|(path, mode)| path == "/srv/x" && *mode == 0o777)
    );
}
