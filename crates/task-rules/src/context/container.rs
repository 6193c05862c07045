//! Dockerfiles and Compose files, and the texts they came from.

use std::sync::Arc;

use container_files::compose::ComposeFile;
use container_files::{Instruction, InstructionKind};
use findings::SourceFile;

use crate::shell::Script;

/// A Dockerfile, its instructions with places.
#[derive(Debug)]
pub struct DockerfileView {
    /// The text; places point into it.
    pub source: Arc<SourceFile>,
    /// Every instruction in order.
    pub instructions: Vec<Instruction>,
}

impl DockerfileView {
    /// Reads a Dockerfile; `None` when it does not parse, which loading reports where it matters.
    pub(super) fn parse(source: Arc<SourceFile>) -> Option<Self> {
        let instructions = container_files::instructions(source.text()).ok()?;
        Some(Self { source, instructions })
    }

    /// Returns the scripts of all RUN instructions in shell form, each with its text and the offset that its spans
    /// count from.
    #[must_use]
    pub fn run_scripts(&self) -> Vec<(Script, String, usize)> {
        let shell_form = |instruction: &Instruction| match &instruction.kind {
            InstructionKind::Run {
                shell: Some(text), ..
            } => Some((Script::parse(&text.value), text.value.clone(), text.range.start)),
            _ => None,
        };
        self.instructions.iter().filter_map(shell_form).collect()
    }
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
