//! Variables that only interactive shells have.

use findings::{Level, RuleMeta, Span};

use crate::context::{DockerfileView, TaskContext};
use crate::rules::shell::paths::read_words;
use crate::shell::{Command, Word};
use crate::{Check, Found, Rule};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: "GD816",
        name: "shell-startup-file",
        level: Level::Note,
        summary: "The image sets variables in ~/.bashrc or its like, which only interactive shells read: test.sh and solve.sh do not.",
        page: include_str!("../../../pages/shell-startup-file.md"),
    },
    on: true,
    check: Check::Task(check),
};

fn check(task: &TaskContext<'_>, found: &mut Found) {
    let Some(dockerfile) = task.dockerfile("environment/Dockerfile") else {
        return;
    };
    let scripts: Vec<_> = task.graders().into_iter().chain(task.solvers()).collect();
    let mut read = false;
    let leaves = returns_at_once(&dockerfile);
    for path in scripts {
        let (Some(source), Some(script)) = (task.text(&path), task.script(&path)) else {
            continue;
        };
        let interactive = source.text().contains("PS1");
        let login = script.shebang.as_deref().is_some_and(|line| line.contains(" -"));
        read |= login || source.text().contains("bash -");
        for word in script
            .commands
            .iter()
            .flat_map(sourced)
            .filter(|word| is_startup(word))
        {
            read = true;
            let of_root = matches!(word.literal.as_deref(), Some("~/.bashrc" | "/root/.bashrc"));
            if leaves && of_root && !interactive {
                let finding = task
                    .finding(
                        &RULE.meta,
                        "Ubuntu's `.bashrc` returns at once unless the shell is interactive",
                    )
                    .at(&source, word.span)
                    .help("set the variables with ENV in the Dockerfile, or in the script itself");
                found.add(finding);
            }
        }
    }
    // BASH_ENV makes every bash read a file.
    if read || dockerfile.source.text().contains("BASH_ENV") {
        return;
    }
    if let Some((span, file)) = sets_variables(&dockerfile) {
        let finding = task
            .finding(&RULE.meta, format!("test.sh and solve.sh do not read `{file}`"))
            .at(&dockerfile.source, span)
            .help("set the variables with ENV");
        found.add(finding);
    }
}

fn sourced(command: &Command) -> Vec<&Word> {
    match command.name() {
        Some("source" | ".") => read_words(command),
        _ => Vec::new(),
    }
}

/// Says whether a word names a file that shells read when they start.
fn is_startup(word: &Word) -> bool {
    let text = word.literal.as_deref().unwrap_or_default();
    let name = text.rsplit('/').next().unwrap_or(text);
    matches!(
        name,
        ".bashrc" | ".bash_profile" | ".profile" | ".zshrc" | "bash.bashrc"
    ) || text == "/etc/profile"
        || text.starts_with("/etc/profile.d/")
}

/// Root's `.bashrc` in Ubuntu's images begins with a line that ends it; what is appended is not reached.
fn returns_at_once(dockerfile: &DockerfileView) -> bool {
    let ubuntu = dockerfile
        .lineage()
        .is_some_and(|lineage| lineage.image == "ubuntu" || lineage.image.starts_with("ubuntu:"));
    let mut commands = dockerfile
        .run_scripts()
        .iter()
        .flat_map(|run| &run.script.commands);
    let replaced = commands.any(|command| {
        let mut redirects = command.redirects.iter();
        redirects.any(|redirect| redirect.operator == ">" && is_startup(&redirect.target))
            || (command.name() == Some("sed") && command.arguments.iter().any(is_startup))
    });
    ubuntu && !replaced
}

/// Returns the first RUN command that writes a variable into such a file.
fn sets_variables(dockerfile: &DockerfileView) -> Option<(Span, String)> {
    for run in dockerfile.run_scripts() {
        for command in &run.script.commands {
            let Some(file) = command.written().find(|word| is_startup(word)) else {
                continue;
            };
            let mut words = command
                .arguments
                .iter()
                .chain(command.redirects.iter().map(|r| &r.target));
            if words.any(|word| word.prefix.contains("export ") || word.prefix.contains("PATH=")) {
                let file = file.literal.clone().unwrap_or_default();
                return Some((run.place(command.span), file));
            }
        }
    }
    None
}
