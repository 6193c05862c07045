//! One requirement of a Python installer, as text.

use crate::shell::Word;

/// What a word asks an installer for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Requirement {
    /// The project's name, lower case, `_` as `-`; none of an address.
    pub(crate) name: Option<String>,
    /// As written, for messages.
    pub(crate) text: String,
    /// Whether it names exactly one version, or one commit.
    pub(crate) pinned: bool,
}

/// Reads a word; `None` when it is a local path, or its value is not known.
pub(crate) fn read(word: &Word) -> Option<Requirement> {
    read_text(word.literal.as_deref()?)
}

/// Reads a text.
pub(crate) fn read_text(text: &str) -> Option<Requirement> {
    let text = text.trim();
    if let Some((before, address)) = text.split_once("://") {
        if before == "file" {
            return None;
        }
        return Some(Requirement {
            name: None,
            text: text.to_owned(),
            pinned: has_commit(address),
        });
    }
    let local = text.starts_with(['.', '~']) || text.contains('/');
    let archive = [".whl", ".tar.gz", ".zip", ".tgz", ".tar.bz2"]
        .iter()
        .any(|end| text.ends_with(end));
    if local || archive {
        return None;
    }
    let name_end = text
        .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-')))
        .unwrap_or(text.len());
    let (name, rest) = text.split_at(name_end);
    if !name.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        return None;
    }
    let rest = rest.trim_start();
    let specifier = match rest.strip_prefix('[') {
        Some(extras) => extras.split_once(']')?.1,
        None => rest,
    };
    let specifier = specifier.split(';').next().unwrap_or_default().trim();
    if !(specifier.is_empty() || specifier.starts_with(['=', '>', '<', '~', '!', '@', '('])) {
        return None;
    }
    Some(Requirement {
        name: Some(name.to_ascii_lowercase().replace('_', "-")),
        text: text.to_owned(),
        pinned: specifier.split(',').any(is_exact),
    })
}

fn is_exact(clause: &str) -> bool {
    let Some(version) = clause.trim().strip_prefix("==") else {
        return false;
    };
    let version = version.trim_start_matches('=').trim();
    !version.is_empty() && !version.contains('*')
}

/// Says whether an address ends in a whole commit hash.
fn has_commit(address: &str) -> bool {
    let reference = address.rsplit('@').next().unwrap_or_default();
    let reference = reference.split('#').next().unwrap_or_default();
    reference.len() == 40 && reference.bytes().all(|b| b.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pinned(text: &str) -> Option<bool> {
        read_text(text).map(|requirement| requirement.pinned)
    }

    #[test]
    fn only_one_version_is_pinned() {
        for text in [
            "a==1.0",
            "a===1",
            "a[b]==1",
            "a == 1.0",
            "a==1,!=2",
            "a==1; python_version>'3'",
            "a==1!1.0",
        ] {
            assert_eq!(pinned(text), Some(true), "{text}");
        }
        for text in [
            "a",
            "a>=1",
            "a~=1.0",
            "a==1.*",
            "a>=1,<2",
            "a@1.0",
            "a[b]",
            "git+https://h/a/b",
            "https://h/x.whl",
        ] {
            assert_eq!(pinned(text), Some(false), "{text}");
        }
        let commit = "0123456789012345678901234567890123456789";
        assert_eq!(pinned(&format!("git+https://h/a/b@{commit}")), Some(true));
        assert_eq!(pinned(&format!("a @ git+https://h/a/b@{commit}")), Some(true));
        for text in [
            ".",
            "./x",
            "/a/x.whl",
            "x.whl",
            "~/x",
            "file:///x",
            "-",
            ":all:",
            "a*",
            "a,b==1",
        ] {
            assert_eq!(pinned(text), None, "{text}");
        }
    }
}
