//! One task's folder as it will be published.

use std::collections::BTreeMap;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use findings::Finding;
use task_model::digest::{self, DigestFault};
use task_model::tree::{COVERED_FILES, COVERED_FOLDERS};
use task_model::{Content, Grader, NodeKind, Reference, Resolved, Task, TaskTree, TreeNode};

use super::{TaskPlan, solution};
use crate::bake::{self, Overrides};
use crate::rules;

/// Ignore files of the task's root that travel with it.
const IGNORE_FILES: [&str; 2] = [".gitignore", digest::HARBORIGNORE];
/// The largest answer.md that is turned into a script.
const MAX_ANSWER: u64 = 16 << 20;

/// Plans one task; what stands against it goes to `findings`.
pub(super) fn plan(
    task: &Task,
    overrides: Option<&Overrides>,
    findings: &mut Vec<Finding>,
) -> Option<TaskPlan> {
    let mut nodes = Nodes {
        task,
        nodes: BTreeMap::new(),
    };
    nodes.copy_covered(findings);
    if let Some(overrides) = overrides {
        match bake::task_toml(task, overrides) {
            Ok(Some(text)) => nodes.put("task.toml".into(), text.into_bytes().into(), 0o644),
            Ok(None) => {}
            Err(fault) => findings.push(bake::finding(task, fault)),
        }
    }
    let shim = shim_builder::plan(task, None);
    let mut needed: Vec<Utf8PathBuf> = needed_by_harbor(task);
    if let Some(shim) = &shim {
        nodes.folder("tests".into(), 0o755);
        for file in &shim.files {
            let path = Utf8Path::new("tests").join(&file.path);
            nodes.put(path.clone(), Arc::clone(&file.bytes), file.mode);
            needed.push(path);
        }
        needed.push("tests/verifier.py".into());
    }
    match task.reference {
        Reference::AnswerMd => match task.tree.read("solution/answer.md", MAX_ANSWER) {
            Ok(answer) => {
                nodes.nodes.remove(Utf8Path::new("solution/answer.md"));
                nodes.put(
                    "solution/solve.sh".into(),
                    shim_builder::answer_solve_sh(&answer).into(),
                    0o755,
                );
            }
            Err(fault) => findings.push(
                Finding::new(&rules::NOT_LOADED, format!("`solution/answer.md` {fault}"))
                    .help("write `solution/solve.sh`, which makes the answer")
                    .at_path(task.folder.join("solution/answer.md")),
            ),
        },
        Reference::SolveSh => {
            nodes.nodes.remove(Utf8Path::new("solution/answer.md"));
        }
        Reference::None => {}
    }
    let root = task.tree.root().unwrap_or(&task.folder).to_owned();
    let tree = TaskTree::rendered(nodes.nodes.into_values().collect(), root);
    findings.extend(ignored(task, &tree, &needed));
    findings.extend(left_out(task));
    Some(TaskPlan {
        id: task.id.clone(),
        source: task.folder.clone(),
        name: task
            .declared
            .as_ref()
            .and_then(|toml| Some(toml.task.as_ref()?.name.value.clone())),
        tree,
        grader: match task.grader {
            Grader::Python(_) => "shim",
            Grader::Image => "image",
            Grader::TestSh | Grader::None => "test.sh",
        },
        solution: solution(task),
    })
}

/// Files without which Harbor cannot run the published task, if they are there.
fn needed_by_harbor(task: &Task) -> Vec<Utf8PathBuf> {
    let mut needed: Vec<Utf8PathBuf> = [
        "task.toml",
        "instruction.md",
        "tests/test.sh",
        "solution/solve.sh",
        "environment/Dockerfile",
        "environment/docker-compose.yaml",
    ]
    .map(Utf8PathBuf::from)
    .to_vec();
    let steps = task.declared.iter().flat_map(|toml| &toml.steps);
    for step in steps {
        let folder = Utf8Path::new("steps").join(&step.name.value);
        needed.extend(["instruction.md", "tests/test.sh", "solution/solve.sh"].map(|name| folder.join(name)));
    }
    needed
}

struct Nodes<'a> {
    task: &'a Task,
    nodes: BTreeMap<Utf8PathBuf, TreeNode>,
}

