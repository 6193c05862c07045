//! Dockerfiles and Compose files, and the texts they came from.

use std::cell::OnceCell;
use std::sync::Arc;

use container_files::compose::ComposeFile;
use container_files::{Instruction, InstructionKind, Text};
use findings::{SourceFile, Span};

use crate::shell::Script;

/// A Dockerfile, its instructions with places.
#[derive(Debug)]
pub struct DockerfileView {
    /// The text; places point into it.
    pub source: Arc<SourceFile>,
    /// Every instruction in order.
    pub instructions: Vec<Instruction>,
    run_scripts: OnceCell<Vec<RunScript>>,
}

/// What one RUN instruction gives to a shell.
#[derive(Debug)]
pub struct RunScript {
    /// Its commands.
    pub script: Script,
    /// The text that the script's places count in.
    pub text: String,
    /// Where in the Dockerfile that text begins.
    offset: usize,
}

impl RunScript {
    /// Returns a place of the script as a place of the Dockerfile.
    #[must_use]
    pub fn place(&self, span: Span) -> Span {
        Span::new(span.start + self.offset, span.end + self.offset)
    }
}

/// The last stage of a Dockerfile with the stages that it is built on: the image that runs.
#[derive(Debug)]
pub struct Lineage<'a> {
    /// The image below, as written.
    pub from: &'a Text,
    /// The same with the variables of the first lines filled in, where they have values.
    pub image: &'a str,
    /// What is laid over it, in order.
    pub instructions: Vec<&'a Instruction>,
}

impl Lineage<'_> {
    /// Returns the working directory that the instructions set; `None` when the image below decides, or a variable.
    #[must_use]
    pub fn workdir(&self) -> Option<&str> {
        let last = self.instructions.iter().rev().find_map(|i| match &i.kind {
            InstructionKind::Workdir(path) => Some(path.value.trim_matches('"')),
            _ => None,
        })?;
        (last.starts_with('/') && !last.contains('$')).then_some(last)
    }
}

impl DockerfileView {
    /// Reads a Dockerfile; `None` when it does not parse, which loading reports where it matters.
    pub(super) fn parse(source: Arc<SourceFile>) -> Option<Self> {
        let instructions = container_files::instructions(source.text()).ok()?;
        Some(Self {
            source,
            instructions,
            run_scripts: OnceCell::new(),
        })
    }

    /// Returns the scripts of all RUN instructions in shell form, here-documents that a shell reads among them.
    #[must_use]
    pub fn run_scripts(&self) -> &[RunScript] {
        self.run_scripts.get_or_init(|| {
            let scripts = self
                .instructions
                .iter()
                .filter_map(|i| run_script(self.source.text(), i));
            scripts.collect()
        })
    }

    /// Returns the last stage and what it is built on; `None` of a file without a stage.
    #[must_use]
    pub fn lineage(&self) -> Option<Lineage<'_>> {
        let stages: Vec<Stage<'_>> = self.instructions.iter().filter_map(stage).collect();
        let mut at = stages.len().checked_sub(1)?;
        let mut chain = vec![at];
        // A name means the nearest stage before; so this ends.
        while let Some(below) = stages.get(at).and_then(|stage| {
            let wanted = stage.image.to_lowercase();
            stages
                .get(..at)?
                .iter()
                .rposition(|earlier| earlier.name == Some(wanted.as_str()))
        }) {
            chain.push(below);
            at = below;
        }
        let base = stages.get(at)?;
        let belongs = |instruction: &&Instruction| instruction.stage.is_some_and(|s| chain.contains(&s));
        Some(Lineage {
            from: base.from,
            image: base.image,
            instructions: self.instructions.iter().filter(belongs).collect(),
        })
    }
}

struct Stage<'a> {
    from: &'a Text,
    image: &'a str,
    name: Option<&'a str>,
}

fn stage(instruction: &Instruction) -> Option<Stage<'_>> {
    match &instruction.kind {
        InstructionKind::From {
            image,
            resolved,
            name,
            ..
        } => Some(Stage {
            from: image,
            image: resolved.as_deref().unwrap_or(&image.value),
            name: name.as_deref(),
        }),
        _ => None,
    }
}

fn run_script(file: &str, instruction: &Instruction) -> Option<RunScript> {
    let InstructionKind::Run { shell, documents, .. } = &instruction.kind else {
        return None;
    };
    let shell = shell.as_ref()?;
    // `RUN <<EOF`: the document is the script, taken as it stands so that its places hold.
    let (text, offset) = match documents.as_slice() {
        [document] if shell.value.trim().is_empty() => {
            (file.get(document.range.clone())?.to_owned(), document.range.start)
        }
        _ => (shell.value.clone(), shell.range.start),
    };
    Some(RunScript {
        script: Script::parse(&text),
        text,
        offset,
    })
}

/// A Compose file, its keys with places.
#[derive(Debug)]
pub struct ComposeView {
    /// The text; places point into it.
    pub source: Arc<SourceFile>,
    /// What it holds, variables not filled in.
    pub file: ComposeFile,
}

impl ComposeView {
    /// Reads a Compose file; `None` when it does not parse, which loading reports.
    pub(super) fn parse(source: Arc<SourceFile>) -> Option<Self> {
        let file = container_files::compose::parse(source.text().as_bytes()).ok()?;
        Some(Self { source, file })
    }
}
