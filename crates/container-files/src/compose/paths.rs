//! Paths in a Compose file, relative to its folder.

/// Why a path is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leaves {
    /// Absolute, of a home, or of another system.
    Host,
    /// By `..`.
    Up,
}

/// Returns a path without `.` and `..`, `.` for the folder itself.
pub(super) fn inside(text: &str) -> Result<String, Leaves> {
    if text.is_empty() || text.starts_with(['/', '~']) || text.contains(['\\', '\0']) {
        return Err(Leaves::Host);
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in text.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop().ok_or(Leaves::Up)?;
            }
            part => parts.push(part),
        }
    }
    Ok(if parts.is_empty() {
        ".".to_owned()
    } else {
        parts.join("/")
    })
}
