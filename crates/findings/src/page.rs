//! Pages of rules, made readable.
//!
//! A fenced block of a page whose info string has more than a language is a file of an example: language, path, options.
//! `testdata` writes these files for the tests; here they only get a line above them that says the same in words.

/// Returns the page with a caption above each file of an example, and with plain fences.
pub(crate) fn captioned(page: &str) -> String {
    let mut out = String::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let words: Vec<&str> = line
            .strip_prefix("```")
            .map(|info| info.split_whitespace().collect())
            .unwrap_or_default();
        if let [kind, path, options @ ..] = words.as_slice() {
            let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            out += &block(kind, path, options, &body);
        } else {
            out += line;
            out.push('\n');
        }
    }
    out
}

fn block(kind: &str, path: &str, options: &[&str], body: &[&str]) -> String {
    let (language, what) = match kind {
        "absent" => return format!("`{path}` is not there.\n"),
        "fifo" => return format!("`{path}` is a named pipe.\n"),
        "symlink" => return format!("`{path}` is a link to `{}`.\n", body.join("")),
        "tar" => ("text", ", an archive of"),
        "hex" => ("text", ", its bytes in hexadecimal"),
        language => (language, ""),
    };
    let notes: String = options.iter().map(|option| note(option)).collect();
    let mut text = format!("`{path}`{what}{notes}:\n\n```{language}\n");
    for line in body {
        text += line;
        text.push('\n');
    }
    text += "```\n";
    text
}

fn note(option: &str) -> String {
    match option.split_once('=').unwrap_or((option, "")) {
        ("crlf", _) => ", with CRLF line ends".to_owned(),
        ("bom", _) => ", with a byte order mark".to_owned(),
        ("repeat", times) => format!(", {times} times in a row"),
        ("mode", mode) => format!(", with mode {mode}"),
        ("line", line) => format!(" (found in line {line})"),
        (other, _) => format!(", {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::captioned;

    #[test]
    fn each_file_has_its_path_above_it() {
        let page = "# a\n\n```bash tests/test.sh crlf line=2\n#!/bin/sh\n```\n\n```symlink a\nb\n```\n\n```absent c\n```\n\n```text\n$ x\n```\n";
        assert_eq!(
            captioned(page),
            "# a\n\n`tests/test.sh`, with CRLF line ends (found in line 2):\n\n```bash\n#!/bin/sh\n```\n\n`a` is a link to `b`.\n\n`c` is not there.\n\n```text\n$ x\n```\n"
        );
    }
}
