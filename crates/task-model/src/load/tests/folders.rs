//! One task folder: files missing, odd, linked, hidden; who grades; which solution.

use super::support::{Disk, TEST, TOML, changed, codes, done, loads, message, place, task};
use crate::{Contract, Grader, Reference, VerifierHome};

#[test]
fn nothing_is_said_of_a_good_task() {
    let disk = Disk::new();
    disk.task("t");
    let dataset = disk.load("t");
    assert_eq!(codes(&dataset), Vec::<&str>::new());
    let task = task(&dataset, "t");
    assert_eq!(task.loads, loads(true, true, true));
    assert!(matches!(task.grader, Grader::TestSh));
    assert_eq!(task.reference, Reference::SolveSh);
    assert_eq!(task.digest.as_ref().map(String::len), Some(64));
    assert_eq!(task.digest_files, 5);
}

#[test]
fn every_missing_part_is_told() {
    let disk = Disk::new();
    disk.write("t/task.toml", "schema_version = \"1.4\"\n");
    let dataset = disk.load("t");
    assert_eq!(codes(&dataset), ["GD200", "GD300", "GD500"]);
    assert_eq!(task(&dataset, "t").loads, loads(false, false, false));
    assert_eq!(place(&disk, &dataset, "GD200").0, "t/instruction.md");
}

#[test]
fn instructions_must_be_there_be_text_and_say_something() {
    assert_eq!(
        changed(|d| done(d.remove("t/instruction.md"))),
        (vec!["GD200"], false, false)
    );
    assert_eq!(
        changed(|d| done(d.write("t/instruction.md", b"Gr\xf6\xdfe"))),
        (vec!["GD202"], false, true)
    );
    for empty in ["", " \n", "<!-- canary 1 -->\n\n", "# CANARY x\n", "\u{feff}"] {
        assert_eq!(
            changed(|d| done(d.write("t/instruction.md", empty))),
            (vec!["GD201"], true, true),
            "{empty:?}"
        );
    }
    assert_eq!(
        changed(|d| done(d.write("t/instruction.md", "# canary\nDo it.\n"))).0,
        Vec::<&str>::new()
    );
    let folder = |d: &Disk| {
        d.remove("t/instruction.md");
        std::fs::create_dir(d.at("t/instruction.md")).unwrap();
    };
    assert_eq!(changed(folder), (vec!["GD001"], false, true));
}

#[test]
fn an_environment_with_nothing_to_build_is_an_error_and_loads() {
    let bare = |d: &Disk| done(d.write("t/task.toml", ""));
    assert_eq!(changed(bare), (vec!["GD300"], true, true));
    assert_eq!(
        changed(|d| {
            bare(d);
            d.write("t/environment/Dockerfile", "FROM x\n");
        })
        .0,
        Vec::<&str>::new()
    );
    assert_eq!(
        changed(|d| {
            bare(d);
            d.write("t/environment/docker-compose.yaml", "services: {}\n");
        })
        .0,
        Vec::<&str>::new()
    );
    let no_table = |d: &Disk| done(d.write("t/task.toml", "environment = \"debian:12\"\n"));
    assert_eq!(changed(no_table).0, ["GD110"]);
    let other = changed(|d| {
        bare(d);
        d.write("t/environment/docker-compose.yml", "services: {}\n");
    });
    assert_eq!(other.0, ["GD300", "GD301"]);
}

#[test]
fn test_sh_wins_then_the_tasks_own_module() {
    let disk = Disk::new();
    disk.task("t").write("t/tests/verifier.py", "x = 1\n");
    assert!(matches!(task(&disk.load("t"), "t").grader, Grader::TestSh));
    disk.remove("t/tests/test.sh");
    let dataset = disk.load("t");
    let Grader::Python(verifier) = &task(&dataset, "t").grader else {
        panic!()
    };
    assert_eq!(verifier.home, VerifierHome::Task);
    assert_eq!(&*verifier.bytes, b"x = 1\n");
    assert_eq!(task(&dataset, "t").loads, loads(true, false, false));
    assert_eq!(codes(&dataset), Vec::<&str>::new());
    let dataset = disk.load_as("t", Contract::Harbor);
    assert_eq!(
        message(&dataset, "GD019"),
        "Harbor does not load this task because `tests` has no test.sh"
    );
}

