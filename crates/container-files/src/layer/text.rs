//! The text of a shell-form command, its lines put together as docker's reader does.

/// Returns the text in one piece: an escape at a line's end takes the line feed along, comment and empty lines inside
/// are left out.
pub(super) fn joined(text: &str, escape: char) -> String {
    let mut out = String::with_capacity(text.len());
    let mut first = true;
    for line in text.split('\n') {
        let line = line.strip_suffix('\r').unwrap_or(line);
        let start = line.trim_start();
        if !first && (start.starts_with('#') || start.trim_end().is_empty()) {
            continue;
        }
        first = false;
        let end = line.trim_end();
        match end.strip_suffix(escape) {
            Some(rest) => out.push_str(rest),
            None => out.push_str(line),
        }
    }
    out.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::joined;

    #[test]
    fn lines_are_put_together_as_docker_does() {
        for (text, expected) in [
            ("a b", "a b"),
            ("  a  \n", "a"),
            ("a \\\n  && b", "a   && b"),
            ("a\\\nb", "ab"),
            ("a \\\r\n  b\r\n", "a   b"),
            ("a \\  \n# note\n\n  # more\n b \\\n c", "a  b  c"),
            ("echo \"#\" # x", "echo \"#\" # x"),
        ] {
            assert_eq!(joined(text, '\\'), expected, "{text:?}");
        }
        assert_eq!(joined("a `\n b\\", '`'), "a  b\\");
    }
}
