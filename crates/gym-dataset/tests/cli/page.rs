//! The page of `--report html=FILE`, opened in headless Chromium. Without one the tests are skipped by name; CI has it.

use serde_json::Value;

use crate::browser::{browser, open, with_script};
use crate::common::CliTest;

/// Tasks of which every tenth is broken and every seventh has an unknown key.
fn write_set(test: &CliTest, tasks: usize) {
    test.file("set/dataset.toml", "[dataset]\nname = \"local/set\"\n");
    for i in 0..tasks {
        let cpus = if i % 10 == 0 { "cpus = \"many\"\n" } else { "" };
        let odd = if i % 7 == 0 { "tiemout = 3\n" } else { "" };
        let folder = format!("set/task-{i:04}");
        test.file(
            &format!("{folder}/task.toml"),
            format!("schema_version = \"1.4\"\n[environment]\ndocker_image = \"x\"\n{cpus}{odd}"),
        );
        test.file(&format!("{folder}/instruction.md"), format!("Do it {i} times.\n"));
        test.file(&format!("{folder}/tests/test.sh"), "#!/bin/bash\n");
        test.file(&format!("{folder}/solution/solve.sh"), "#!/bin/bash\n");
    }
}

fn write_page(test: &CliTest) -> camino::Utf8PathBuf {
    let ran = test.run(&[
        "validate",
        "set",
        "--static",
        "--format",
        "concise",
        "--report",
        "html=page.html",
    ]);
    assert!(ran.code.is_some_and(|c| c < 2), "{}", ran.stderr);
    test.root().join("page.html")
}

#[test]
fn the_page_filters_by_ending_rule_and_text_and_opens_a_task() {
    let Some(browser) = browser("the_page_filters_by_ending_rule_and_text_and_opens_a_task") else {
        return;
    };
    let test = CliTest::new();
    write_set(&test, 70);
    let page = write_page(&test);
    let all = open(browser, &page, "");
    assert_eq!(all.root("data-shown"), "70");
    assert_eq!(all.text_of("count"), "70 tasks");
    assert_eq!(all.text_of("title"), "local/set");
    assert_eq!(all.text_of("verdict"), "Not all is well");
    assert_eq!(open(browser, &page, "status=refused").root("data-shown"), "7");
    assert_eq!(open(browser, &page, "q=TASK-001").root("data-shown"), "10");
    assert_eq!(
        open(browser, &page, "status=refused&q=tiemout").root("data-shown"),
        "1"
    );
    let none = open(browser, &page, "status=refused&q=nowhere");
    assert_eq!(none.root("data-shown"), "0");
    assert!(none.dom.contains("No task matches"));

    let (_, report) = test.json(&["validate", "set", "--static", "--format", "json"]);
    let findings = report["findings"].as_array().unwrap();
    let unknown = findings
        .iter()
        .find(|f| f["message"].as_str().unwrap().contains("tiemout"))
        .unwrap();
    let rule = unknown["rule"].as_str().unwrap();
    assert_eq!(
        open(browser, &page, &format!("rule={rule}")).root("data-shown"),
        "10"
    );
    let opened = open(browser, &page, "task=task-0007");
    assert!(opened.dom.contains("<h2>task-0007</h2>"), "its panel is open");
    assert!(
        opened.dom.contains("<mark>tiemout</mark>"),
        "with the place marked in the source"
    );
    let of = |level: &str| findings.iter().filter(|f| f["level"] == level).count();
    assert!(of("error") > 0 && of("warning") > 0);
    let counted = |level: &str| format!("<b>{}</b><span>{level}s</span>", of(level));
    assert!(all.dom.contains(&counted("error")) && all.dom.contains(&counted("warning")));
    assert_eq!(open(browser, &page, "level=error").root("data-shown"), "7");
    let errors = open(browser, &page, "view=findings&level=error");
    assert_eq!(
        errors.text_of("count"),
        format!("{} of {} findings", of("error"), findings.len())
    );
    let worst_first = open(browser, &page, "view=findings").dom;
    let last_error = worst_first.rfind("class=\"finding l-error").unwrap();
    assert!(last_error < worst_first.find("class=\"finding l-warning").unwrap());
    let list = open(browser, &page, &format!("view=findings&rule={rule}"));
    assert_eq!(list.dom.matches("class=\"finding l-").count(), 10);
    assert_eq!(
        list.text_of("count"),
        format!("10 of {} findings", findings.len())
    );
}

