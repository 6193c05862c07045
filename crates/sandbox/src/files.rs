//! Files on their way into a sandbox and out of it.

use std::sync::Arc;

use camino::Utf8PathBuf;

/// What to put in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Path relative to the upload's target; no `..`, not absolute.
    pub path: Utf8PathBuf,
    /// Permission bits.
    pub mode: u32,
    /// Folder, file or link.
    pub kind: EntryKind,
}

/// What an entry is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A folder.
    Folder,
    /// A file with these bytes.
    Bytes(Arc<[u8]>),
    /// A file with the bytes of a host file, read when it is uploaded (regular, links not followed).
    HostFile(Utf8PathBuf),
    /// A symbolic link with this target.
    Link(String),
}

/// What reading a file out gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileRead {
    /// A regular file's bytes.
    Bytes(Vec<u8>),
    /// Nothing there.
    Absent,
    /// Something that is not a regular file reached without links: says what (`link`, `folder`, `fifo`, ...).
    NotRegular(&'static str),
    /// Larger than the bound.
    TooLarge(u64),
}

/// What reading a tree out gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Download {
    /// Nothing there.
    Absent,
    /// A regular file.
    File(Entry),
    /// A folder's entries, paths relative to it, sorted; links as links, never followed; sockets, FIFOs and devices left out.
    Folder(Vec<Entry>),
}

/// Bounds of a download; passing one is an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DownloadBounds {
    /// Bytes of all files together.
    pub bytes: u64,
    /// Entries.
    pub entries: u64,
}
