//! Findings as text for people and as objects for programs.

mod concise;
mod excerpt;
pub mod github;
mod human;
mod human_list;
mod json;
pub mod junit;
pub mod sarif;

pub use concise::concise;
pub use excerpt::Excerpt;
pub use human::human;
pub use human_list::human_list;
pub use json::FindingObject;
