//! Builds an image from a context that is sent as a stream, and reads what a Dockerfile starts from.

use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::thread;
use std::time::Instant;

use camino::Utf8Path;

use super::client::{Streams, TimedWriter};
use super::failure::Failure;
use super::owner::OWNER;
use super::tarball::Tarball;
use super::{Shared, images};
use crate::api::SandboxError;
use crate::files::{Entry, EntryKind};
use crate::image::{Image, ImageError, ImageRequest, Pull};

/// Bytes of a build's log that are kept: its end.
const LOG: usize = 64 << 10;

/// Builds, unless an image of the same digest is there.
pub(super) fn build(shared: &Shared, request: &ImageRequest) -> Result<Image, ImageError> {
    let ImageRequest::Build {
        context,
        dockerfile,
        args,
        target,
        digest,
        pull,
        limit,
    } = request
    else {
        return Err(ImageError::Required("there is nothing to build".to_owned()));
    };
    if digest.len() < 12 || !digest.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(ImageError::Required(format!("`{digest}` is no digest")));
    }
    let tag = format!("gym-dataset-build:{digest}");
    if let Some(image) = images::find(shared, &tag)? {
        return Ok(image);
    }
    let podman = shared.info().map_err(SandboxError::from)?.podman;
    if *pull == Pull::Never {
        refuse_missing_bases(shared, context, dockerfile, args)?;
    }
    let label = format!("{OWNER}={}", shared.owner.label());
    let mut words: Vec<&str> = vec![
        "build",
        "--tag",
        &tag,
        "--file",
        dockerfile.as_str(),
        "--label",
        &label,
    ];
    words.extend(["--force-rm", "--rm"]);
    if podman {
        words.push(if *pull == Pull::Never {
            "--pull=never"
        } else {
            "--pull=missing"
        });
    }
    let args: Vec<String> = args
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    for arg in &args {
        words.extend(["--build-arg", arg]);
    }
    if let Some(target) = target {
        words.extend(["--target", target]);
    }
    words.push("-");
    run(shared, &words, context, *limit)?;
    images::find(shared, &tag)?.ok_or_else(|| ImageError::BuildFailed {
        reason: "the build succeeded and left no image".to_owned(),
        log: Vec::new(),
    })
}

/// Runs the client, writing the context while its log is read.
fn run(
    shared: &Shared,
    words: &[&str],
    context: &[Entry],
    limit: std::time::Duration,
) -> Result<(), ImageError> {
    let deadline = Instant::now() + limit;
    let streams = Streams {
        input: true,
        output: true,
        ..Streams::default()
    };
    let mut client = shared.cli.start(words, streams).map_err(SandboxError::from)?;
    let writer = client.writer(deadline).map_err(|source| SandboxError::Io {
        what: "write the build context".to_owned(),
        source,
    })?;
    let mut reader = client.reader(deadline);
    let mut log = Vec::new();
    let written = thread::scope(|scope| {
        let writing = scope.spawn(|| write(writer, context));
        let mut buffer = [0; 16 << 10];
        while let Ok(count @ 1..) = reader.read(&mut buffer) {
            log.extend_from_slice(buffer.get(..count).unwrap_or_default());
            if log.len() > 4 * LOG {
                log.drain(..log.len() - LOG);
            }
        }
        writing.join()
    });
    if let Ok(Err(Written::HostFile(error))) = written {
        return Err(ImageError::Engine(error));
    }
    let (status, messages) = match client.wait_or_kill_tree(deadline) {
        Ok(ended) => ended,
        Err(Failure::TimedOut { .. }) => {
            let reason = format!("the build did not end in {} seconds", limit.as_secs());
            return Err(ImageError::BuildFailed {
                reason,
                log: end_of(&log),
            });
        }
        Err(failure) => return Err(SandboxError::from(failure).into()),
    };
    if status.success() {
        return Ok(());
    }
    shared
        .cli
        .running
        .refuse_when_stopped()
        .map_err(SandboxError::from)?;
    let failure = Failure::refused("build", &messages);
    if failure.is_engine_gone() {
        return Err(SandboxError::from(failure).into());
    }
    log.extend_from_slice(&messages);
    Err(ImageError::BuildFailed {
        reason: format!("the build failed: {}", failure.text()),
        log: end_of(&log),
    })
}

fn end_of(log: &[u8]) -> Vec<u8> {
    log.get(log.len().saturating_sub(LOG)..)
        .map(<[u8]>::to_vec)
        .unwrap_or_default()
}

