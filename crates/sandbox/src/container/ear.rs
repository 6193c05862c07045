//! Listens to a client that runs a script: the command's output, the script's lines, the client's own messages.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;

use super::client::Client;
use super::failure::Failure;
use super::script::TAIL;

/// Bytes of messages that are kept.
const MESSAGES: usize = 64 << 10;

/// What a script said, so far.
#[derive(Debug, Default)]
pub(super) struct Said {
    /// When the command's script began: here, and in the ticks of the engine's machine.
    pub(super) began: Option<(Instant, u64)>,
    pub(super) keepers: Vec<u32>,
    pub(super) sinks: Vec<u32>,
    pub(super) ended: Option<(i32, Instant)>,
    /// Somebody in the background has the output.
    pub(super) held: bool,
    pub(super) refusal: Option<Refusal>,
}

/// Why a script did not run its command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    NoFolder,
    NoFile,
    Missing,
    NoExec(String),
}

impl Said {
    fn hear(&mut self, line: &str) {
        let (kind, rest) = line.split_once(' ').unwrap_or((line, ""));
        match kind {
            "began" if self.began.is_none() => {
                self.keepers
                    .extend(rest.split(' ').next().and_then(|pid| pid.parse::<u32>().ok()));
                let ticks = rest
                    .rsplit_once(") ")
                    .and_then(|(_, fields)| fields.split(' ').nth(19));
                let ticks = ticks.and_then(|ticks| ticks.parse().ok());
                self.began = Some((Instant::now(), ticks.unwrap_or(u64::MAX)));
            }
            "keeper" => self.keepers.extend(rest.parse::<u32>().ok()),
            "sink" => self.sinks.extend(rest.parse::<u32>().ok()),
            "ended" if self.ended.is_none() => {
                self.ended = rest.parse().ok().map(|code| (code, Instant::now()));
            }
            "held" => self.held = true,
            "nofolder" => self.refusal = Some(Refusal::NoFolder),
            "nofile" => self.refusal = Some(Refusal::NoFile),
            "missing" => self.refusal = Some(Refusal::Missing),
            "noexec" => self.refusal = Some(Refusal::NoExec(rest.to_owned())),
            _ => {}
        }
    }
}

/// Everything that comes out of a client.
pub(super) struct Ear {
    word: String,
    pub(super) stdout: Option<OwnedFd>,
    pub(super) stderr: Option<OwnedFd>,
    pub(super) tail: VecDeque<u8>,
    /// What the client itself said, and the beginning of a line.
    pub(super) messages: Vec<u8>,
    pub(super) line: Vec<u8>,
    pub(super) said: Said,
}

impl Ear {
    pub(super) fn new(client: &mut Client, word: String) -> Self {
        Self {
            word,
            stdout: client.stdout.take().map(OwnedFd::from),
            stderr: client.stderr.take().map(OwnedFd::from),
            tail: VecDeque::new(),
            messages: Vec::new(),
            line: Vec::new(),
            said: Said::default(),
        }
    }

    /// Listens until both streams have ended or `until` says when to stop.
    pub(super) fn listen(&mut self, until: impl Fn(&Said) -> Option<Instant>) -> Result<(), Failure> {
        while self.stdout.is_some() || self.stderr.is_some() {
            let left = until(&self.said).map(|at| at.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO) {
                return Ok(());
            }
            let failed = |error: Errno| Failure::refused("exec", error.to_string().as_bytes());
            let left = left.and_then(|left| Timespec::try_from(left).ok());
            let open = [self.stdout.as_ref(), self.stderr.as_ref()];
            let mut polled: Vec<PollFd<'_>> = open
                .iter()
                .flatten()
                .map(|stream| PollFd::new(*stream, PollFlags::IN))
                .collect();
            match rustix::event::poll(&mut polled, left.as_ref()) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(failed(error)),
            }
            let mut ready = polled
                .iter()
                .map(|stream| !stream.revents().is_empty())
                .collect::<Vec<_>>()
                .into_iter();
            let out = self.stdout.is_some() && ready.next().unwrap_or_default();
            let err = self.stderr.is_some() && ready.next().unwrap_or_default();
            if out {
                self.read_output();
            }
            if err {
                self.read_messages();
            }
        }
        Ok(())
    }

    fn read_output(&mut self) {
        let bytes = read(&mut self.stdout);
        let newest = bytes.get(bytes.len().saturating_sub(TAIL)..).unwrap_or_default();
        let excess = (self.tail.len() + newest.len()).saturating_sub(TAIL);
        self.tail.drain(..excess.min(self.tail.len()));
        self.tail.extend(newest);
    }

    fn read_messages(&mut self) {
        let bytes = read(&mut self.stderr);
        for byte in bytes {
            if byte == b'\n' {
                let line = std::mem::take(&mut self.line);
                let text = String::from_utf8_lossy(&line);
                match text.trim_end().strip_prefix(&self.word) {
                    Some(rest) => self.said.hear(rest.trim_start()),
                    None if self.messages.len() < MESSAGES => {
                        self.messages.extend_from_slice(&line);
                        self.messages.push(b'\n');
                    }
                    None => {}
                }
            } else if self.line.len() < MESSAGES {
                self.line.push(byte);
            }
        }
    }
}

fn read(from: &mut Option<OwnedFd>) -> Vec<u8> {
    let mut buffer = vec![0; 64 << 10];
    let read = from.as_ref().map(|stream| rustix::io::read(stream, &mut buffer));
    match read {
        Some(Ok(count)) if count > 0 => buffer.truncate(count),
        Some(Err(Errno::INTR | Errno::AGAIN)) => buffer.clear(),
        _ => {
            *from = None;
            buffer.clear();
        }
    }
    buffer
}

#[cfg(test)]
mod tests {
    use super::{Refusal, Said};

    #[test]
    fn a_scripts_lines_are_heard_whatever_the_process_is_called() {
        let mut said = Said::default();
        said.hear("began 7 (a) b) R 0 117 117 0 -1 4194560 993 0 1 0 1 0 0 0 20 0 1 0 1703509 23 38");
        assert_eq!(said.began.unwrap().1, 1_703_509);
        said.hear("keeper 12");
        said.hear("keeper x");
        said.hear("ended 7");
        said.hear("ended 0");
        said.hear("sink 13");
        assert_eq!(
            (said.keepers.as_slice(), said.ended.unwrap().0),
            (&[7, 12][..], 7)
        );
        assert_eq!(said.sinks, [13]);
        said.hear("noexec it is a folder");
        assert_eq!(said.refusal, Some(Refusal::NoExec("it is a folder".into())));
    }
}
