//! Answers packed into an archive.

use std::collections::BTreeMap;
use std::io::Read;

use findings::{Level, RuleMeta};
use task_model::TreeNode;

use super::zip;
use crate::context::{TaskContext, size_of};
use crate::rules::files::answer_in_environment::{LONGEST, SHORTEST, is_answer};
use crate::{Check, Found, Rule};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: "GD760",
        name: "archived-answer",
        level: Level::Warning,
        summary: "An archive in environment/ holds a file of the solution or of the tests, where the agent can unpack it.",
        page: include_str!("../../../pages/archived-answer.md"),
    },
    on: true,
    check: Check::Task(check),
};

/// Longer archives are not opened, bytes.
const LARGEST: u64 = 64 << 20;
/// More of what comes out of one is not read, bytes.
const MOST_UNPACKED: u64 = 64 << 20;
/// More archives are not opened.
const MOST_ARCHIVES: usize = 8;
/// More members are not looked at.
const MOST_MEMBERS: usize = 20_000;

/// With more files of one size a member is not compared, beyond these.
const MOST_ALIKE: usize = 16;

/// The files that the agent must not have, by size.
type Secrets<'a> = BTreeMap<u64, Vec<&'a TreeNode>>;

fn check(task: &TaskContext<'_>, found: &mut Found) {
    let tree = &task.task.tree;
    let archives: Vec<&TreeNode> = tree
        .under("environment")
        .iter()
        .filter(|node| is_archive(node.path.as_str()) && size_of(node).is_some_and(|size| size <= LARGEST))
        .take(MOST_ARCHIVES)
        .collect();
    if archives.is_empty() {
        return;
    }
    let mut secrets = Secrets::new();
    for node in tree.under("solution").iter().chain(tree.under("tests")) {
        if let Some(size) =
            size_of(node).filter(|size| (SHORTEST..=LONGEST).contains(size) && is_secret(node))
        {
            secrets.entry(size).or_default().push(node);
        }
    }
    for node in archives {
        let Ok(bytes) = tree.read(&node.path, LARGEST) else {
            continue;
        };
        for (member, secret) in members_among(task, &bytes, &secrets) {
            let message = format!("`{}` holds `{secret}`, as `{member}`", node.path);
            let finding = task
                .finding(&RULE.meta, message)
                .at_path(task.path(&node.path))
                .help("keep it out of the archive: what grades the agent comes into the sandbox by itself");
            found.add(finding);
        }
    }
}

fn is_archive(path: &str) -> bool {
    [".tar", ".tar.gz", ".tgz", ".zip"]
        .iter()
        .any(|end| path.ends_with(end))
}

/// Says whether a file is one of the answers, or what grades them.
fn is_secret(node: &TreeNode) -> bool {
    let name = node.path.file_name().unwrap_or_default();
    is_answer(node) || name == "test.sh" || (name.starts_with("test_") && name.ends_with(".py"))
}

/// Returns the members of an archive that have the bytes of a secret, each with that file's path. A damaged archive
/// ends at its fault.
fn members_among(task: &TaskContext<'_>, bytes: &[u8], secrets: &Secrets<'_>) -> Vec<(String, String)> {
    let secret = |size: u64, content: &mut dyn FnMut() -> Option<Vec<u8>>| {
        let candidates = secrets.get(&size)?;
        let content = content()?;
        let same = |node: &&&TreeNode| {
            let own = task.task.tree.read(&node.path, LONGEST);
            own.is_ok_and(|own| own[..] == content[..])
        };
        candidates
            .iter()
            .take(MOST_ALIKE)
            .find(same)
            .map(|node| node.path.to_string())
    };
    let mut all = Vec::new();
    if bytes.starts_with(b"PK") {
        // Members can share their bytes, and so hold more than the archive is long.
        let mut left = MOST_UNPACKED;
        let members = zip::members(bytes).take(MOST_MEMBERS);
        for member in members.filter(|member| secrets.contains_key(&member.size)) {
            left = left.saturating_sub(member.size);
            if left == 0 {
                break;
            }
            let found = secret(member.size, &mut || member.content());
            all.extend(found.map(|path| (String::from_utf8_lossy(member.name).into_owned(), path)));
        }
        return all;
    }
    let unpacked: Box<dyn Read + '_> = if bytes.starts_with(&[0x1f, 0x8b]) {
        Box::new(flate2::read::MultiGzDecoder::new(bytes))
    } else {
        Box::new(bytes)
    };
    let mut archive = tar::Archive::new(unpacked.take(MOST_UNPACKED));
    let Ok(entries) = archive.entries() else {
        return all;
    };
    for mut entry in entries.map_while(Result::ok).take(MOST_MEMBERS) {
        if !entry.header().entry_type().is_file() {
            continue;
        }
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let found = secret(entry.size(), &mut || {
            let mut content = Vec::new();
            entry.read_to_end(&mut content).ok()?;
            Some(content)
        });
        all.extend(found.map(|path| (name, path)));
    }
    all
}
