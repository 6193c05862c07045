//! Fixtures on disk and their typed model: what is there, how it is run and how it must end.
//!
//! - `tasks/`: one small task for every way a task can end, named by what it shows ([`cases`]).
//! - `datasets/quickstart`: the sample dataset of the README ([`QUICKSTART`]).
//! - `datasets/harbor-runs`: published and run by the real Harbor (`cargo xtask conformance --run`).
//! - `datasets/` otherwise: datasets with faults, for findings ([`datasets`]).
//! - `rules/`: for each rule of task-rules, tasks and datasets that show it; [`page`] reads the examples of the rules' pages.
//! - `fuzz/`: seeds of the fuzz targets, replayed by the tests.

mod cases;
mod datasets;
pub mod page;

use camino::Utf8PathBuf;

pub use cases::{Case, Need, Status, cases};
pub use datasets::{Faulty, datasets};

/// Ids of the tasks in `datasets/quickstart`, in report order.
pub const QUICKSTART: [&str; 15] = [
    "backup-script",
    "clean-contacts",
    "config-port",
    "exit-status",
    "fix-intervals",
    "hello-note",
    "inventory-query",
    "log-report",
    "merge-settings",
    "project-layout",
    "sort-by-version",
    "status-server",
    "unit-price-apples",
    "unit-price-cable",
    "unit-price-paint",
];

/// Returns the folder of the fixtures.
#[must_use]
pub fn root() -> Utf8PathBuf {
    Utf8PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the sample dataset's folder.
#[must_use]
pub fn quickstart() -> Utf8PathBuf {
    root().join("datasets/quickstart")
}

/// Returns the folder of one task of `tasks/`.
#[must_use]
pub fn task(name: &str) -> Utf8PathBuf {
    root().join("tasks").join(name)
}
