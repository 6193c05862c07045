//! The instructions of a Dockerfile one by one, with places: what rules look at.

use std::ops::Range;

use parse_dockerfile::{Command, Flag, Source, UnescapedString};

use crate::dockerfile::{MAX_BYTES, line_start, without_empty_entrypoints};
use crate::documents::without_inner_documents;
use crate::{ParseFault, words};

/// A text and its bytes in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// The words, quotes and continuations resolved as far as the parser does; variables are not filled in.
    pub value: String,
    /// Where it stands.
    pub range: Range<usize>,
}

/// One instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// The stage it belongs to, from 0; ARG before the first FROM has none.
    pub stage: Option<usize>,
    /// Its keyword's place.
    pub keyword: Range<usize>,
    /// What it says.
    pub kind: InstructionKind,
}

/// What an instruction says, as far as rules look at it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InstructionKind {
    /// `FROM image AS name`.
    From {
        /// As written.
        image: Text,
        /// The image with the ARGs before the first FROM filled in, when they have defaults.
        resolved: Option<String>,
        /// The stage's name, lower case.
        name: Option<String>,
        /// Whether `--platform` is given.
        platform: Option<String>,
    },
    /// RUN. In shell form `shell` is the text as one script (comment lines between continuations blanked, so that
    /// offsets hold); the exec form has its words; here-documents follow.
    Run {
        /// Shell form.
        shell: Option<Text>,
        /// Exec form.
        exec: Vec<String>,
        /// Here-documents.
        documents: Vec<Text>,
    },
    /// COPY or ADD.
    Copy {
        /// Whether it is ADD.
        add: bool,
        /// `--from`.
        from: Option<String>,
        /// Paths; here-documents left out.
        sources: Vec<Text>,
        /// Destination.
        destination: Text,
    },
    /// WORKDIR.
    Workdir(Text),
    /// USER.
    User(Text),
    /// ENTRYPOINT or CMD; only that it is there.
    Start,
    /// Anything else.
    Other,
}

impl InstructionKind {
    /// Returns the texts of a RUN: its script, its here-documents and its words; of another instruction none.
    pub fn run_texts(&self) -> impl Iterator<Item = &str> {
        let (shell, exec, documents) = match self {
            Self::Run {
                shell,
                exec,
                documents,
            } => (shell.as_ref(), exec.as_slice(), documents.as_slice()),
            _ => (None, [].as_slice(), [].as_slice()),
        };
        let texts = shell.into_iter().chain(documents);
        texts
            .map(|text| text.value.as_str())
            .chain(exec.iter().map(String::as_str))
    }
}

/// Reads the instructions of a Dockerfile.
///
/// # Errors
/// The first syntax fault.
pub fn instructions(text: &str) -> Result<Vec<Instruction>, ParseFault> {
    if text.len() > MAX_BYTES {
        return Err(ParseFault {
            message: "longer than 2 MiB".to_owned(),
            offset: 0,
        });
    }
    let original = text.strip_prefix('\u{feff}').unwrap_or(text);
    let shift = text.len() - original.len();
    let single = without_inner_documents(original);
    let body = without_empty_entrypoints(&single);
    let file = parse_dockerfile::parse(&body).map_err(|error| ParseFault {
        message: format!("{error:#}"),
        offset: shift + line_start(&body, error.line()),
    })?;
    let escape = words::Escape(
        file.parser_directives
            .escape
            .as_ref()
            .map_or('\\', |escape| escape.value.value),
    );
    let mut global = crate::settings::Arguments::default();
    for arg in file.global_args() {
        global.declare_global(&arg.arguments.value, escape);
    }
    let reader = Reader {
        body: &body,
        shift,
        escape,
    };
    let mut stage = None;
    let mut all = Vec::with_capacity(file.instructions.len());
    for instruction in &file.instructions {
        let (keyword, mut kind) = reader.read(instruction);
        if let InstructionKind::From { image, resolved, .. } = &mut kind {
            stage = Some(stage.map_or(0, |stage: usize| stage + 1));
            *resolved = global.expand(&image.value, escape);
        }
        all.push(Instruction { stage, keyword, kind });
    }
    Ok(all)
}

struct Reader<'a> {
    body: &'a str,
    shift: usize,
    escape: words::Escape,
}

