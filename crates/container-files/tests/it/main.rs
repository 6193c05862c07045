//! Dockerfiles, read.

mod compose;
mod hostile;
mod modes;
mod settings;
mod yaml;
mod yaml_hostile;
