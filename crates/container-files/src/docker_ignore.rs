//! `.dockerignore`: which files of a build context stay behind (Docker, "Build context: .dockerignore files").

/// How many patterns are read.
const MAX_PATTERNS: usize = 1000;

/// The patterns of a file, in order.
#[derive(Debug, Default)]
pub struct DockerIgnore {
    patterns: Vec<Pattern>,
}

#[derive(Debug)]
struct Pattern {
    /// Whether it takes files back in.
    keeps: bool,
    tokens: Vec<Token>,
}

#[derive(Debug)]
enum Token {
    Is(char),
    /// `?`: one character of a name.
    AnyOne,
    /// `*`: any characters of a name.
    InName,
    /// `**`: any characters.
    Anything,
    /// `**/`: any folders, none too.
    Folders,
    /// `[a-z]`.
    Class {
        negated: bool,
        ranges: Vec<(char, char)>,
    },
}

impl DockerIgnore {
    /// Reads the file; `None` when it has more patterns than anybody writes or one that is not well formed.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let mut patterns = Vec::new();
        for line in text.trim_start_matches('\u{feff}').lines() {
            if line.starts_with('#') {
                continue;
            }
            let line = line.trim();
            let (keeps, line) = match line.strip_prefix('!') {
                Some(rest) => (true, rest.trim()),
                None => (false, line),
            };
            if line.is_empty() {
                continue;
            }
            if patterns.len() >= MAX_PATTERNS {
                return None;
            }
            let tokens = tokens(&clean(line))?;
            patterns.push(Pattern { keeps, tokens });
        }
        Some(Self { patterns })
    }

    /// Returns the names of the files that may hold the patterns, beside a Dockerfile of this name: the first that is there
    /// counts.
    #[must_use]
    pub fn names(dockerfile: &str) -> [String; 2] {
        [format!("{dockerfile}.dockerignore"), ".dockerignore".to_owned()]
    }

    /// Says whether a path of the context (or a folder above it) is ignored; the last pattern that matches decides.
    #[must_use]
    pub fn ignores(&self, path: &str) -> bool {
        let mut ignored = false;
        for pattern in &self.patterns {
            // Only one that would change the answer needs to be looked at.
            if pattern.keeps == ignored && pattern.covers(path) {
                ignored = !pattern.keeps;
            }
        }
        ignored
    }
}

impl Pattern {
    fn covers(&self, path: &str) -> bool {
        let text: Vec<char> = path.chars().collect();
        // Reachable places in the text after the tokens so far.
        let mut at = vec![false; text.len() + 1];
        at[0] = true;
        for token in &self.tokens {
            at = token.step(&at, &text);
        }
        // The whole path, or a folder above it.
        at.iter()
            .enumerate()
            .any(|(i, reached)| *reached && text.get(i).is_none_or(|c| i > 0 && *c == '/'))
    }
}

impl Token {
    fn step(&self, at: &[bool], text: &[char]) -> Vec<bool> {
        let mut next = vec![false; at.len()];
        let mut open = false;
        for (i, reached) in at.iter().enumerate() {
            let c = text.get(i);
            match self {
                Self::Is(wanted) if *reached && c == Some(wanted) => next[i + 1] = true,
                Self::AnyOne if *reached && c.is_some_and(|c| *c != '/') => next[i + 1] = true,
                Self::Class { negated, ranges } if *reached => {
                    let inside = |c: &char| ranges.iter().any(|(from, to)| from <= c && c <= to);
                    if c.is_some_and(|c| *c != '/' && inside(c) != *negated) {
                        next[i + 1] = true;
                    }
                }
                Self::Anything => {
                    open |= reached;
                    next[i] |= open;
                }
                Self::InName => {
                    open |= reached;
                    next[i] |= open;
                    open &= c != Some(&'/');
                }
                Self::Folders => {
                    next[i] |= *reached || (open && i > 0 && text.get(i - 1) == Some(&'/'));
                    open |= reached;
                }
                _ => {}
            }
        }
        next
    }
}

