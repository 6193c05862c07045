//! The members of a zip archive in memory, as its directory lists them.

use std::io::Read as _;

/// One member.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member<'a> {
    /// Its name as written.
    pub(super) name: &'a [u8],
    /// Its size unpacked, bytes, as the directory says.
    pub(super) size: u64,
    deflated: bool,
    packed: &'a [u8],
}

/// How far the record at the end can be from the end: itself and the longest comment.
const END: usize = 22 + 65_535;

/// Returns the members that are stored or deflated; a damaged archive ends at its fault.
pub(super) fn members(bytes: &[u8]) -> impl Iterator<Item = Member<'_>> {
    let mut at = directory(bytes);
    std::iter::from_fn(move || {
        let entry = bytes.get(at?..)?;
        let (member, length) = member(bytes, entry)?;
        at = at?.checked_add(length);
        Some(member)
    })
    .flatten()
}

impl Member<'_> {
    /// Returns what it holds; `None` when that has another length than was said.
    pub(super) fn content(&self) -> Option<Vec<u8>> {
        if !self.deflated {
            let whole = self.packed.len() as u64 == self.size;
            return whole.then(|| self.packed.to_vec());
        }
        let mut content = Vec::new();
        let mut unpacked = flate2::read::DeflateDecoder::new(self.packed).take(self.size + 1);
        unpacked.read_to_end(&mut content).ok()?;
        (content.len() as u64 == self.size).then_some(content)
    }
}

/// Returns where the directory begins.
fn directory(bytes: &[u8]) -> Option<usize> {
    let tail = bytes.len().saturating_sub(END);
    let at = bytes
        .get(tail..)?
        .windows(4)
        .rposition(|four| four == b"PK\x05\x06")?;
    number(bytes.get(tail + at..)?, 16, 4)
}

/// Reads an entry of the directory: the member, if it can be unpacked, and the entry's length.
fn member<'a>(bytes: &'a [u8], entry: &'a [u8]) -> Option<(Option<Member<'a>>, usize)> {
    if !entry.starts_with(b"PK\x01\x02") {
        return None;
    }
    let field = |at, width| number(entry, at, width);
    let (name, extra, comment) = (field(28, 2)?, field(30, 2)?, field(32, 2)?);
    let method = field(10, 2)?;
    let packed = packed(bytes, field(42, 4)?, field(20, 4)?);
    let member = packed.filter(|_| matches!(method, 0 | 8)).map(|packed| Member {
        name: entry.get(46..46 + name).unwrap_or_default(),
        size: field(24, 4).unwrap_or_default() as u64,
        deflated: method == 8,
        packed,
    });
    Some((member, 46 + name + extra + comment))
}

/// Returns the bytes behind a member's own header.
fn packed(bytes: &[u8], header: usize, length: usize) -> Option<&[u8]> {
    let header = bytes.get(header..)?;
    let start = 30 + number(header, 26, 2)? + number(header, 28, 2)?;
    header
        .get(start..)?
        .get(..length)
        .filter(|_| header.starts_with(b"PK\x03\x04"))
}

/// Reads a little-endian number of at most four bytes.
fn number(bytes: &[u8], at: usize, width: usize) -> Option<usize> {
    let digits = bytes.get(at..)?.get(..width)?;
    Some(
        digits
            .iter()
            .rev()
            .fold(0, |value, byte| value << 8 | usize::from(*byte)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn archive() -> Vec<u8> {
        let path = testdata::root().join("rules/archived-answer/invalid-zip/environment/a.zip");
        std::fs::read(path).expect("the fixture")
    }

    #[test]
    fn members_have_names_sizes_and_contents() {
        let bytes = archive();
        let all: Vec<(&[u8], u64, usize)> = members(&bytes)
            .map(|member| {
                (
                    member.name,
                    member.size,
                    member.content().map_or(0, |content| content.len()),
                )
            })
            .collect();
        assert_eq!(all, [(&b"x"[..], 1, 1), (&b"tests/test_a.py"[..], 60, 60)]);
    }

    #[test]
    fn a_damaged_archive_ends_at_its_fault() {
        let whole = archive();
        for end in 0..whole.len() {
            for member in members(&whole[..end]) {
                let _content = member.content();
            }
        }
        for at in 0..whole.len() {
            for byte in [0, 0x7f, 0xff] {
                let mut bytes = whole.clone();
                bytes[at] = byte;
                for member in members(&bytes).take(10) {
                    let _content = member.content();
                }
            }
        }
    }
}
