//! The floor under every reader: each folder listed and each file opened and read, on all cores, and nothing done with it.

use std::fs::File;
use std::io::Read as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use camino::{Utf8Path, Utf8PathBuf};

/// Reads a dataset on as many threads as there are cores and returns how long it took.
pub(super) fn read(dataset: &Utf8Path, files: usize) -> Result<Duration> {
    let threads = std::thread::available_parallelism()?.get();
    let begun = Instant::now();
    let mut folders = Vec::new();
    for entry in dataset.read_dir_utf8()? {
        folders.push(entry?.into_path());
    }
    let next = AtomicUsize::new(0);
    let work = || -> std::io::Result<usize> {
        let mut buffer = vec![0; 64 * 1024];
        let mut seen = 0;
        while let Some(folder) = folders.get(next.fetch_add(1, Ordering::Relaxed)) {
            seen += below(folder, &mut buffer)?;
        }
        Ok(seen)
    };
    let seen = std::thread::scope(|scope| {
        let all: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        all.into_iter()
            .map(|thread| {
                thread
                    .join()
                    .ok()
                    .context("a reader panicked")?
                    .map_err(Into::into)
            })
            .sum::<Result<usize>>()
    })?;
    let took = begun.elapsed();
    ensure!(seen == files, "{seen} files were read, {files} are there");
    Ok(took)
}

fn below(path: &Utf8Path, buffer: &mut [u8]) -> std::io::Result<usize> {
    let mut seen = 0;
    let mut todo: Vec<Utf8PathBuf> = vec![path.to_owned()];
    while let Some(folder) = todo.pop() {
        for entry in folder.read_dir_utf8()? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                todo.push(entry.into_path());
            } else {
                let mut file = File::open(entry.path())?;
                while file.read(buffer)? == buffer.len() {}
                seen += 1;
            }
        }
    }
    Ok(seen)
}
