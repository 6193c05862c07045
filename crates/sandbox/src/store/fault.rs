//! Why an entry of a layer could not be unpacked.

use std::io;

use rustix::io::Errno;

use super::{StoreError, cause};

/// Bytes of a path that are shown of a longer one.
const SHOWN: usize = 200;

/// Why an entry could not be unpacked.
#[derive(Debug)]
pub(super) enum Fault {
    Refused(&'static str),
    Io(io::Error),
}

impl From<Errno> for Fault {
    fn from(error: Errno) -> Self {
        Self::Io(error.into())
    }
}

impl Fault {
    /// Says it with the entry's path.
    pub(super) fn about(self, path: &[u8]) -> StoreError {
        let shown = path.get(..SHOWN).unwrap_or(path);
        let more = if shown.len() < path.len() { "..." } else { "" };
        let path = format!("{}{more}", String::from_utf8_lossy(shown).escape_debug());
        match self {
            Self::Refused(why) => {
                StoreError::Refused(format!("the entry `{path}` of a layer is refused: {why}"))
            }
            Self::Io(error) if error.kind() == io::ErrorKind::StorageFull => StoreError::Io {
                what: "unpack a layer".to_owned(),
                cause: error,
            },
            Self::Io(error) => StoreError::Refused(format!(
                "the entry `{path}` of a layer cannot be unpacked: {}",
                cause(&error)
            )),
        }
    }
}