impl Nodes<'_> {
    fn copy_covered(&mut self, findings: &mut Vec<Finding>) {
        let tree = &self.task.tree;
        for name in COVERED_FILES.into_iter().chain(IGNORE_FILES) {
            if let Some(node) = tree.get(name)
                && !matches!(node.kind, NodeKind::Folder)
            {
                self.copy(node, findings);
            }
        }
        for name in COVERED_FOLDERS {
            let Some(node) = tree.get(name).filter(|_| tree.is_folder(name)) else {
                continue;
            };
            let mode = if matches!(node.kind, NodeKind::Link(_)) {
                0o755
            } else {
                node.mode
            };
            self.folder(name.into(), mode);
            for node in tree.under(name) {
                self.copy(node, findings);
            }
        }
    }

    fn copy(&mut self, node: &TreeNode, findings: &mut Vec<Finding>) {
        match &node.kind {
            NodeKind::Folder => self.folder(node.path.clone(), node.mode),
            NodeKind::File(content) => self.file(node.path.clone(), content.clone(), node.mode),
            // The loader has said that nothing can package it.
            NodeKind::Special(_) => {}
            NodeKind::Link(_) => match self.task.tree.resolve(&node.path) {
                Resolved::File(target) => match self.content(&target) {
                    Some((content, mode)) => self.file(node.path.clone(), content, mode),
                    None => findings.push(self.bad_link(&node.path, "cannot be read")),
                },
                Resolved::Folder(_) => findings.push(self.bad_link(&node.path, "leads to a folder")),
                Resolved::Leaves => findings.push(self.bad_link(&node.path, "leaves the task")),
                Resolved::Loop => findings.push(self.bad_link(&node.path, "leads back to itself")),
                Resolved::Dangling | Resolved::Special(_) => {}
            },
        }
    }

    fn bad_link(&self, path: &Utf8Path, what: &str) -> Finding {
        Finding::new(&rules::LINK, format!("the link `{path}` {what}"))
            .at_path(self.task.folder.join(path))
            .help("put a copy in its place")
    }

    /// Returns the bytes and mode of a file in the task, also of one that the tree does not list.
    fn content(&self, target: &Utf8Path) -> Option<(Content, u32)> {
        if let Some(TreeNode {
            kind: NodeKind::File(content),
            mode,
            ..
        }) = self.task.tree.get(target)
        {
            return Some((content.clone(), *mode));
        }
        let path = self.task.tree.root()?.join(target);
        let stat = rustix::fs::lstat(path.as_str()).ok()?;
        let size = u64::try_from(stat.st_size).ok()?;
        Some((Content::Disk { path, size }, stat.st_mode & 0o777))
    }

    fn folder(&mut self, path: Utf8PathBuf, mode: u32) {
        let kind = NodeKind::Folder;
        let node = TreeNode {
            path: path.clone(),
            kind,
            mode: mode & 0o777 | 0o555,
        };
        match self.nodes.get(&path).map(|node| &node.kind) {
            Some(NodeKind::Folder) => {}
            _ => drop(self.nodes.insert(path, node)),
        }
    }

    fn file(&mut self, path: Utf8PathBuf, content: Content, mode: u32) {
        let executable = if mode & 0o111 == 0 { 0 } else { 0o111 };
        let mode = mode & 0o777 | 0o444 | executable;
        self.nodes.insert(
            path.clone(),
            TreeNode {
                path,
                kind: NodeKind::File(content),
                mode,
            },
        );
    }

    /// Adds a file of ours, and the folders above it.
    fn put(&mut self, path: Utf8PathBuf, bytes: Arc<[u8]>, mode: u32) {
        for folder in path.ancestors().skip(1).filter(|path| !path.as_str().is_empty()) {
            self.folder(folder.to_owned(), 0o755);
        }
        // A folder of that name would keep its files.
        self.nodes
            .retain(|other, _| other == &path || !other.starts_with(&path));
        self.nodes.insert(
            path.clone(),
            TreeNode {
                path,
                kind: NodeKind::File(Content::Memory(bytes)),
                mode,
            },
        );
    }
}

/// Refuses ignore rules that drop what the published task needs.
fn ignored(task: &Task, tree: &TaskTree, needed: &[Utf8PathBuf]) -> Vec<Finding> {
    let package = match digest::Package::of(tree) {
        Ok(package) => package,
        Err(fault) => return vec![unhashable(task, &fault)],
    };
    let mut found = Vec::new();
    for path in needed.iter().filter(|path| tree.get(path).is_some()) {
        match package.left_out_by(path) {
            Ok(None) => {}
            Ok(Some(by)) => found.push(
                Finding::new(
                    &rules::IGNORED,
                    format!("this line would drop `{path}` from Harbor's package"),
                )
                .at(&by.source, by.span)
                .help("remove the line, or except the file with a later line that starts with `!`"),
            ),
            Err(fault) => return vec![unhashable(task, &fault)],
        }
    }
    found
}

fn unhashable(task: &Task, fault: &DigestFault) -> Finding {
    let message = format!("`{}` has no content hash: {fault}", task.id);
    Finding::new(&rules::NOT_LOADED, message).at_path(task.folder.clone())
}

/// Names what stays with the source.
fn left_out(task: &Task) -> Option<Finding> {
    let travels = |name: &str| {
        COVERED_FILES.contains(&name) || COVERED_FOLDERS.contains(&name) || IGNORE_FILES.contains(&name)
    };
    let names: Vec<String> = task
        .tree
        .nodes()
        .iter()
        .map(|node| node.path.as_str())
        .filter(|path| !path.contains('/') && !travels(path))
        .map(|name| format!("`{name}`"))
        .collect();
    if names.is_empty() {
        return None;
    }
    let message = format!("not part of the published task: {}", names.join(", "));
    let finding = Finding::new(&rules::LEFT_OUT, message)
        .help("what the task needs when it runs belongs into `environment`, `tests` or `solution`");
    Some(finding.at_path(task.folder.clone()))
}