#[test]
fn a_tests_folder_without_a_grader_is_an_error_that_gym_loads() {
    let fixture = |d: &Disk| done(d.remove("t/tests/test.sh").write("t/tests/data", ""));
    assert_eq!(changed(fixture), (vec!["GD501"], true, false));
    let separate = format!("{TOML}[verifier.environment]\ndocker_image = \"v\"\n");
    let bundled = changed(|d| {
        fixture(d);
        d.write("t/task.toml", &separate);
    });
    assert_eq!(bundled, (vec![], true, true));
}

#[test]
fn a_separate_verifier_needs_an_image() {
    let with = |toml: &str| {
        changed(|d| {
            done(
                d.write("t/environment/Dockerfile", "FROM x\n")
                    .write("t/task.toml", toml),
            );
        })
    };
    assert_eq!(
        with("[verifier]\nenvironment_mode = \"separate\"\n"),
        (vec!["GD302"], false, true)
    );
    assert_eq!(
        with(&format!("{TOML}[verifier]\nenvironment_mode = \"separate\"\n")).0,
        Vec::<&str>::new()
    );
    assert_eq!(
        with(&format!("{TOML}[verifier.environment]\ncpus = 1\n")).0,
        ["GD302"]
    );
    let built = changed(|d| {
        done(
            d.write("t/tests/Dockerfile", "FROM x\n")
                .write("t/environment/Dockerfile", "FROM x\n")
                .write("t/task.toml", "[verifier]\nenvironment_mode = \"separate\"\n"),
        );
    });
    assert_eq!(built, (vec![], true, true));
}

#[test]
fn steps_need_instructions_and_a_test_each() {
    let disk = Disk::new();
    let toml = format!("{TOML}[[steps]]\nname = \"one\"\n[[steps]]\nname = \"two\"\n");
    disk.write("t/task.toml", toml).write("t/environment/x", "");
    for step in ["one", "two"] {
        disk.write(&format!("t/steps/{step}/instruction.md"), "Do it.\n");
        disk.write(&format!("t/steps/{step}/tests/test.sh"), TEST);
    }
    let dataset = disk.load("t");
    assert_eq!(codes(&dataset), Vec::<&str>::new());
    assert_eq!(task(&dataset, "t").loads, loads(true, true, false));
    disk.remove("t/steps/two/instruction.md")
        .remove("t/steps/one/tests/test.sh")
        .write("t/tests/verifier.py", "");
    let dataset = disk.load("t");
    assert_eq!(codes(&dataset), ["GD200", "GD502"]);
    assert!(message(&dataset, "GD200").contains("step `two`"));
    assert!(message(&dataset, "GD502").contains("step `one`"));
    assert_eq!(task(&dataset, "t").loads, loads(false, false, false));
    disk.write("t/steps/two/instruction.md", "x")
        .write("t/tests/test.sh", TEST);
    assert_eq!(codes(&disk.load("t")), Vec::<&str>::new());
}

