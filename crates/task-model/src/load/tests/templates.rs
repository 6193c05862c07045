//! Template folders: rows become tasks; rendering to disk.

use super::support::{Disk, TEST, TOML, codes, ids, loads, message, place, task};
use crate::template::{RenderError, render};
use crate::{Contract, Grader, Origin, Reference};

fn template(disk: &Disk, folder: &str) {
    let at = |name: &str| {
        if folder.is_empty() {
            name.to_owned()
        } else {
            format!("{folder}/{name}")
        }
    };
    disk.write(&at("task.toml"), TOML)
        .write(&at("instruction.template.md"), "What is {{ question }}?\n")
        .write(&at("tests/verifier.py"), "def verify(task_data): return 1.0\n")
        .write(&at("solution/answer.template.md"), "{{ task_data.answer }}")
        .write(&at("environment/.env"), "A=1\n")
        .write(&at("tests/__pycache__/x.pyc"), "x")
        .write(&at("README.md"), "about the template\n")
        .write(&at(".venv/x"), "")
        .write(&at("tasks.jsonl"), "{\"task_id\": \"sum\", \"question\": \"1 + 1\", \"answer\": 2.50}\n{\"task_id\": \"word\", \"task_data\": {\"question\": \"é\", \"answer\": \"x\"}}\n");
}

#[test]
fn rows_become_full_tasks() {
    let disk = Disk::new();
    template(&disk, "tpl");
    disk.write("dataset.toml", "[dataset]\nname = \"acme/d\"\n");
    let dataset = disk.load("");
    assert_eq!(codes(&dataset), Vec::<&str>::new());
    assert_eq!(ids(&dataset), ["sum", "word"]);
    assert_eq!(
        (dataset.contract, dataset.coverage.seen, dataset.coverage.loadable),
        (Contract::Gym, 2, 2)
    );
    let sum = task(&dataset, "sum");
    let names: Vec<&str> = sum.tree.nodes().iter().map(|n| n.path.as_str()).collect();
    assert_eq!(
        names,
        [
            "environment",
            "environment/.env",
            "instruction.md",
            "solution",
            "solution/answer.md",
            "task.toml",
            "task_data.json",
            "tests",
            "tests/verifier.py"
        ]
    );
    let read = |path: &str| String::from_utf8(sum.tree.read(path, 1000).unwrap().to_vec()).unwrap();
    assert_eq!(read("instruction.md"), "What is 1 + 1?\n");
    assert_eq!(read("solution/answer.md"), "2.50");
    assert_eq!(
        read("task_data.json"),
        "{\n  \"question\": \"1 + 1\",\n  \"answer\": 2.50\n}\n"
    );
    assert_eq!(
        read("task.toml"),
        format!("[task]\nname = \"acme/sum\"\n\n{TOML}")
    );
    assert_eq!(sum.origin, Origin::Row { line: 1 });
    assert_eq!(sum.reference, Reference::AnswerMd);
    assert!(matches!(sum.grader, Grader::Python(_)));
    assert_eq!(sum.loads, loads(true, false, false));
    assert!(sum.digest.is_some() && dataset.digest.is_some());
}

#[test]
fn the_same_digest_as_the_rendered_folder() {
    let disk = Disk::new();
    template(&disk, "tpl");
    let rows = disk.load("tpl");
    render(&rows, &disk.at("out")).unwrap();
    let folders = disk.load("out");
    for id in ["sum", "word"] {
        assert_eq!(task(&rows, id).digest, task(&folders, id).digest, "{id}");
        assert_eq!(task(&rows, id).task_data, task(&folders, id).task_data, "{id}");
    }
}

#[test]
fn the_dataset_root_may_be_the_template() {
    let disk = Disk::new();
    template(&disk, "");
    disk.write(
        "dataset.toml",
        "[dataset]\nname = \"acme/d\"\n[gym.tasks.sum.environment]\ncpus = 2\n",
    )
    .write("task_data.py", "x\n")
    .write("verifier.py", "y\n");
    let dataset = disk.load("");
    assert_eq!(codes(&dataset), Vec::<&str>::new());
    assert_eq!(ids(&dataset), ["sum", "word"]);
    assert!(dataset.has_task_data_py);
    let sum = task(&dataset, "sum");
    assert!(sum.tree.get("verifier.py").is_none() && sum.tree.get("dataset.toml").is_none());
    let effective = sum.effective.as_ref().unwrap();
    assert_eq!(
        effective.environment.cpus.as_ref().map(|c| c.value.as_f64()),
        Some(2.0)
    );
    render(&dataset, &disk.path().with_file_name("x")).err();
}

