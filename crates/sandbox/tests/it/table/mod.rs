//! One table of facts for every engine.

mod commands;
mod files;
mod walls;