#[test]
fn solutions() {
    let reference = |change: &dyn Fn(&Disk)| {
        let disk = Disk::new();
        disk.task("t");
        change(&disk);
        let dataset = disk.load_as("t", Contract::Gym);
        (task(&dataset, "t").reference, codes(&dataset))
    };
    assert_eq!(
        reference(&|d| done(d.write("t/solution/answer.md", ""))),
        (Reference::SolveSh, vec!["GD400"])
    );
    assert_eq!(
        reference(&|d| done(d.remove("t/solution/solve.sh").write("t/solution/answer.md", ""))),
        (Reference::AnswerMd, vec![])
    );
    assert_eq!(
        reference(&|d| done(d.remove("t/solution/solve.sh"))),
        (Reference::None, vec!["GD401"])
    );
    let none = |d: &Disk| std::fs::remove_dir_all(d.at("t/solution")).unwrap();
    assert_eq!(reference(&none), (Reference::None, vec![]));
    let folder = |d: &Disk| done(d.remove("t/solution/solve.sh").write("t/solution/solve.sh/x", ""));
    assert_eq!(reference(&folder), (Reference::None, vec!["GD001"]));
}

#[test]
fn links_and_special_files() {
    assert_eq!(
        changed(|d| done(d.link("t/tests/a", "test.sh"))),
        (vec![], true, true)
    );
    assert_eq!(
        changed(|d| done(d.link("t/tests/a", "../../out"))),
        (vec!["GD010"], true, false)
    );
    assert_eq!(
        changed(|d| done(d.link("t/environment/a", "/etc/passwd"))),
        (vec!["GD010"], true, true)
    );
    assert_eq!(
        changed(|d| done(d.link("t/tests/a", "gone"))),
        (vec!["GD011"], true, true)
    );
    assert_eq!(
        changed(|d| done(d.link("t/tests/a", "a"))),
        (vec!["GD012"], false, false)
    );
    assert_eq!(
        changed(|d| done(d.link("t/tests/a", "../solution"))),
        (vec!["GD013"], false, true)
    );
    assert_eq!(
        changed(|d| done(d.link("t/tests/a", "."))),
        (vec!["GD013"], false, false)
    );
    let fifo = |d: &Disk| {
        let mode = rustix::fs::Mode::from_raw_mode(0o644);
        rustix::fs::mknodat(
            rustix::fs::CWD,
            d.at("t/tests/p").as_str(),
            rustix::fs::FileType::Fifo,
            mode,
            0,
        )
        .unwrap();
    };
    assert_eq!(changed(fifo), (vec!["GD009"], true, true));
}

#[test]
fn a_task_toml_through_a_link_that_leaves_is_judged_for_harbor_and_never_shown() {
    let disk = Disk::new();
    disk.task("t")
        .remove("t/task.toml")
        .write("secret.toml", format!("{TOML}sekret = 1\n"))
        .link("t/task.toml", "../secret.toml");
    let dataset = disk.load("t");
    assert_eq!(codes(&dataset), ["GD010"]);
    let task = task(&dataset, "t");
    assert_eq!((task.loads.gym, task.loads.harbor), (false, true));
    assert!(task.declared.is_none() && task.toml_source.is_none() && task.digest.is_none());
    assert!(!format!("{:?}", dataset.findings).contains("sekret"));
}

#[test]
fn task_data_is_one_object_without_duplicates_or_reserved_names() {
    let with = |text: &str| {
        let (codes, gym, _) = changed(|d| done(d.write("t/task_data.json", text)));
        (codes, gym)
    };
    assert_eq!(with("{\"a\": 1.50, \"b\": [1]}"), (vec![], true));
    assert_eq!(with("[1]"), (vec!["GD620"], false));
    assert_eq!(with("{\"a\": }"), (vec!["GD620"], false));
    assert_eq!(with("\u{feff}{}"), (vec!["GD620"], false));
    assert_eq!(with(""), (vec!["GD620"], false));
    assert_eq!(with("{\"a\": 1, \"a\": 2}"), (vec!["GD621"], false));
    assert_eq!(with("{\"_ng_digest\": 1}"), (vec!["GD214"], false));
    assert_eq!(
        changed(|d| done(d.write("t/task_data.json", b"{\"\xff\": 1}"))),
        (vec!["GD202"], false, true)
    );
}