#[test]
fn keys_and_clicks_do_what_the_page_says() {
    let Some(browser) = browser("keys_and_clicks_do_what_the_page_says") else {
        return;
    };
    let test = CliTest::new();
    write_set(&test, 30);
    let page = write_page(&test);
    let acting = with_script(
        &page,
        "const press = (key) => document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
         const seen = [];
         const note = (what) => seen.push(what);
         press('j'); press('j'); press('Enter');
         note(document.querySelector('#detail h2')?.textContent);
         press('k');
         note(document.querySelector('#detail h2')?.textContent);
         press('Escape');
         note(document.querySelector('#detail').classList.contains('hidden'));
         press('/');
         note(document.activeElement.id);
         document.querySelector('.chip[data-status=refused]').click();
         note(document.documentElement.dataset.shown);
         note(location.hash);
         document.querySelector('#theme').click();
         note(document.documentElement.dataset.theme);
         document.documentElement.dataset.seen = seen.join(' ');",
    );
    let opened = open(browser, &acting, "");
    assert_eq!(
        opened.root("data-seen"),
        "task-0010 task-0000 true q 3 #status=refused dark"
    );
}

#[test]
fn a_count_of_a_level_shows_those_findings_and_takes_them_back() {
    let Some(browser) = browser("a_count_of_a_level_shows_those_findings_and_takes_them_back") else {
        return;
    };
    let test = CliTest::new();
    write_set(&test, 30);
    let page = write_page(&test);
    let acting = with_script(
        &page,
        "const chip = document.querySelector('#levels [data-level=error]');
         const seen = [];
         chip.click();
         seen.push(location.hash, document.querySelectorAll('.finding.l-error').length);
         seen.push(document.querySelectorAll('.finding.l-warning').length);
         chip.click();
         seen.push(location.hash);
         document.documentElement.dataset.seen = seen.join(' ');",
    );
    let opened = open(browser, &acting, "");
    assert_eq!(
        opened.root("data-seen"),
        "#level=error&amp;view=findings 3 0 #view=findings"
    );
}

#[test]
fn paper_shows_every_row_and_the_screen_those_in_sight() {
    let Some(browser) = browser("paper_shows_every_row_and_the_screen_those_in_sight") else {
        return;
    };
    let test = CliTest::new();
    write_set(&test, 200);
    let page = write_page(&test);
    let rows = "document.querySelectorAll('.row').length";
    let acting = with_script(
        &page,
        &format!(
            "const seen = [{rows}];
             dispatchEvent(new Event('beforeprint'));
             seen.push({rows});
             dispatchEvent(new Event('afterprint'));
             seen.push({rows});
             document.documentElement.dataset.seen = seen.join(' ');"
        ),
    );
    let opened = open(browser, &acting, "");
    let seen = opened.root("data-seen");
    let counts: Vec<usize> = seen.split(' ').map(|n| n.parse().unwrap()).collect();
    assert_eq!(counts[1], 200, "{seen}");
    assert!(counts[0] < 60 && counts[2] < 60, "{seen}");
}

#[test]
fn without_scripts_there_is_a_table_of_the_tasks_the_broken_first() {
    let test = CliTest::new();
    write_set(&test, 20);
    test.file("set/z<b>/task.toml", "[environment]\ncpus = \"many\"\n");
    let text = std::fs::read_to_string(write_page(&test)).unwrap();
    let (_, rest) = text.split_once("<noscript>").unwrap();
    let (table, _) = rest.split_once("</noscript>").unwrap();
    let rows: Vec<&str> = table
        .lines()
        .filter(|line| line.starts_with("<tr><td>"))
        .collect();
    assert_eq!(rows.len(), 21);
    let starts = |row: usize, text: &str| assert!(rows[row].starts_with(text), "{}", rows[row]);
    starts(0, "<tr><td>task-0000</td><td>refused</td>");
    starts(2, "<tr><td>z&lt;b&gt;</td><td>refused</td>");
    starts(3, "<tr><td>task-0001</td>");
}

