//! The sample dataset of the README.

use serde_json::Value;
use testdata::{Need, QUICKSTART};

use crate::support::{Tool, has, snapshot, task, without_times};

const NEEDS: &[Need] = &[Need::Embedded, Need::Python];

fn validate(more: &[&str]) -> Tool {
    let path = testdata::quickstart();
    let mut arguments = vec!["validate", path.as_str(), "--sandbox", "embedded"];
    arguments.extend(more);
    Tool::new(arguments)
}

fn ids(report: &Value) -> Vec<&str> {
    report["tasks"]
        .as_array()
        .expect("tasks")
        .iter()
        .map(|task| task["id"].as_str().expect("an id"))
        .collect()
}

#[test]
fn every_reference_solution_passes() {
    if !has("every_reference_solution_passes", NEEDS) {
        return;
    }
    let output = validate(&["--format", "json"]).run();
    let report = output.report();
    assert_eq!(output.code, Some(0), "{report:#}\n{}", output.stderr);
    assert_eq!(ids(&report), QUICKSTART);
    for id in QUICKSTART {
        let task = task(&report, id);
        assert_eq!(task["status"], "passed", "{task:#}");
        assert_eq!(task["reward"].as_f64(), Some(1.0), "{task:#}");
        assert_eq!(task["engine"], "embedded");
        assert_eq!(task["root"], "host");
        assert_eq!(task["network"], "none");
        assert_eq!(task["failure_kind"], Value::Null);
    }
    assert_eq!(report["ok"], true);
    assert_eq!(report["contract"], "gym");
    assert_eq!(report["coverage"]["seen"], 15);
    assert_eq!(report["coverage"]["scored"], 15);
    // The one task with components says that Harbor would not add them up.
    let noisy: Vec<&Value> = report["findings"]
        .as_array()
        .expect("findings")
        .iter()
        .filter(|finding| finding["level"] != "note" && finding["task"] != "clean-contacts")
        .collect();
    assert!(noisy.is_empty(), "{noisy:#?}");
}

#[test]
fn every_no_op_scores_exactly_0_by_a_written_reward() {
    if !has("every_no_op_scores_exactly_0_by_a_written_reward", NEEDS) {
        return;
    }
    let output = validate(&["--nop", "--format", "json"]).run();
    let report = output.report();
    assert_eq!(output.code, Some(0), "{report:#}\n{}", output.stderr);
    for id in QUICKSTART {
        let attempts = task(&report, id)["attempts"].as_array().expect("attempts");
        let nop = attempts
            .iter()
            .find(|attempt| attempt["kind"] == "nop")
            .expect("a no-op attempt");
        assert_eq!(nop["reward"].as_f64(), Some(0.0), "{id}: {nop:#}");
        assert_eq!(nop["failure_kind"], Value::Null, "{id}: {nop:#}");
        assert_eq!(nop["solve"], Value::Null, "{id}: {nop:#}");
    }
}

#[test]
fn partial_credit_is_the_sum_of_components_and_metrics_stay_beside_a_reward() {
    if !has(
        "partial_credit_is_the_sum_of_components_and_metrics_stay_beside_a_reward",
        NEEDS,
    ) {
        return;
    }
    let tasks = ["--task", "clean-contacts", "--task", "inventory-query"];
    let report = validate(&[tasks.as_slice(), &["--format", "json"]].concat())
        .run()
        .report();
    let parts = task(&report, "clean-contacts");
    assert_eq!(
        parts["reward_components"],
        serde_json::json!(["rows", "order", "format", "header"])
    );
    let metrics = task(&report, "inventory-query");
    assert_eq!(metrics["reward_components"], Value::Null);
    assert_eq!(metrics["rewards"]["total_units"].as_f64(), Some(1.0));
}

#[test]
fn the_number_of_jobs_changes_nothing_in_the_report() {
    if !has("the_number_of_jobs_changes_nothing_in_the_report", NEEDS) {
        return;
    }
    let one = validate(&["--jobs", "1", "--format", "json"]).run();
    let eight = validate(&["--jobs", "8", "--format", "json"]).run();
    assert_eq!(one.code, Some(0), "{}", one.stderr);
    assert_eq!(ids(&eight.report()), QUICKSTART);
    assert_eq!(without_times(one.report()), without_times(eight.report()));
}

#[test]
fn people_get_a_line_for_each_task_and_a_summary() {
    if !has("people_get_a_line_for_each_task_and_a_summary", NEEDS) {
        return;
    }
    let output = validate(&[]).run();
    assert_eq!(output.code, Some(0), "{}\n{}", output.stdout, output.stderr);
    for id in QUICKSTART {
        let lines = output
            .stdout
            .lines()
            .filter(|line| line.starts_with("passed") && line.contains(id))
            .count();
        assert_eq!(lines, 1, "{id} in:\n{}", output.stdout);
    }
    assert!(output.stdout.contains("15 passed"), "{}", output.stdout);
    assert!(
        output.stdout.contains("host"),
        "the summary names the host's root:\n{}",
        output.stdout
    );
    assert!(!output.stdout.contains('\u{1b}'), "no colour off a terminal");
}

#[test]
fn sources_are_never_written_to() {
    if !has("sources_are_never_written_to", NEEDS) {
        return;
    }
    let before = snapshot(&testdata::quickstart());
    let output = validate(&["--nop"]).run();
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    let after = snapshot(&testdata::quickstart());
    assert_eq!(
        before.keys().collect::<Vec<_>>(),
        after.keys().collect::<Vec<_>>()
    );
    assert!(before == after, "an entry's bytes, mode or times changed");
}

#[test]
fn without_an_engine_nothing_is_run_and_nothing_is_green() {
    let path = testdata::quickstart();
    let tool = Tool::new(["validate", path.as_str(), "--format", "json"]);
    let output = tool.env("PATH", "/nowhere").run();
    let report = output.report();
    assert_eq!(report["ok"], false);
    for id in QUICKSTART {
        assert_eq!(task(&report, id)["status"], "not-run");
        assert_eq!(task(&report, id)["failure_kind"], "no_engine");
    }
    assert_eq!(output.code, Some(2), "{}", output.stderr);
}

#[test]
fn a_static_validation_needs_neither_engine_nor_python() {
    let path = testdata::quickstart();
    let output = Tool::new(["validate", path.as_str(), "--static", "--format", "json"])
        .env("PATH", "/nowhere")
        .run();
    let report = output.report();
    assert_eq!(output.code, Some(0), "{report:#}");
    assert_eq!(report["coverage"]["loadable"], 15);
    for id in QUICKSTART {
        assert_eq!(task(&report, id)["status"], "not-run");
        assert_eq!(task(&report, id)["attempts"], serde_json::json!([]));
    }
}