impl Reader<'_> {
    fn read(&self, instruction: &parse_dockerfile::Instruction<'_>) -> (Range<usize>, InstructionKind) {
        use parse_dockerfile::Instruction as I;
        let (span, kind) = match instruction {
            I::From(from) => {
                let kind = InstructionKind::From {
                    image: self.text(&from.image),
                    resolved: None,
                    name: from.as_.as_ref().map(|(_, name)| name.value.to_lowercase()),
                    platform: flag(&from.options, "platform"),
                };
                (&from.from.span, kind)
            }
            I::Run(run) => (&run.run.span, self.run(run)),
            I::Copy(copy) => (
                &copy.copy.span,
                self.copy(false, &copy.options, &copy.src, &copy.dest),
            ),
            I::Add(add) => (&add.add.span, self.copy(true, &add.options, &add.src, &add.dest)),
            I::Workdir(workdir) => (
                &workdir.workdir.span,
                InstructionKind::Workdir(self.text(&workdir.arguments)),
            ),
            I::User(user) => (&user.user.span, InstructionKind::User(self.text(&user.arguments))),
            I::Entrypoint(entrypoint) => (&entrypoint.entrypoint.span, InstructionKind::Start),
            I::Cmd(cmd) => (&cmd.cmd.span, InstructionKind::Start),
            I::Arg(arg) => (&arg.arg.span, InstructionKind::Other),
            I::Env(env) => (&env.env.span, InstructionKind::Other),
            _ => return (self.shift..self.shift, InstructionKind::Other),
        };
        (self.place(span), kind)
    }

    fn run(&self, run: &parse_dockerfile::RunInstruction<'_>) -> InstructionKind {
        let mut shell = None;
        let mut exec = Vec::new();
        match &run.arguments {
            Command::Exec(words) => exec = words.value.iter().map(|word| word.value.to_string()).collect(),
            Command::Shell(text) => {
                let range = text.span.clone();
                let written = self.body.get(range.clone()).unwrap_or_default();
                shell = Some(Text {
                    value: without_comment_lines(written, self.escape.0),
                    range: self.place(&range),
                });
            }
            _ => {}
        }
        let documents = run.here_docs.iter().map(|document| Text {
            value: document.value.to_string(),
            range: self.place(&document.span),
        });
        InstructionKind::Run {
            shell,
            exec,
            documents: documents.collect(),
        }
    }

    fn copy(
        &self,
        add: bool,
        options: &[Flag<'_>],
        sources: &[Source<'_>],
        destination: &UnescapedString<'_>,
    ) -> InstructionKind {
        let paths = sources.iter().filter_map(|source| match source {
            Source::Path(path) => Some(self.text(path)),
            _ => None,
        });
        InstructionKind::Copy {
            add,
            from: flag(options, "from"),
            sources: paths.collect(),
            destination: self.text(destination),
        }
    }

    fn text(&self, text: &UnescapedString<'_>) -> Text {
        Text {
            value: text.value.to_string(),
            range: self.place(&text.span),
        }
    }

    fn place(&self, span: &Range<usize>) -> Range<usize> {
        self.shift + span.start..self.shift + span.end
    }
}

fn flag(options: &[Flag<'_>], name: &str) -> Option<String> {
    let found = options.iter().find(|flag| flag.name.value == name)?;
    Some(
        found
            .value
            .as_ref()
            .map_or_else(String::new, |value| value.value.to_string()),
    )
}

/// Blanks the comment lines that docker drops between the lines of one instruction, keeping every offset; an escape
/// other than the backslash becomes one where it continues a line.
fn without_comment_lines(written: &str, escape: char) -> String {
    let mut out = String::with_capacity(written.len());
    for (number, line) in written.split_inclusive('\n').enumerate() {
        if number > 0 && line.trim_start().starts_with('#') {
            let body = line.trim_end_matches('\n');
            let end = line.len() - body.len();
            // One byte each, so that offsets hold; the last one keeps the line going.
            let blanks = body.len().saturating_sub(1);
            out.extend(std::iter::repeat_n(' ', blanks));
            if !body.is_empty() {
                out.push('\\');
            }
            out.extend(std::iter::repeat_n('\n', end));
        } else if number > 0 && line.trim().is_empty() && line.ends_with('\n') && line.len() > 1 {
            out.extend(std::iter::repeat_n(' ', line.len() - 2));
            out.push_str("\\\n");
        } else if escape == '`' && line.trim_end().ends_with('`') {
            let kept = line.trim_end().len() - 1;
            out.push_str(line.get(..kept).unwrap_or_default());
            out.push('\\');
            out.push_str(line.get(kept + 1..).unwrap_or_default());
        } else {
            out.push_str(line);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_one_script_whose_offsets_hold() {
        let text = "FROM a:1\nRUN apt-get update && \\\n    # a reason\n    pip install x\n";
        let all = instructions(text).unwrap();
        let InstructionKind::Run { shell: Some(run), .. } = &all[1].kind else {
            panic!("{all:?}")
        };
        assert_eq!(run.value.len(), run.range.len());
        let at = run.value.find("pip").unwrap();
        let begin = run.range.start + at;
        assert_eq!(text.get(begin..begin + 3), Some("pip"));
        assert!(!run.value.contains('#'));
    }

    #[test]
    fn copies_have_sources_and_destination() {
        let all =
            instructions("ARG V=3\nFROM python:$V AS base\nCOPY --from=x a b/ /c/\nADD [\"q\", \"/r\"]\n")
                .unwrap();
        assert_eq!(all[0].stage, None);
        let InstructionKind::From { resolved, name, .. } = &all[1].kind else {
            panic!("{all:?}")
        };
        assert_eq!(
            (resolved.as_deref(), name.as_deref()),
            (Some("python:3"), Some("base"))
        );
        let InstructionKind::Copy {
            add,
            from,
            sources,
            destination,
        } = &all[2].kind
        else {
            panic!("{all:?}")
        };
        assert!(!add);
        assert_eq!(from.as_deref(), Some("x"));
        let names: Vec<&str> = sources.iter().map(|s| s.value.as_str()).collect();
        assert_eq!((names, destination.value.as_str()), (vec!["a", "b/"], "/c/"));
        let InstructionKind::Copy {
            add: true, sources, ..
        } = &all[3].kind
        else {
            panic!("{all:?}")
        };
        assert_eq!(sources[0].value, "q");
    }

    #[test]
    fn a_document_behind_a_program_ends_no_instruction() {
        let text = "FROM a\nRUN cat <<EOF > /x\nmake\nEOF\nUSER b\n";
        let all = instructions(text).unwrap();
        assert_eq!(all.len(), 3);
        let InstructionKind::User(user) = &all[2].kind else {
            panic!("{all:?}")
        };
        assert_eq!(text.get(user.range.clone()), Some("b"));
    }

    #[test]
    fn a_fault_has_its_place() {
        assert!(instructions("NOPE x\n").is_err());
    }
}