/// Returns the pattern without a leading `/`, `.`, `..` and doubled slashes, as a clean path.
fn clean(pattern: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in pattern.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

fn tokens(pattern: &str) -> Option<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        tokens.push(match c {
            '*' if chars.next_if_eq(&'*').is_some() => {
                if chars.next_if_eq(&'/').is_some() {
                    Token::Folders
                } else {
                    Token::Anything
                }
            }
            '*' => Token::InName,
            '?' => Token::AnyOne,
            '\\' => Token::Is(chars.next()?),
            '[' => {
                let negated = chars.next_if_eq(&'^').is_some();
                let mut ranges = Vec::new();
                loop {
                    let from = match chars.next()? {
                        ']' if !ranges.is_empty() => break,
                        '\\' => chars.next()?,
                        c => c,
                    };
                    let to = if chars.next_if_eq(&'-').is_some() {
                        match chars.next()? {
                            '\\' => chars.next()?,
                            c => c,
                        }
                    } else {
                        from
                    };
                    ranges.push((from, to));
                }
                Token::Class { negated, ranges }
            }
            c => Token::Is(c),
        });
    }
    Some(tokens)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(patterns: &str, paths: &[&'static str]) -> Vec<&'static str> {
        let ignore = DockerIgnore::read(patterns).expect("it is read");
        let kept = paths.iter().filter(|path| !ignore.ignores(path));
        kept.copied().collect()
    }

    #[test]
    fn patterns_mean_what_docker_says() {
        let all = ["a.txt", "b/a.txt", "b/c/a.txt", "b/d", "README.md", "x[1]"];
        for (patterns, expected) in [
            ("", &all[..]),
            ("# a.txt\n\n", &all),
            ("a.txt", &["b/a.txt", "b/c/a.txt", "b/d", "README.md", "x[1]"]),
            ("/a.txt ", &["b/a.txt", "b/c/a.txt", "b/d", "README.md", "x[1]"]),
            ("*.txt", &["b/a.txt", "b/c/a.txt", "b/d", "README.md", "x[1]"]),
            ("*/a.txt", &["a.txt", "b/c/a.txt", "b/d", "README.md", "x[1]"]),
            ("**/a.txt", &["b/d", "README.md", "x[1]"]),
            ("b/**", &["a.txt", "README.md", "x[1]"]),
            ("b", &["a.txt", "README.md", "x[1]"]),
            ("./b/../b/c/", &["a.txt", "b/a.txt", "b/d", "README.md", "x[1]"]),
            ("b\n!b/c", &["a.txt", "b/c/a.txt", "README.md", "x[1]"]),
            ("*\n!README.md\n!**/d", &["b/d", "README.md"]),
            ("!a.txt\n*", &[]),
            ("b/?", &["a.txt", "b/a.txt", "README.md", "x[1]"]),
            ("[a-c]*", &["README.md", "x[1]"]),
            ("[^a-c]*", &["a.txt", "b/a.txt", "b/c/a.txt", "b/d"]),
            ("x\\[1\\]", &["a.txt", "b/a.txt", "b/c/a.txt", "b/d", "README.md"]),
            ("a.tx", &all),
            ("txt", &all),
        ] {
            assert_eq!(left(patterns, &all), expected, "{patterns:?}");
        }
    }

    #[test]
    fn what_is_not_well_formed_or_endless_is_not_read() {
        for text in ["[a", "a\\", "[a-", "["] {
            assert!(DockerIgnore::read(text).is_none(), "{text}");
        }
        assert!(DockerIgnore::read(&"a\n".repeat(1001)).is_none());
        let stars = "**/*".repeat(200);
        let path = "a/".repeat(1000);
        assert!(
            DockerIgnore::read(&stars)
                .unwrap()
                .ignores(path.trim_end_matches('/'))
        );
    }
}
