//! Findings as text for people and as objects for programs.

mod concise;
mod excerpt;
pub mod github;
mod human;
mod json;
pub mod junit;
pub mod sarif;

pub use concise::concise;
pub use excerpt::Excerpt;
pub use human::human;
pub use json::FindingObject;
