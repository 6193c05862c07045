//! The entries of a tar stream, read with bounded memory whatever the stream says.

use std::io::{self, Read};

use tar::{EntryType, Header};

/// Long names and extended headers larger than this are refused.
const MOST_EXTENSION: u64 = 1 << 20;
const BLOCK: u64 = 512;
const HEADER: usize = 512;

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Folder,
    /// A symbolic link.
    Link,
    HardLink,
    /// A device, a FIFO, or something that nobody knows.
    Other,
}

/// An entry without its contents.
#[derive(Clone, Debug)]
pub(super) struct Head {
    /// As written: may be absolute, may hold `..`.
    pub(super) path: Vec<u8>,
    pub(super) kind: Kind,
    /// Target of a link.
    pub(super) target: Vec<u8>,
    pub(super) mode: u32,
    pub(super) uid: u64,
    pub(super) gid: u64,
    /// Seconds and nanoseconds.
    pub(super) modified: (i64, u32),
    /// Bytes of contents.
    pub(super) size: u64,
}

/// Something that can leave bytes out.
pub(super) trait Forward: Read {
    /// Goes `count` bytes on.
    fn forward(&mut self, count: u64) -> io::Result<()>;
}

/// Reads over the bytes.
pub(super) struct ByReading<R>(pub(super) R);

impl<R: Read> Read for ByReading<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl<R: Read> Forward for ByReading<R> {
    fn forward(&mut self, count: u64) -> io::Result<()> {
        if io::copy(&mut (&mut self.0).take(count), &mut io::sink())? == count {
            Ok(())
        } else {
            Err(io::ErrorKind::UnexpectedEof.into())
        }
    }
}

/// The entries of a stream.
pub(super) struct Entries<R> {
    from: R,
    /// Contents that nobody read yet, and the filling after them.
    contents: u64,
    filling: u64,
    /// Where the stream is.
    pub(super) at: u64,
}

/// What extension entries say of the entry after them.
#[derive(Default)]
struct Extension {
    path: Option<Vec<u8>>,
    target: Option<Vec<u8>>,
    size: Option<u64>,
    uid: Option<u64>,
    gid: Option<u64>,
    modified: Option<(i64, u32)>,
}

impl<R: Forward> Entries<R> {
    pub(super) fn new(from: R) -> Self {
        Self {
            from,
            contents: 0,
            filling: 0,
            at: 0,
        }
    }

    /// Returns the next entry; `None` at the end.
    pub(super) fn next(&mut self) -> io::Result<Option<Head>> {
        let mut extension = Extension::default();
        loop {
            let skipped = self.contents.saturating_add(self.filling);
            self.from.forward(skipped)?;
            self.at = self.at.saturating_add(skipped);
            (self.contents, self.filling) = (0, 0);
            let Some(header) = self.header()? else {
                return Ok(None);
            };
            let kind = header.entry_type();
            let mut size = field(header.entry_size())?;
            let extends = kind.is_gnu_longname() || kind.is_gnu_longlink() || kind.is_pax_local_extensions();
            if !extends {
                size = extension.size.unwrap_or(size);
            }
            self.contents = size;
            self.filling = (BLOCK - size % BLOCK) % BLOCK;
            if extends {
                let bytes = self.extension()?;
                if kind.is_pax_local_extensions() {
                    extension.read(&bytes)?;
                } else if kind.is_gnu_longname() {
                    extension.path = Some(until_nul(bytes));
                } else {
                    extension.target = Some(until_nul(bytes));
                }
            } else if !kind.is_pax_global_extensions() {
                return head(&header, size, extension).map(Some);
            }
        }
    }

    /// The contents of the entry that [`Self::next`] returned last.
    pub(super) fn contents(&mut self) -> Contents<'_, R> {
        Contents(self)
    }

    fn header(&mut self) -> io::Result<Option<Header>> {
        let mut block = [0; HEADER];
        let mut read = 0;
        while let Some(rest) = block.get_mut(read..).filter(|rest| !rest.is_empty()) {
            match self.from.read(rest) {
                Ok(0) if read == 0 => return Ok(None),
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => read += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.at = self.at.saturating_add(BLOCK);
        if block.iter().all(|byte| *byte == 0) {
            return Ok(None);
        }
        let header = Header::from_byte_slice(&block).clone();
        let sum: u32 = block
            .iter()
            .enumerate()
            .map(|(at, byte)| {
                if (148..156).contains(&at) {
                    32
                } else {
                    u32::from(*byte)
                }
            })
            .sum();
        if field(header.cksum())? == sum {
            Ok(Some(header))
        } else {
            Err(no_archive())
        }
    }

    fn extension(&mut self) -> io::Result<Vec<u8>> {
        if self.contents > MOST_EXTENSION {
            return Err(io::Error::other("an entry has a name of more than a megabyte"));
        }
        let mut bytes = Vec::new();
        self.contents().read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

/// Contents of one entry. Ending early is an error.
pub(super) struct Contents<'a, R>(&'a mut Entries<R>);

impl<R: Read> Read for Contents<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.0.contents)
            .unwrap_or(usize::MAX)
            .min(buffer.len());
        if most == 0 {
            return Ok(0);
        }
        let count = self.0.from.read(buffer.get_mut(..most).unwrap_or_default())?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.0.contents -= count as u64;
        self.0.at = self.0.at.saturating_add(count as u64);
        Ok(count)
    }
}

