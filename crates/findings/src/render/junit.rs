//! JUnit's XML: suites of cases with properties, as CI servers read it. The order of elements is that of the schema
//! that most of them share.

use std::fmt::Write as _;

use crate::sanitize;

/// A suite: the cases of one target.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Suite {
    /// Its name.
    pub name: String,
    /// Its cases.
    pub cases: Vec<Case>,
}

/// A case.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Case {
    /// Its name, unique in its class.
    pub name: String,
    /// What it belongs to.
    pub class: String,
    /// Wall seconds.
    pub seconds: f64,
    /// Facts, in order.
    pub properties: Vec<(String, String)>,
    /// How it ended.
    pub result: CaseResult,
    /// Text worth reading beside the result; empty for none.
    pub output: String,
}

/// How a case ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum CaseResult {
    /// Well.
    #[default]
    Passed,
    /// What was tested is wrong.
    Failure(Problem),
    /// It could not be tested.
    Error(Problem),
    /// It was not tested; says why.
    Skipped(String),
}

/// What went wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problem {
    /// A stable word for the kind.
    pub kind: String,
    /// One sentence.
    pub message: String,
    /// Everything else, of several lines.
    pub body: String,
}

/// Characters of a body or an output that are kept; of a longer one the beginning.
const LONGEST: usize = 16_384;

#[derive(Default)]
struct Totals {
    tests: usize,
    failures: usize,
    errors: usize,
    skipped: usize,
    seconds: f64,
}

impl Totals {
    fn of<'a>(cases: impl Iterator<Item = &'a Case>) -> Self {
        let mut totals = Self::default();
        for case in cases {
            totals.tests += 1;
            totals.seconds += case.seconds;
            match case.result {
                CaseResult::Passed => {}
                CaseResult::Failure(_) => totals.failures += 1,
                CaseResult::Error(_) => totals.errors += 1,
                CaseResult::Skipped(_) => totals.skipped += 1,
            }
        }
        totals
    }

    fn attributes(&self, skipped: bool) -> String {
        let skipped = if skipped {
            format!(" skipped=\"{}\"", self.skipped)
        } else {
            String::new()
        };
        format!(
            "tests=\"{}\" failures=\"{}\" errors=\"{}\"{skipped} time=\"{:.3}\"",
            self.tests, self.failures, self.errors, self.seconds
        )
    }
}

/// Returns the document, with a final line feed.
#[must_use]
pub fn document(name: &str, suites: &[Suite]) -> String {
    let mut out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned();
    let all = Totals::of(suites.iter().flat_map(|s| &s.cases));
    push(
        &mut out,
        format_args!(
            "<testsuites name=\"{}\" {}>\n",
            sanitize::xml_attribute(name),
            all.attributes(false)
        ),
    );
    for suite in suites {
        let totals = Totals::of(suite.cases.iter());
        push(
            &mut out,
            format_args!(
                "  <testsuite name=\"{}\" {}>\n",
                sanitize::xml_attribute(&suite.name),
                totals.attributes(true)
            ),
        );
        for case in &suite.cases {
            push_case(&mut out, case);
        }
        out.push_str("  </testsuite>\n");
    }
    out.push_str("</testsuites>\n");
    out
}

fn push_case(out: &mut String, case: &Case) {
    push(
        out,
        format_args!(
            "    <testcase name=\"{}\" classname=\"{}\" time=\"{:.3}\">\n",
            sanitize::xml_attribute(&case.name),
            sanitize::xml_attribute(&case.class),
            case.seconds
        ),
    );
    if !case.properties.is_empty() {
        out.push_str("      <properties>\n");
        for (name, value) in &case.properties {
            push(
                out,
                format_args!(
                    "        <property name=\"{}\" value=\"{}\"/>\n",
                    sanitize::xml_attribute(name),
                    sanitize::xml_attribute(value)
                ),
            );
        }
        out.push_str("      </properties>\n");
    }
    match &case.result {
        CaseResult::Passed => {}
        CaseResult::Failure(problem) => push_problem(out, "failure", problem),
        CaseResult::Error(problem) => push_problem(out, "error", problem),
        CaseResult::Skipped(why) => push(
            out,
            format_args!("      <skipped message=\"{}\"/>\n", sanitize::xml_attribute(why)),
        ),
    }
    if !case.output.is_empty() {
        push(
            out,
            format_args!("      <system-out>{}</system-out>\n", bounded(&case.output)),
        );
    }
    out.push_str("    </testcase>\n");
}

