//! Every rule, one line each, by code.

use findings::RuleMeta;

use crate::{Rule, rules};

/// Every rule, by code.
pub static ALL: &[&Rule] = &[
    &rules::harbor::shared_verifier::RULE,
    &rules::container::compose_not_allowed::RULE,
    &rules::container::compose_shared_names::RULE,
    &rules::container::compose_without_main::RULE,
    &rules::container::copy_into_tests::RULE,
    &rules::container::missing_copy_source::RULE,
    &rules::shell::carriage_return::RULE,
    &rules::shell::errexit_before_reward::RULE,
];

/// Returns the fixed facts of every rule, by code.
pub fn metas() -> impl Iterator<Item = &'static RuleMeta> {
    ALL.iter().map(|rule| &rule.meta)
}

/// Returns the rule of a code or name.
#[must_use]
pub fn find(code_or_name: &str) -> Option<&'static Rule> {
    ALL.iter()
        .copied()
        .find(|rule| rule.meta.code.eq_ignore_ascii_case(code_or_name) || rule.meta.name == code_or_name)
}
