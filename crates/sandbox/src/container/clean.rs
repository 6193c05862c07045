//! Removes what runs that ended left behind: containers, networks, volumes and images with our label whose owner is dead.

use super::owner::{Life, OWNER, Owner};
use super::{CALL_LIMIT, CLEAR_LIMIT, Shared, compose};
use crate::api::SandboxError;

/// Kinds of things, in the order in which they can be removed: how they are listed and removed, and what they are called.
const KINDS: [Kind; 4] = [
    Kind {
        list: &["ps", "--all"],
        remove: &["rm", "--force", "--volumes"],
        id: "{{.ID}}",
        word: "container",
    },
    Kind {
        list: &["network", "ls"],
        remove: &["network", "rm"],
        id: "{{.ID}}",
        word: "network",
    },
    Kind {
        list: &["volume", "ls"],
        remove: &["volume", "rm"],
        id: "{{.Name}}",
        word: "volume",
    },
    Kind {
        list: &["image", "ls"],
        remove: &["image", "rm"],
        id: "{{.ID}}",
        word: "image",
    },
];

struct Kind {
    list: &'static [&'static str],
    remove: &'static [&'static str],
    id: &'static str,
    word: &'static str,
}

/// Removes what dead owners left; a line each.
pub(super) fn clean(shared: &Shared) -> Result<Vec<String>, SandboxError> {
    shared.info()?;
    let mut lines = Vec::new();
    let mut anyone = false;
    for kind in KINDS {
        // Images are shared by the runs: as long as one may use them, all stay.
        if kind.word == "image" && anyone {
            continue;
        }
        for (id, owner) in labelled(shared, &kind)? {
            let life = Owner::parse(&owner).map_or(Life::Unknown, |owner| owner.life(&shared.owner));
            anyone |= life != Life::Dead;
            if life != Life::Dead {
                continue;
            }
            let mut args = kind.remove.to_vec();
            args.push(&id);
            match shared.cli.clear(&args, CLEAR_LIMIT) {
                Ok(()) => lines.push(format!("{}: removed {} `{id}`", shared.name, kind.word)),
                // Somebody else was faster, or uses it.
                Err(failure) => {
                    lines.push(format!(
                        "{}: {} `{id}` stays: {}",
                        shared.name,
                        kind.word,
                        failure.text()
                    ));
                }
            }
        }
    }
    lines.extend(compose::clean(shared));
    Ok(lines)
}

/// Returns the ids and owners of what bears our label.
fn labelled(shared: &Shared, kind: &Kind) -> Result<Vec<(String, String)>, SandboxError> {
    let filter = format!("label={OWNER}");
    let mut args = kind.list.to_vec();
    args.extend(["--filter", filter.as_str(), "--format", kind.id]);
    let answer = shared.cli.ask(&args, CALL_LIMIT)?;
    let ids: Vec<String> = String::from_utf8_lossy(&answer)
        .split_whitespace()
        .map(str::to_owned)
        .collect();
    let mut found = Vec::new();
    for id in ids {
        let format = if matches!(kind.word, "container" | "image") {
            format!("{{{{index .Config.Labels \"{OWNER}\"}}}}")
        } else {
            format!("{{{{index .Labels \"{OWNER}\"}}}}")
        };
        // One that went meanwhile is nobody's.
        if let Ok(owner) = shared
            .cli
            .ask_line(&[kind.word, "inspect", "--format", &format, &id], CALL_LIMIT)
        {
            found.push((id, owner));
        }
    }
    Ok(found)
}
