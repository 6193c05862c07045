//! Dockerfiles, read.

mod compose;
mod compose_refusals;
mod hostile;
mod layers;
mod modes;
mod settings;
mod yaml;
mod yaml_hostile;
