//! Commands that fetch a file or a program from another machine.

use crate::shell::{Command, Script, Word};

/// Returns the host that a command fetches a file or a program from.
pub(crate) fn host(script: &Script, at: usize, command: &Command) -> Option<String> {
    let texts = command.texts();
    let named = || command.arguments.iter().find_map(remote_host);
    match command.name()? {
        "git" if texts.first() == Some(&"clone") => {
            let address = command
                .arguments
                .iter()
                .find_map(|word| ssh_host(word.literal.as_deref()?));
            named().or(address)
        }
        "wget" if texts.contains(&"--spider") => None,
        "wget" if writes_stdout(&texts) && !into_shell(script, at, command) => None,
        "wget" => named(),
        "curl" if keeps(&texts) || command.written().next().is_some() || into_shell(script, at, command) => {
            named()
        }
        _ => None,
    }
}

/// `-O -` in one of its spellings.
fn writes_stdout(texts: &[&str]) -> bool {
    texts.iter().enumerate().any(|(at, text)| {
        let short = text.starts_with('-') && !text.starts_with("--");
        (short && text.ends_with("O-")) || (short && text.ends_with('O') && texts.get(at + 1) == Some(&"-"))
    })
}

/// Says whether curl is told to keep what it gets.
fn keeps(texts: &[&str]) -> bool {
    texts.iter().enumerate().any(|(at, text)| {
        let target = match *text {
            "-O" => return true,
            "-o" | "--output" => texts.get(at + 1).copied(),
            other => other
                .strip_prefix("--output=")
                .or_else(|| other.strip_prefix("-o").filter(|rest| !rest.is_empty())),
        };
        target.is_some_and(|target| !matches!(target, "-" | "/dev/null"))
    })
}

/// Says whether the next command of the pipe is a shell.
fn into_shell(script: &Script, at: usize, command: &Command) -> bool {
    let next = script
        .commands
        .iter()
        .skip(at + 1)
        .find(|next| next.span.start >= command.span.end);
    next.is_some_and(|next| {
        next.place.pipe == command.place.pipe + 1 && matches!(next.name(), Some("sh" | "bash"))
    })
}

/// Returns the host of an address when it is known and not this machine.
fn remote_host(word: &Word) -> Option<String> {
    let text = word.literal.as_deref().unwrap_or(&word.prefix);
    let (scheme, rest) = text.split_once("://")?;
    if !matches!(
        scheme.to_ascii_lowercase().as_str(),
        "http" | "https" | "ftp" | "git" | "ssh"
    ) {
        return None;
    }
    let end = rest.find(['/', ':', '?', '#']);
    if end.is_none() && word.literal.is_none() {
        return None;
    }
    let host = rest.get(..end.unwrap_or(rest.len()))?;
    let host = host.rsplit('@').next().unwrap_or(host);
    is_remote(host).then(|| host.to_owned())
}

/// `user@host:path`.
fn ssh_host(text: &str) -> Option<String> {
    let (user, rest) = text.split_once('@')?;
    let (host, _) = rest.split_once(':')?;
    (!user.contains('/') && is_remote(host)).then(|| host.to_owned())
}

fn is_remote(host: &str) -> bool {
    let lower = host.to_ascii_lowercase();
    let here = lower.starts_with("127.") || lower == "0.0.0.0" || lower.ends_with(".localhost");
    lower.contains('.') && !here
}
