//! A Dockerfile and the text it came from.

use std::sync::Arc;

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

    /// Returns the scripts of all RUN instructions in shell form, each with the offset that its spans count from.
    #[must_use]
    pub fn run_scripts(&self) -> Vec<(Script, usize)> {
        let shell_form = |instruction: &Instruction| match &instruction.kind {
            InstructionKind::Run {
                shell: Some(text), ..
            } => Some((Script::parse(&text.value), text.range.start)),
            _ => None,
        };
        self.instructions.iter().filter_map(shell_form).collect()
    }
}
