//! Whether the host's root can stand for a task's image, and what a Dockerfile settles.

use oracle::WorkdirSource;
use sandbox::Network;
use task_model::Contract;

use crate::fake::Fake;
use crate::masks::masked_before_start;
use crate::tasks::{options, run, spanned, task, tree};

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
    let fake = Fake::new();
    let outcome = run(&task, &fake, &options(Contract::Gym));
    assert_eq!(
        outcome.workdir.as_deref().map(|path| path.as_str()),
        Some("/srv/x")
    );
    assert_eq!(outcome.workdir_source, Some(WorkdirSource::Dockerfile));
    assert!(
        fake.trace()
            .iter()
            .all(|line| !line.starts_with("upload Work /srv/x"))
    );
    let solve = fake.ran("/solution/solve.sh").remove(0);
    assert!(solve.env.contains(&("A".to_owned(), "1".to_owned())));
    let spec = fake.specs.lock().unwrap().remove(0);
    assert!(spec.folders.contains(&("/srv/x".into(), 0o777)));
}
