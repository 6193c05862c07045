//! What `rule --format json` prints.

use findings::Level;
use schemars::JsonSchema;
use serde::Serialize;

use super::Tool;

/// The object of `rule`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RulesObject {
    /// Version of this object's form.
    pub schema: u32,
    /// Which tool.
    pub tool: Tool,
    /// The rules asked for, by code.
    pub rules: Vec<RuleObject>,
}

/// One rule.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RuleObject {
    /// Stable code.
    pub code: &'static str,
    /// Kebab-case name.
    pub name: &'static str,
    /// The level of its findings unless raised or lowered.
    pub level: Level,
    /// Whether it is on when nobody selects anything.
    pub on: bool,
    /// One sentence.
    pub summary: &'static str,
    /// The rule of Harbor's lint that says the same, if any.
    pub harbor_lint: Option<&'static str>,
    /// Its page in Markdown.
    pub page: String,
}