#[test]
fn what_only_gym_refuses_is_a_note_under_harbor() {
    let disk = Disk::new();
    disk.task("t")
        .link("t/solution/d", "../tests")
        .write("t/task.toml", format!("{TOML}network_mode = \"no-network\"\n"));
    assert_eq!(codes(&disk.load_as("t", Contract::Harbor)), Vec::<&str>::new());
    assert_eq!(codes(&disk.load_as("t", Contract::Gym)), ["GD013", "GD140"]);
}

#[test]
fn a_template_file_without_rows_and_a_shipped_shim_folder_are_warnings() {
    assert_eq!(
        changed(|d| done(d.write("t/instruction.template.md", "{{ x }}"))).0,
        ["GD203"]
    );
    assert_eq!(
        changed(|d| done(d.write("t/environment/nginx.template.conf", "{{ x }}"))).0,
        Vec::<&str>::new()
    );
    // A shim goes there only for a Python verifier that grades; a published folder has its own, which test.sh calls.
    assert_eq!(
        changed(|d| done(d.write("t/tests/.ng/x", "").write("t/tests/verifier.py", ""))).0,
        Vec::<&str>::new()
    );
    assert_eq!(
        changed(|d| done(
            d.write("t/tests/.ng/x", "")
                .write("t/tests/verifier.py", "")
                .remove("t/tests/test.sh")
        ))
        .0,
        ["GD503"]
    );
}

#[test]
fn agentcompass_needs_an_image_and_an_environment_folder_and_ignores_users() {
    let disk = Disk::new();
    disk.task("t")
        .write("t/task.toml", format!("[agent]\nuser = \"me\"\n{TOML}"));
    let dataset = disk.load_as("t", Contract::Agentcompass);
    assert_eq!(codes(&dataset), ["GD303"]);
    disk.write("t/task.toml", "")
        .write("t/environment/Dockerfile", "FROM x\n");
    let dataset = disk.load_as("t", Contract::Agentcompass);
    assert_eq!(codes(&dataset), ["GD019"]);
}

/// Whether Harbor takes a good task after a change.
fn harbor(toml: &str, change: impl Fn(&Disk)) -> bool {
    let disk = Disk::new();
    disk.task("t").write("t/task.toml", toml);
    change(&disk);
    task(&disk.load("t"), "t").loads.harbor
}

#[test]
fn harbor_looks_for_the_script_of_the_verifiers_system() {
    let windows = "[verifier.environment]\nos = \"windows\"\n";
    assert!(!harbor(windows, |_| {}));
    assert!(harbor(windows, |d| done(d.write("t/tests/test.bat", ""))));
    assert!(!harbor(
        "[environment]\nos = \"windows\"\n[verifier.environment]\ncpus = 1\n",
        |_| {}
    ));
    let shared =
        format!("[[steps]]\nname = \"s\"\n[steps.verifier]\nenvironment_mode = \"shared\"\n{windows}");
    assert!(harbor(&shared, |d| done(
        d.write("t/steps/s/instruction.md", "x")
    )));
}

#[test]
fn harbor_takes_no_link_out_of_what_a_verifier_is_built_from_whatever_is_ignored() {
    let separate = format!("{TOML}[verifier]\nenvironment_mode = \"separate\"\n");
    let hidden = |d: &Disk| {
        done(
            d.write("t/tests/.harborignore", "out\n")
                .link("t/tests/out", "/etc/passwd"),
        );
    };
    assert!(harbor(TOML, hidden));
    assert!(harbor(&separate, hidden));
    assert!(!harbor(&separate, |d| {
        hidden(d);
        d.write("t/tests/Dockerfile", "FROM x\n");
    }));
}

#[test]
fn harbor_needs_environment_to_be_a_folder() {
    let file = |d: &Disk| {
        std::fs::remove_dir_all(d.at("t/environment")).unwrap();
        d.write("t/environment", "");
    };
    assert!(!harbor("", file));
    assert!(harbor(TOML, file));
}