fn push_problem(out: &mut String, element: &str, problem: &Problem) {
    push(
        out,
        format_args!(
            "      <{element} type=\"{}\" message=\"{}\">{}</{element}>\n",
            sanitize::xml_attribute(&problem.kind),
            sanitize::xml_attribute(&problem.message),
            bounded(&problem.body)
        ),
    );
}

fn bounded(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((cut, _)) => format!("{}\n[cut]", sanitize::xml(text.get(..cut).unwrap_or_default())),
        None => sanitize::xml(text),
    }
}

fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _written = out.write_fmt(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(name: &str, result: CaseResult) -> Case {
        Case {
            name: name.to_owned(),
            class: "set".to_owned(),
            seconds: 0.25,
            properties: vec![("reward".to_owned(), "0.5".to_owned())],
            result,
            output: "seen".to_owned(),
        }
    }

    fn problem(text: &str) -> Problem {
        Problem {
            kind: "low".to_owned(),
            message: text.to_owned(),
            body: text.to_owned(),
        }
    }

    #[test]
    fn each_ending_is_counted_and_has_its_element_in_the_order_of_the_schema() {
        let suites = [
            Suite {
                name: "one".to_owned(),
                cases: vec![
                    case("a", CaseResult::Passed),
                    case("b", CaseResult::Failure(problem("below"))),
                ],
            },
            Suite {
                name: "two".to_owned(),
                cases: vec![
                    case("c", CaseResult::Error(problem("lost"))),
                    case("d", CaseResult::Skipped("no solution".to_owned())),
                ],
            },
        ];
        let text = document("run", &suites);
        let tree = roxmltree::Document::parse(&text).unwrap();
        let root = tree.root_element();
        assert_eq!(root.tag_name().name(), "testsuites");
        for (name, value) in [
            ("tests", "4"),
            ("failures", "1"),
            ("errors", "1"),
            ("time", "1.000"),
        ] {
            assert_eq!(root.attribute(name), Some(value), "{name}");
        }
        let skipped: Vec<_> = root.children().filter_map(|s| s.attribute("skipped")).collect();
        assert_eq!(skipped, ["0", "1"]);
        let shapes: Vec<Vec<&str>> = root
            .descendants()
            .filter(|n| n.has_tag_name("testcase"))
            .map(|n| {
                n.children()
                    .filter(roxmltree::Node::is_element)
                    .map(|n| n.tag_name().name())
                    .collect()
            })
            .collect();
        assert_eq!(
            shapes,
            [
                vec!["properties", "system-out"],
                vec!["properties", "failure", "system-out"],
                vec!["properties", "error", "system-out"],
                vec!["properties", "skipped", "system-out"],
            ]
        );
    }

    #[test]
    fn hostile_text_stays_text() {
        let nasty = "]]><x a=\"1\" b='2'>&amp;\u{0}\u{8}\u{1b}[31m\u{fffe}\u{ffff}\u{202e}\r\nend";
        let mut hostile = case(nasty, CaseResult::Failure(problem(nasty)));
        hostile.output = nasty.to_owned();
        hostile.properties = vec![(nasty.to_owned(), nasty.to_owned())];
        let suites = [Suite {
            name: nasty.to_owned(),
            cases: vec![hostile],
        }];
        let text = document(nasty, &suites);
        let tree = roxmltree::Document::parse(&text).unwrap();
        let elements = tree.descendants().filter(roxmltree::Node::is_element).count();
        assert_eq!(elements, 7, "no element came from the text");
        let failure = tree.descendants().find(|n| n.has_tag_name("failure")).unwrap();
        let inside = "]]><x a=\"1\" b='2'>&amp;\\x00\\x08\\x1b[31m\\u{fffe}\\u{ffff}\\u{202e}";
        assert_eq!(
            failure.attribute("message").unwrap(),
            format!("{inside}\\r\\nend")
        );
        assert_eq!(failure.text().unwrap(), format!("{inside}\nend"));
    }

    #[test]
    fn a_long_body_is_cut() {
        let long = problem(&"ü".repeat(1_000_000));
        let suites = [Suite {
            name: "s".to_owned(),
            cases: vec![case(
                "a",
                CaseResult::Failure(Problem {
                    message: "m".to_owned(),
                    ..long
                }),
            )],
        }];
        let text = document("run", &suites);
        assert!(text.chars().count() < 20_000, "{}", text.len());
        assert!(text.contains("\n[cut]</failure>"));
    }
}