#[test]
fn a_template_below_its_dataset_stands_for_itself() {
    let disk = Disk::new();
    disk.task("other");
    template(&disk, "tpl");
    let toml = |id: &str| format!("[dataset]\nname = \"acme/d\"\n[gym.tasks.{id}.environment]\ncpus = 2\n");
    disk.write("dataset.toml", toml("other"));
    let dataset = disk.load("tpl");
    assert_eq!(codes(&dataset), Vec::<&str>::new());
    assert_eq!(dataset.refused, None);
    let done = render(&dataset, &disk.at("out")).unwrap();
    assert_eq!(done.tasks, ["sum", "word"]);
    // The settings go along as they are, and what of them is for another task is told.
    assert_eq!(done.foreign, ["other"]);
    disk.write("dataset.toml", toml("sum"));
    let done = render(&disk.load("tpl"), &disk.at("out1")).unwrap();
    assert_eq!(done.foreign, Vec::<String>::new());
    disk.write("tpl/dataset.toml", toml("other"));
    let dataset = disk.load("tpl");
    assert_eq!(codes(&dataset), ["GD614"]);
    let refused = render(&dataset, &disk.at("out2")).unwrap_err();
    assert!(matches!(refused, RenderError::Refused(_)), "{refused}");
}

#[test]
fn faults_of_placeholders_name_file_line_field_and_fields() {
    let disk = Disk::new();
    template(&disk, "tpl");
    disk.write("tpl/instruction.template.md", "a\nb {{ qestion }}\n");
    let dataset = disk.load("tpl");
    assert_eq!(codes(&dataset), ["GD221"]);
    assert_eq!(
        message(&dataset, "GD221"),
        "`{{ qestion }}` names a field that no row of `tasks.jsonl` has"
    );
    assert_eq!(
        place(&disk, &dataset, "GD221"),
        ("tpl/instruction.template.md".to_owned(), 2)
    );
    assert_eq!(dataset.coverage.loadable, 0);
    disk.write("tpl/instruction.template.md", "{{ extra }}\n").write("tpl/tasks.jsonl", "{\"task_id\": \"a\", \"answer\": \"1\", \"extra\": true}\n{\"task_id\": \"b\", \"answer\": \"1\", \"extra\": \"x\"}\n{\"task_id\": \"c\", \"answer\": \"1\"}\n");
    let dataset = disk.load("tpl");
    assert_eq!(codes(&dataset), ["GD221", "GD222"]);
    assert!(message(&dataset, "GD222").contains("a boolean in line 1"));
    assert!(message(&dataset, "GD221").contains("line 3"));
    let usable: Vec<bool> = dataset.tasks.iter().map(|t| t.loads.gym).collect();
    assert_eq!(usable, [false, true, false]);
}

#[test]
fn a_name_that_stands_often_in_a_file_is_told_once() {
    let disk = Disk::new();
    template(&disk, "tpl");
    disk.write(
        "tpl/instruction.template.md",
        "{{ qestion }} {{ qestion }} {{ other }}\n",
    );
    assert_eq!(codes(&disk.load("tpl")), ["GD221", "GD221"]);
    disk.write("tpl/tasks.jsonl", "{\"task_id\": \"a\", \"task_data\": 3}\n");
    assert_eq!(codes(&disk.load("tpl")), ["GD212"]);
}

#[test]
fn one_large_value_that_stands_often_is_refused_and_not_held() {
    let disk = Disk::new();
    template(&disk, "tpl");
    let row = format!(
        "{{\"task_id\": \"a\", \"answer\": \"1\", \"question\": \"{}\"}}\n",
        "x".repeat(1_000_000)
    );
    disk.write("tpl/tasks.jsonl", row)
        .write("tpl/instruction.template.md", "{{ question }}".repeat(100_000));
    let dataset = disk.load("tpl");
    assert_eq!(codes(&dataset), ["GD224"]);
    assert!(!task(&dataset, "a").loads.gym);
}

#[test]
fn a_template_without_a_task_beside_a_picked_task_is_a_note() {
    let disk = Disk::new();
    template(&disk, "tpl");
    disk.task("good").write("tpl/tasks.jsonl", "\n");
    assert_eq!(codes(&disk.load("")), ["GD215"]);
    assert_eq!(codes(&disk.pick(&["good"], &[]).unwrap()), Vec::<&str>::new());
}

#[test]
fn a_rendered_name_that_exists_is_refused_naming_both() {
    let disk = Disk::new();
    template(&disk, "tpl");
    disk.write("tpl/instruction.md", "x\n")
        .write("tpl/README.template.md", "{{ question }}\n");
    let dataset = disk.load("tpl");
    assert_eq!(codes(&dataset), ["GD223"]);
    assert_eq!(
        message(&dataset, "GD223"),
        "`instruction.template.md` would be rendered to `instruction.md`, which exists"
    );
    disk.remove("tpl/instruction.md")
        .write("tpl/task_data.json", "{}");
    assert_eq!(codes(&disk.load("tpl")), ["GD223"]);
}

