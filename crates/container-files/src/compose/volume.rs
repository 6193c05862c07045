//! The short form of a volume, taken apart as Compose does (Compose specification, "volumes, short syntax").

/// The parts of `[SOURCE:]TARGET[:OPTIONS]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Short<'a> {
    pub(super) source: Option<&'a str>,
    pub(super) target: &'a str,
    pub(super) options: &'a str,
}

/// Takes a volume apart; `None` when it has too many parts or an empty one.
pub(super) fn short(written: &str) -> Option<Short<'_>> {
    let parts = parts(written);
    if parts.iter().any(|part| part.is_empty()) {
        return None;
    }
    let (source, target, options) = match parts.as_slice() {
        [target] => (None, *target, ""),
        [source, target] => (Some(*source), *target, ""),
        [source, target, options] => (Some(*source), *target, *options),
        _ => return None,
    };
    Some(Short {
        source,
        target,
        options,
    })
}

impl Short<'_> {
    /// Says whether the source is a path, and no name of a volume.
    pub(super) fn is_bind(&self) -> bool {
        self.source
            .is_some_and(|source| source.starts_with(['.', '/', '~', '\\']) || drive(source))
    }

    pub(super) fn read_only(&self) -> bool {
        self.options.split(',').any(|option| option == "ro")
    }
}

/// Splits at colons, but not after a single letter: Compose takes that for a drive of Windows, on every system.
fn parts(written: &str) -> Vec<&str> {
    let mut parts: Vec<&str> = Vec::new();
    let mut rest = written;
    loop {
        let from = if drive(rest) { 2 } else { 0 };
        let colon = rest.get(from..).and_then(|tail| tail.find(':'));
        let Some((part, after)) = colon.and_then(|at| rest.split_at_checked(from + at)) else {
            parts.push(rest);
            return parts;
        };
        parts.push(part);
        rest = after.strip_prefix(':').unwrap_or_default();
    }
}

fn drive(text: &str) -> bool {
    matches!(text.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(written: &str) -> Option<(Option<&str>, &str, &str)> {
        short(written).map(|s| (s.source, s.target, s.options))
    }

    #[test]
    fn parts_are_source_target_and_options() {
        assert_eq!(of("/d"), Some((None, "/d", "")));
        assert_eq!(of("./a:/d"), Some((Some("./a"), "/d", "")));
        assert_eq!(of("./a:/d:ro,z"), Some((Some("./a"), "/d", "ro,z")));
        assert_eq!(of("./a:/d:ro:x"), None);
        assert_eq!(of(":/d"), None);
        assert_eq!(of(""), None);
    }

    #[test]
    fn a_single_letter_is_a_drive() {
        assert_eq!(of("v:/d"), Some((None, "v:/d", "")));
        assert_eq!(of("v:/d:ro"), Some((Some("v:/d"), "ro", "")));
        assert_eq!(of("é:/d"), Some((Some("é"), "/d", "")));
    }

    #[test]
    fn paths_are_binds_and_names_are_not() {
        for (written, bind) in [
            (".:/d", true),
            ("/a:/d", true),
            ("~/a:/d", true),
            ("v:/a:/d", true),
            ("vol:/d", false),
            ("a/b:/d", false),
        ] {
            assert_eq!(short(written).unwrap().is_bind(), bind, "{written}");
        }
    }
}
