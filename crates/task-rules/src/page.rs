//! The pages: Markdown whose fenced blocks are files of an example.
//!
//! A block's info string is a language, the file's path in the task (or, when any block is a dataset.toml or another
//! task's file, in the dataset), and `crlf` or `bom` where the file
//! has such line ends or begins with a byte order mark. Blocks without a path are prose.

/// A file of an example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExampleFile {
    /// Its path.
    pub path: String,
    /// Its text; of a link, where it leads.
    pub text: String,
    /// Whether it is a symbolic link: the block's language is `symlink`.
    pub link: bool,
}

/// Returns the examples of a section (`Invalid`, `Valid`): one for each run of blocks that a `---` line or another
/// heading ends.
#[must_use]
pub fn examples(page: &str, section: &str) -> Vec<Vec<ExampleFile>> {
    let mut all: Vec<Vec<ExampleFile>> = Vec::new();
    let mut current = Vec::new();
    let mut within = false;
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if let Some(heading) = line.strip_prefix("## ") {
            all.extend(Some(std::mem::take(&mut current)).filter(|example| !example.is_empty()));
            within = heading.trim() == section;
        } else if line.trim() == "---" {
            all.extend(Some(std::mem::take(&mut current)).filter(|example| !example.is_empty()));
        } else if let Some(info) = line.strip_prefix("```") {
            let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            if within {
                current.extend(file(info, &body));
            }
        }
    }
    all.extend(Some(current).filter(|example| !example.is_empty()));
    all
}

fn file(info: &str, body: &[&str]) -> Option<ExampleFile> {
    let mut words = info.split_whitespace();
    let link = words.next() == Some("symlink");
    let path = words.next()?.to_owned();
    let options: Vec<&str> = words.collect();
    let end = if options.contains(&"crlf") { "\r\n" } else { "\n" };
    let mut text = body.join(end);
    if !text.is_empty() {
        text.push_str(end);
    }
    if link {
        text = text.trim_end().to_owned();
    }
    if options.contains(&"bom") {
        text.insert(0, '\u{feff}');
    }
    Some(ExampleFile { path, text, link })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_with_a_path_are_files() {
        let page = "# a\n\n## Invalid\n\n```bash tests/test.sh crlf\na\nb\n```\n\n---\n\n```toml task.toml\nx = 1\n```\n\n## Valid\n\n```text\nprose\n```\n";
        let found = examples(page, "Invalid");
        assert_eq!(found.len(), 2);
        assert_eq!(found[0][0].text, "a\r\nb\r\n");
        assert_eq!(found[1][0].path, "task.toml");
        assert!(examples(page, "Valid").is_empty());
    }
}
