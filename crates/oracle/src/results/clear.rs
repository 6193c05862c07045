//! Removing what an earlier run of ours left.

use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, Mode};

use super::artifacts::ARTIFACTS;
use super::{MOST_ENTRIES, NAMES, STEPS, folder_flags};

/// How deep a folder of artifacts is followed.
const DEEPEST: u32 = 64;

/// Removes what is ours in an attempt's folder; what is not stays, and so do the folders around it.
pub(super) fn attempt(attempt: &OwnedFd) {
    turn(attempt);
    let Ok(steps) = rustix::fs::openat(attempt, STEPS, folder_flags(), Mode::empty()) else {
        return;
    };
    for step in names(&steps) {
        if let Ok(folder) = rustix::fs::openat(&steps, &*step, folder_flags(), Mode::empty()) {
            turn(&folder);
            let _gone = rustix::fs::unlinkat(&steps, &*step, AtFlags::REMOVEDIR);
        }
    }
    let _gone = rustix::fs::unlinkat(attempt, STEPS, AtFlags::REMOVEDIR);
}

fn turn(folder: &OwnedFd) {
    for name in NAMES {
        let _gone = rustix::fs::unlinkat(folder, name, AtFlags::empty());
    }
    if let Ok(artifacts) = rustix::fs::openat(folder, ARTIFACTS, folder_flags(), Mode::empty()) {
        tree(&artifacts, DEEPEST);
        let _gone = rustix::fs::unlinkat(folder, ARTIFACTS, AtFlags::REMOVEDIR);
    }
}

/// Removes everything in a folder of artifacts, whose names are the task's; links are removed, never followed.
fn tree(folder: &OwnedFd, deepest: u32) {
    for name in names(folder) {
        if rustix::fs::unlinkat(folder, &*name, AtFlags::empty()).is_ok() || deepest == 0 {
            continue;
        }
        if let Ok(inner) = rustix::fs::openat(folder, &*name, folder_flags(), Mode::empty()) {
            tree(&inner, deepest - 1);
            let _gone = rustix::fs::unlinkat(folder, &*name, AtFlags::REMOVEDIR);
        }
    }
}

fn names(folder: &OwnedFd) -> Vec<std::ffi::CString> {
    let Ok(entries) = rustix::fs::Dir::read_from(folder) else {
        return Vec::new();
    };
    entries
        .take(MOST_ENTRIES)
        .flatten()
        .map(|entry| entry.file_name().to_owned())
        .filter(|name| !matches!(name.to_bytes(), b"." | b".."))
        .collect()
}
