//! What is fixed about a rule: its code, name, default level and summary.

use crate::Level;

/// The fixed facts of one rule. Codes are stable; families are GD0 files, GD1 task.toml, GD2 instruction and
/// templates, GD3 environment, GD4 solution, GD5 tests and rewards, GD6 dataset and publish, GD7 Harbor's
/// lint, GD8 scripts and images, GD9 datasets as a whole and the choice of rules.
#[derive(Debug, PartialEq, Eq)]
pub struct RuleMeta {
    /// Stable code such as `GD101`.
    pub code: &'static str,
    /// Kebab-case name, unique among all rules.
    pub name: &'static str,
    /// The level a finding of this rule has unless its maker lowers it.
    pub level: Level,
    /// One sentence that says what the rule catches, for the generated reference.
    pub summary: &'static str,
    /// Its page in Markdown, as written: what the rule does, why it is bad, and examples that run as tests. Empty where a
    /// report needs no more than a name.
    pub page: &'static str,
}

impl RuleMeta {
    /// Returns the page for a reader: each file of an example has its path above it, which Markdown shows nowhere else.
    #[must_use]
    pub fn markdown(&self) -> String {
        if self.page.is_empty() {
            return format!("# {}\n\n{}\n", self.name, self.summary);
        }
        crate::page::captioned(self.page)
    }
}

/// Declares rules as statics and a table `RULES` of all of them. The page of a rule is `pages/<name>.md` of the crate
/// that declares it.
///
/// ```text
/// findings::rules! {
///     /// No task.toml where one is needed.
///     pub MISSING = "GD001" "missing-file" Error "A file that every task needs is missing.";
/// }
/// ```
#[macro_export]
macro_rules! rules {
    ($($(#[$doc:meta])* $vis:vis $id:ident = $code:literal $name:literal $level:ident $summary:literal;)*) => {
        $($(#[$doc])* $vis static $id: $crate::RuleMeta = $crate::RuleMeta {
            code: $code, name: $name, level: $crate::Level::$level, summary: $summary,
            page: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/pages/", $name, ".md")),
        };)*
        /// Every rule declared here, in order of writing.
        pub static RULES: &[&$crate::RuleMeta] = &[$(&$id),*];
    };
}