fn head(header: &Header, size: u64, extension: Extension) -> io::Result<Head> {
    let kind = match header.entry_type() {
        EntryType::Regular | EntryType::Continuous => Kind::File,
        EntryType::Directory => Kind::Folder,
        EntryType::Symlink => Kind::Link,
        EntryType::Link => Kind::HardLink,
        EntryType::GNUSparse => return Err(sparse()),
        _ => Kind::Other,
    };
    let path = extension.path.unwrap_or_else(|| header.path_bytes().into_owned());
    // An old archive's way to write a folder.
    let kind = if kind == Kind::File && path.ends_with(b"/") {
        Kind::Folder
    } else {
        kind
    };
    let target = extension
        .target
        .or_else(|| header.link_name_bytes().map(|name| name.into_owned()))
        .unwrap_or_default();
    let seconds = i64::try_from(header.mtime().unwrap_or(0)).unwrap_or(0);
    Ok(Head {
        path,
        kind,
        target,
        mode: field(header.mode())? & 0o7777,
        uid: extension.uid.map_or_else(|| field(header.uid()), Ok)?,
        gid: extension.gid.map_or_else(|| field(header.gid()), Ok)?,
        modified: extension.modified.unwrap_or((seconds, 0)),
        size,
    })
}

/// A number of a header; what the reader says of a broken one quotes the bytes.
fn field<T>(read: io::Result<T>) -> io::Result<T> {
    read.map_err(|_| no_archive())
}

fn no_archive() -> io::Error {
    io::Error::other("it is not a tar archive, or a broken one")
}

fn sparse() -> io::Error {
    io::Error::other("it holds a sparse file, which is not supported")
}

fn until_nul(mut bytes: Vec<u8>) -> Vec<u8> {
    if let Some(end) = bytes.iter().position(|byte| *byte == 0) {
        bytes.truncate(end);
    }
    bytes
}

impl Extension {
    /// Reads records of the form `LENGTH KEY=VALUE` and a line feed.
    fn read(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        let broken = || io::Error::other("an extended header of the archive is broken");
        while !bytes.is_empty() {
            let space = bytes.iter().position(|byte| *byte == b' ').ok_or_else(broken)?;
            let (digits, _) = bytes.split_at(space);
            let length = number(digits).and_then(|length| usize::try_from(length).ok());
            let length = length.filter(|length| *length > space + 1).ok_or_else(broken)?;
            let (record, rest) = bytes.split_at_checked(length).ok_or_else(broken)?;
            bytes = rest;
            let record = record
                .get(space + 1..)
                .and_then(|record| record.strip_suffix(b"\n"));
            let record = record.ok_or_else(broken)?;
            let equals = record.iter().position(|byte| *byte == b'=').ok_or_else(broken)?;
            let (key, value) = record.split_at(equals);
            self.take(key, value.get(1..).unwrap_or_default())?;
        }
        Ok(())
    }

    fn take(&mut self, key: &[u8], value: &[u8]) -> io::Result<()> {
        let whole =
            || number(value).ok_or_else(|| io::Error::other("a number in an extended header is broken"));
        match key {
            b"path" => self.path = Some(value.to_vec()),
            b"linkpath" => self.target = Some(value.to_vec()),
            b"size" => self.size = Some(whole()?),
            b"uid" => self.uid = Some(whole()?),
            b"gid" => self.gid = Some(whole()?),
            b"mtime" => self.modified = time(value),
            key if key.starts_with(b"GNU.sparse.") => return Err(sparse()),
            _ => {}
        }
        Ok(())
    }
}

fn number(digits: &[u8]) -> Option<u64> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// `SECONDS.FRACTION`.
fn time(value: &[u8]) -> Option<(i64, u32)> {
    let text = std::str::from_utf8(value).ok()?;
    let (seconds, fraction) = text.split_once('.').unwrap_or((text, ""));
    let mut nanos = 0;
    for digit in fraction.bytes().chain(std::iter::repeat(b'0')).take(9) {
        if !digit.is_ascii_digit() {
            return None;
        }
        nanos = nanos * 10 + u32::from(digit - b'0');
    }
    // Before 1970 the fraction would count the other way.
    seconds
        .parse()
        .ok()
        .filter(|seconds| *seconds >= 0)
        .map(|seconds| (seconds, nanos))
}