#[test]
fn two_rows_of_one_id_name_their_lines() {
    let disk = Disk::new();
    template(&disk, "tpl");
    disk.write("tpl/tasks.jsonl", "{\"task_id\": \"a\", \"question\": \"\", \"answer\": \"\"}\n{\"task_id\": \"a\", \"question\": \"\", \"answer\": \"\"}\n");
    let dataset = disk.load("tpl");
    assert_eq!(codes(&dataset), ["GD004"]);
    assert_eq!(place(&disk, &dataset, "GD004"), ("tpl/tasks.jsonl".to_owned(), 2));
    assert!(message(&dataset, "GD004").contains("tasks.jsonl:1"));
    assert!(dataset.refused.is_some());
}

#[test]
fn faults_of_the_template_itself_are_told_once_not_once_a_row() {
    let disk = Disk::new();
    template(&disk, "tpl");
    std::fs::remove_dir_all(disk.at("tpl/tests")).unwrap();
    disk.write("tpl/tests/data", "")
        .link("tpl/tests/out", "../../x")
        .write("tpl/task.toml", "[environment]\ncpu = 1\n");
    let dataset = disk.load("tpl");
    assert_eq!(codes(&dataset), ["GD010", "GD120", "GD300", "GD501"]);
    assert!(task(&dataset, "sum").digest.is_none());
}

#[test]
fn an_instruction_that_renders_to_nothing_names_the_line() {
    let disk = Disk::new();
    template(&disk, "tpl");
    disk.write("tpl/instruction.template.md", "{{ question }}\n")
        .write(
            "tpl/tasks.jsonl",
            "{\"task_id\": \"a\", \"question\": \"\", \"answer\": \"\"}\n",
        );
    let dataset = disk.load("tpl");
    assert_eq!(codes(&dataset), ["GD201"]);
    assert!(message(&dataset, "GD201").ends_with("in the task of line 1 of `tasks.jsonl`"));
}

#[test]
fn a_verifier_that_is_rendered_differs_from_row_to_row() {
    let disk = Disk::new();
    template(&disk, "tpl");
    disk.remove("tpl/tests/verifier.py")
        .write("tpl/tests/verifier.template.py", "# {{ answer }}\n");
    let dataset = disk.load("tpl");
    assert_eq!(codes(&dataset), Vec::<&str>::new());
    let bytes = |id: &str| match &task(&dataset, id).grader {
        Grader::Python(verifier) => verifier.bytes.to_vec(),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        (bytes("sum"), bytes("word")),
        (b"# 2.50\n".to_vec(), b"# x\n".to_vec())
    );
}

#[test]
fn render_writes_all_or_nothing() {
    use std::os::unix::fs::PermissionsExt;
    let disk = Disk::new();
    template(&disk, "tpl");
    disk.write("tpl/tests/run.sh", TEST)
        .write("tpl/dataset.toml", "[dataset]\nname = \"a/b\"\n")
        .write("tpl/task_data.py", "x\n")
        .link("tpl/tests/l", "run.sh");
    std::fs::set_permissions(disk.at("tpl/tests/run.sh"), PermissionsExt::from_mode(0o750)).unwrap();
    let dataset = disk.load("tpl");
    let done = render(&dataset, &disk.at("new/out")).unwrap();
    assert_eq!(done.tasks, ["sum", "word"]);
    assert_eq!(done.files, ["dataset.toml", "task_data.py"]);
    let mode = std::fs::metadata(disk.at("new/out/sum/tests/run.sh"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o7777, 0o750);
    assert_eq!(
        std::fs::read_link(disk.at("new/out/sum/tests/l"))
            .unwrap()
            .to_str(),
        Some("run.sh")
    );
    assert_eq!(
        std::fs::read_dir(disk.at("new")).unwrap().count(),
        1,
        "no staging folder is left"
    );
    assert!(matches!(
        render(&dataset, &disk.at("new/out")),
        Err(RenderError::Occupied(_))
    ));
    assert!(matches!(
        render(&dataset, &disk.at("tpl/out")),
        Err(RenderError::Inside(_))
    ));
    std::fs::create_dir(disk.at("empty")).unwrap();
    assert!(render(&dataset, &disk.at("empty")).is_ok());
    disk.write("tpl/tasks.jsonl", "{\"task_id\": \"a\"}\n");
    assert!(matches!(
        render(&disk.load("tpl"), &disk.at("out2")),
        Err(RenderError::Broken(1))
    ));
    assert!(!disk.at("out2").exists());
    let plain = Disk::new();
    plain.task("t");
    assert!(matches!(
        render(&plain.load("t"), &plain.at("o")),
        Err(RenderError::NoTemplate(_))
    ));
}