#[test]
fn what_tasks_wrote_is_text_in_the_page() {
    let Some(browser) = browser("what_tasks_wrote_is_text_in_the_page") else {
        return;
    };
    let test = CliTest::new();
    let nasty = "</script><script>document.title='owned'</script><img src=x onerror=alert(1)><!--";
    test.file("set/dataset.toml", "[dataset]\nname = \"local/set\"\n");
    test.file(
        "set/<b>bold/task.toml",
        format!("[environment]\n\"{nasty}\" = 1\n"),
    );
    test.file("set/<b>bold/instruction.md", "x\n");
    let reordering = "re\u{202e}versed";
    test.file(
        &format!("set/{reordering}/task.toml"),
        format!("[environment]\n\"\\u202e{}\" = 1\n", "long".repeat(100_000)),
    );
    let page = write_page(&test);
    let opened = open(browser, &page, "task=re%5Cu%7B202e%7Dversed");
    assert!(opened.dom.contains(r"<h2>re\u{202e}versed</h2>"));
    assert!(!opened.dom.contains('\u{202e}'));
    let opened = open(browser, &page, "task=%3Cb%3Ebold");
    assert!(opened.dom.contains("<title>local/set · gym-dataset</title>"));
    assert!(opened.dom.contains("<h2>&lt;b&gt;bold</h2>"));
    assert!(opened.dom.contains("&lt;img src=x onerror=alert(1)&gt;"));
    assert_eq!(opened.dom.matches("<img").count(), 0);
    assert_eq!(opened.dom.matches("<b>bold").count(), 0);
    assert_eq!(
        opened.dom.matches("<script").count(),
        2,
        "the data and the page's own"
    );
}

#[test]
fn five_thousand_tasks_open_and_filter_within_a_second() {
    let Some(browser) = browser("five_thousand_tasks_open_and_filter_within_a_second") else {
        return;
    };
    let test = CliTest::new();
    write_set(&test, 50);
    let page = write_page(&test);
    // The report of fifty, a hundred times over: only the browser's time counts here.
    let text = std::fs::read_to_string(&page).unwrap();
    let (before, rest) = text.split_once("id=\"data\">").unwrap();
    let (json, after) = rest.split_once("</script>").unwrap();
    let mut data: Value = serde_json::from_str(json).unwrap();
    for (list, id) in [("tasks", "id"), ("findings", "task")] {
        let few = data["report"][list].as_array().unwrap().clone();
        let many = (0..100).flat_map(|round| {
            few.iter().cloned().map(move |mut one| {
                let name = one[id].as_str().map(|name| format!("{name}-{round:02}"));
                one[id] = name.map_or(Value::Null, Value::from);
                one
            })
        });
        data["report"][list] = many.collect();
    }
    for list in ["excerpts", "selected"] {
        let few = data[list].as_array().unwrap().clone();
        data[list] = (0..100).flat_map(|_| few.clone()).collect();
    }
    let json = serde_json::to_string(&data).unwrap().replace('<', "\\u003c");
    std::fs::write(&page, format!("{before}id=\"data\">{json}</script>{after}")).unwrap();
    let acting = with_script(
        &page,
        "document.querySelector('#q').value = '-42';
         document.querySelector('#q').dispatchEvent(new Event('input'));",
    );
    // A busy machine stretches the browser's own start and everything after it: the best of some tries is the page's.
    let (mut ready, mut applied) = (f64::MAX, f64::MAX);
    let mut opened = open(browser, &acting, "");
    for _ in 0..5 {
        assert_eq!(opened.root("data-shown"), "50");
        ready = ready.min(opened.millis("data-ready"));
        applied = applied.min(opened.millis("data-applied"));
        if ready < 1000.0 && applied < 1000.0 {
            break;
        }
        opened = open(browser, &acting, "");
    }
    println!("5,000 tasks: open in {ready} ms, filtered in {applied} ms");
    assert!(applied < 1000.0, "filtered in {applied} ms");
    // To open includes the browser's start.
    assert!(ready < 3000.0, "open in {ready} ms");
    assert!(
        opened.dom.matches("class=\"row ").count() < 60,
        "only rows in sight are made"
    );
}