enum Written {
    HostFile(SandboxError),
    /// The client says why.
    Broken,
}

fn write(to: TimedWriter, context: &[Entry]) -> Result<(), Written> {
    let broken = |_: io::Error| Written::Broken;
    let mut tar = Tarball::new(to);
    for entry in context {
        tar.entry(&entry.path, entry, (0, 0))
            .map_err(broken)?
            .map_err(Written::HostFile)?;
    }
    tar.finish().map_err(broken)
}

/// An engine pulls what a Dockerfile starts from whether it may or not: what is not there is refused before.
fn refuse_missing_bases(
    shared: &Shared,
    context: &[Entry],
    dockerfile: &Utf8Path,
    args: &[(String, String)],
) -> Result<(), ImageError> {
    let text = context
        .iter()
        .find(|entry| entry.path == dockerfile)
        .map(|entry| match &entry.kind {
            EntryKind::Bytes(bytes) => bytes.to_vec(),
            EntryKind::HostFile(path) => std::fs::read(path).unwrap_or_default(),
            EntryKind::Folder | EntryKind::Link(_) => Vec::new(),
        });
    let text = text.unwrap_or_default();
    for base in bases(&String::from_utf8_lossy(&text), args) {
        if images::find(shared, &base)?.is_none() {
            let client = shared.name;
            let reason = format!(
                "the Dockerfile starts from `{base}`, which {client} does not have, and nothing may be pulled, \
                 `{client} pull {base}` fetches it"
            );
            return Err(ImageError::Unavailable(reason));
        }
    }
    Ok(())
}

/// Returns the images that a Dockerfile's stages start from, as far as plain words and `ARG`s with defaults tell.
fn bases(text: &str, args: &[(String, String)]) -> Vec<String> {
    let mut values: BTreeMap<&str, &str> = BTreeMap::new();
    let mut stages = vec![Some("scratch".to_owned())];
    let mut found = Vec::new();
    let mut begun = false;
    let given: BTreeMap<&str, &str> = args
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        match words.next().map(str::to_ascii_uppercase).as_deref() {
            Some("ARG") if !begun => {
                for word in words {
                    let (name, default) = word.split_once('=').unwrap_or((word, ""));
                    let value = given
                        .get(name)
                        .copied()
                        .unwrap_or(default.trim_matches(['"', '\'']));
                    values.insert(name, value);
                }
            }
            Some("FROM") => {
                begun = true;
                let words: Vec<&str> = words.filter(|word| !word.starts_with("--")).collect();
                if let [image, rest @ ..] = words.as_slice() {
                    let image = filled(image, &values);
                    if !stages.contains(&image) {
                        found.extend(image.filter(|image| !image.is_empty()));
                    }
                    if let [keyword, name] = rest
                        && keyword.eq_ignore_ascii_case("as")
                    {
                        stages.push(Some((*name).to_owned()));
                    }
                }
            }
            _ => {}
        }
    }
    found
}

/// Fills in `$NAME`, `${NAME}` and `${NAME:-default}`; `None` when something else is in there.
fn filled(text: &str, values: &BTreeMap<&str, &str>) -> Option<String> {
    let mut whole = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        whole.push_str(before);
        let (name, default, behind) = if let Some(braced) = after.strip_prefix('{') {
            let (inner, behind) = braced.split_once('}')?;
            let (name, default) = inner.split_once(":-").unwrap_or((inner, ""));
            (name, default, behind)
        } else {
            let end = after
                .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                .unwrap_or(after.len());
            let (name, behind) = after.split_at_checked(end)?;
            (name, "", behind)
        };
        if name.is_empty()
            || !name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        {
            return None;
        }
        let value = values.get(name).copied().filter(|value| !value.is_empty());
        whole.push_str(value.unwrap_or(default));
        rest = behind;
    }
    whole.push_str(rest);
    Some(whole)
}

#[cfg(test)]
mod tests {
    use super::bases;

    #[test]
    fn bases_are_read_and_stages_are_not_images() {
        let text = "# syntax\nARG TAG=12 REG=\"r.io/\"\nFROM --platform=linux/amd64 ${REG}debian:$TAG AS build\nARG TAG=13\nRUN x\n\
            from build as other\nFROM scratch\nFROM alpine:${NONE:-3}\nFROM $TAG-$(x)\nFROM\n";
        assert_eq!(bases(text, &[]), ["r.io/debian:12", "alpine:3"]);
        assert_eq!(bases(text, &[("TAG".into(), "11".into())])[0], "r.io/debian:11");
    }
}
