//! The embedded engine, as root and as a plain user.

#![expect(
    clippy::unwrap_used,
    reason = "a panic is how a test fails, in its helpers too"
)]

mod bounds;
mod confinement;
mod download;
mod endings;
mod files;
mod speed;
mod support;
mod users;
mod views;
