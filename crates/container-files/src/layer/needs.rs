//! What of a Dockerfile only a build can do.

use std::ops::Range;

use parse_dockerfile::{Dockerfile, Instruction};

use crate::settings::PREDEFINED;
use crate::words;

/// Returns the first such thing, as a reader would name it, with its place in the file.
pub(crate) fn needs_build(file: &Dockerfile<'_>, shift: usize) -> Option<(String, Range<usize>)> {
    let mut stages = file.stages();
    let first = stages.next()?;
    let found = if let Some(flag) = first.from.options.first() {
        Some((format!("FROM --{}", flag.name.value), flag.span()))
    } else {
        first.instructions.iter().find_map(of_instruction)
    };
    let found = found.or_else(|| {
        let second = stages.next()?;
        Some(("a second FROM".to_owned(), second.from.from.span.clone()))
    });
    found.map(|(name, place)| (name, shift + place.start..shift + place.end))
}

fn of_instruction(instruction: &Instruction<'_>) -> Option<(String, Range<usize>)> {
    match instruction {
        Instruction::Copy(copy) => Some(("COPY".to_owned(), copy.copy.span.clone())),
        Instruction::Add(add) => Some(("ADD".to_owned(), add.add.span.clone())),
        Instruction::Run(run) if !run.options.is_empty() => {
            let flag = run.options.first()?;
            Some((format!("RUN --{}", flag.name.value), run.run.span.clone()))
        }
        Instruction::Run(run) if !run.here_docs.is_empty() => {
            Some(("RUN with a here-document".to_owned(), run.run.span.clone()))
        }
        // Its value comes from the builder.
        Instruction::Arg(arg) => {
            let words = arg.arguments.value.split_whitespace();
            let mut names = words.map(|word| words::assignment(word).map_or(word, |(name, _)| name));
            let name = names.find(|name| PREDEFINED.contains(name))?;
            Some((format!("ARG {name}"), arg.arg.span.clone()))
        }
        Instruction::Cmd(_)
        | Instruction::Entrypoint(_)
        | Instruction::Env(_)
        | Instruction::Expose(_)
        | Instruction::Healthcheck(_)
        | Instruction::Label(_)
        | Instruction::Maintainer(_)
        | Instruction::Onbuild(_)
        | Instruction::Run(_)
        | Instruction::Shell(_)
        | Instruction::Stopsignal(_)
        | Instruction::User(_)
        | Instruction::Volume(_)
        | Instruction::Workdir(_) => None,
        Instruction::From(from) => Some(("a second FROM".to_owned(), from.from.span.clone())),
        _ => Some(("an instruction of a newer kind".to_owned(), 0..1)),
    }
}
