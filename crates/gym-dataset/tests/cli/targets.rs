//! Several targets in one report are told apart.

use crate::common::CliTest;

fn sets() -> CliTest {
    let test = CliTest::new();
    let task = "[environment]\ncpus = \"many\"\n";
    for folder in ["a/one", "b/one", "b/two"] {
        test.file(&format!("{folder}/t/task.toml"), task);
    }
    for folder in ["c/mine", "d/mine"] {
        test.file(
            &format!("{folder}/dataset.toml"),
            "[dataset]\nname = \"local/same\"\n",
        );
        test.file(&format!("{folder}/t/task.toml"), task);
    }
    test
}

fn print(test: &CliTest, targets: &[&str], format: &str) -> String {
    let mut line = vec!["validate"];
    line.extend(targets);
    line.extend(["--static", "--format", format, "--report", "html=page.html"]);
    let ran = test.run(&line);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    ran.stdout
}

#[test]
fn the_page_calls_targets_by_as_short_a_name_as_will_do() {
    let test = sets();
    for (targets, names) in [
        (["a/one", "b/two"], ["one", "two"]),
        (["a/one", "b/one"], ["a/one", "b/one"]),
        (["c/mine", "b/two"], ["local/same", "two"]),
        (["c/mine", "d/mine"], ["c/mine", "d/mine"]),
    ] {
        print(&test, &targets, "concise");
        let page = std::fs::read_to_string(test.root().join("page.html")).unwrap();
        let title = format!("<title>{} · gym-dataset</title>", names.join(", "));
        assert!(page.contains(&title), "{title}");
        let data = format!("\"names\":[\"{}\"]", names.join("\",\""));
        assert!(page.contains(&data), "{data}");
    }
}

#[test]
fn suites_and_rows_of_datasets_of_the_same_name_have_their_paths() {
    let test = sets();
    let junit = print(&test, &["c/mine", "d/mine"], "junit");
    let tree = roxmltree::Document::parse(&junit).unwrap();
    let suites = tree.descendants().filter(|n| n.has_tag_name("testsuite"));
    let names: Vec<_> = suites.filter_map(|n| n.attribute("name")).collect();
    assert_eq!(names, ["c/mine", "d/mine"]);
    let markdown = print(&test, &["c/mine", "d/mine"], "markdown");
    for row in ["| `c/mine` `t` | refused |", "| `d/mine` `t` | refused |"] {
        assert!(markdown.contains(row), "{markdown}");
    }
    let one = print(&test, &["c/mine"], "markdown");
    assert!(one.contains("| `t` | refused |"), "{one}");
}
