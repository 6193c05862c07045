//! One page to look at: everything in one file, nothing loaded from anywhere.
//!
//! The report stands in the page as JSON that cannot end its element; the script sets it as text only. The page's own
//! policy allows exactly this style and this script, by their hashes, and no connection at all.

use findings::render::Excerpt;
use findings::sanitize;
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::{Weight, Whole, why};
use crate::output::{count, number, word};
use crate::report::{TaskReport, ValidateReport};

const STYLE: &str = include_str!("page/page.css");
const SCRIPT: &str = include_str!("page/page.js");
const BODY: &str = include_str!("page/body.html");

/// What the script reads.
#[derive(Serialize)]
struct Data<'a> {
    report: &'a ValidateReport,
    excerpts: Vec<Option<Shown>>,
    selected: &'a [bool],
    /// What the targets are called, by index.
    names: &'a [String],
    #[serde(rename = "static")]
    only_static: bool,
    min_reward: f64,
}

/// An excerpt in three pieces.
#[derive(Serialize)]
struct Shown {
    first_line: usize,
    before: String,
    marked: String,
    after: String,
}

pub(super) fn render(whole: &Whole<'_>) -> String {
    let names = whole.short_names();
    let data = Data {
        report: whole.object,
        excerpts: whole
            .findings
            .iter()
            .map(|f| Excerpt::of(f).as_ref().map(shown))
            .collect(),
        selected: whole.selected,
        names: &names,
        only_static: whole.only_static,
        min_reward: whole.min_reward,
    };
    let mut data = serde_json::to_value(&data).unwrap_or_default();
    harmless(&mut data);
    let json = data.to_string();
    [
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n",
        "<meta http-equiv=\"Content-Security-Policy\" content=\"",
        &policy(),
        "\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n",
        "<meta name=\"referrer\" content=\"no-referrer\">\n<title>",
        &sanitize::xml_attribute(&names.join(", ")),
        " · gym-dataset</title>\n<style>",
        STYLE,
        "</style>\n</head>\n<body>\n",
        &without_script(whole),
        BODY,
        "<script type=\"application/json\" id=\"data\">",
        &sanitize::json_in_html(&json),
        "</script>\n<script>",
        SCRIPT,
        "</script>\n</body>\n</html>\n",
    ]
    .concat()
}

/// Escapes what reorders, hides or ends text: a browser obeys such characters too.
fn harmless(value: &mut Value) {
    match value {
        Value::String(text) => *text = sanitize::terminal(text),
        Value::Array(items) => items.iter_mut().for_each(harmless),
        Value::Object(members) => {
            let taken = std::mem::take(members);
            members.extend(taken.into_iter().map(|(key, mut value)| {
                harmless(&mut value);
                (sanitize::line(&key), value)
            }));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Tasks that are listed for a browser that runs no script.
const LISTED: usize = 2_000;

/// Returns what a browser shows that runs no script: totals and a table of the tasks, those that are not well first.
fn without_script(whole: &Whole<'_>) -> String {
    let mut tasks: Vec<&TaskReport> = whole.tasks().collect();
    tasks.sort_by_key(|task| !matches!(whole.weight(task), Weight::Bad | Weight::Broken));
    let mut out = String::from("<noscript>\n<div class=\"wrap\">\n<p class=\"banner\">");
    out +=
        "Filters, logs and findings of this page need JavaScript; it loads nothing from anywhere.</p>\n<p>";
    out += &sanitize::xml_attribute(&whole.totals(false));
    out += "</p>\n<table>\n<tr><th>task</th><th>ended</th><th>reward</th><th>why</th></tr>\n";
    for task in tasks.iter().take(LISTED) {
        let reward = task.reward.map_or_else(String::new, number);
        let cells = [&task.id, word(task.status).0, &reward, &why(task)];
        out += "<tr>";
        for cell in cells {
            out.extend(["<td>", &sanitize::xml_attribute(cell), "</td>"]);
        }
        out += "</tr>\n";
    }
    out += "</table>\n";
    let more = tasks.len().saturating_sub(LISTED);
    if more > 0 {
        out.extend(["<p>and ", &count(more, "more task"), "</p>\n"]);
    }
    out + "</div>\n</noscript>\n"
}

fn shown(excerpt: &Excerpt) -> Shown {
    let piece = |range: std::ops::Range<usize>| excerpt.text.get(range).unwrap_or_default().to_owned();
    Shown {
        first_line: excerpt.first_line,
        before: piece(0..excerpt.span.start),
        marked: piece(excerpt.span.clone()),
        after: piece(excerpt.span.end..excerpt.text.len()),
    }
}

fn policy() -> String {
    let hash = |text: &str| format!("'sha256-{}'", base64(&Sha256::digest(text.as_bytes())));
    format!(
        "default-src 'none'; style-src {}; script-src {}; base-uri 'none'; form-action 'none'",
        hash(STYLE),
        hash(SCRIPT)
    )
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let group = chunk
            .iter()
            .chain([&0, &0])
            .take(3)
            .fold(0_usize, |group, byte| group << 8 | usize::from(*byte));
        for i in 0..4 {
            let digit = DIGITS.get(group >> (18 - 6 * i) & 63);
            out.push(digit.filter(|_| i <= chunk.len()).map_or('=', |d| char::from(*d)));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_the_standard_one() {
        for (text, want) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
        ] {
            assert_eq!(base64(text.as_bytes()), want);
        }
        assert_eq!(base64(&[0xfb, 0xff, 0xbf]), "+/+/");
    }

    #[test]
    fn neither_style_nor_script_ends_its_element_or_makes_markup_of_text() {
        assert!(!STYLE.contains("</") && !SCRIPT.contains("</script"));
        for word in [
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "fetch(",
        ] {
            assert!(!SCRIPT.contains(word), "{word}");
        }
        for word in ["http:", "https:", "url(", "@import"] {
            assert!(!STYLE.contains(word) && !BODY.contains(word), "{word}");
        }
    }
}
