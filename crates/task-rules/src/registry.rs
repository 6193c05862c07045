//! Every rule, one line each, by code.

use findings::RuleMeta;

use crate::{Rule, rules};

/// Every rule, by code.
pub static ALL: &[&Rule] = &[
    &rules::harbor::root_agent::RULE,
    &rules::harbor::shared_verifier::RULE,
    &rules::harbor::overlapping_artifacts::RULE,
    &rules::harbor::artifact_log_overlap::RULE,
    &rules::harbor::compose_privileged::RULE,
    &rules::harbor::compose_additional_capabilities::RULE,
    &rules::harbor::compose_writable_bind_mount::RULE,
    &rules::harbor::compose_external_bind_mount::RULE,
    &rules::harbor::compose_symlink_bind_mount::RULE,
    &rules::harbor::unpinned_image::RULE,
    &rules::harbor::unpinned_python_dependency::RULE,
    &rules::harbor::verifier_runtime_install::RULE,
    &rules::harbor::verifier_network_download::RULE,
    &rules::harbor::agent_image_test_leak::RULE,
    &rules::container::compose_not_allowed::RULE,
    &rules::container::compose_shared_names::RULE,
    &rules::container::compose_without_main::RULE,
    &rules::container::copy_into_tests::RULE,
    &rules::container::missing_copy_source::RULE,
    &rules::container::unpinned_system_package::RULE,
    &rules::container::image_without_bash::RULE,
    &rules::container::fixed_platform::RULE,
    &rules::container::compose_moved_name::RULE,
    &rules::container::link_to_tests::RULE,
    &rules::container::archived_answer::RULE,
    &rules::container::separate_artifact_parent::RULE,
    &rules::container::dropped_package_version::RULE,
    &rules::shell::carriage_return::RULE,
    &rules::shell::byte_order_mark::RULE,
    &rules::shell::shebang::RULE,
    &rules::shell::not_executable::RULE,
    &rules::shell::errexit_before_reward::RULE,
    &rules::shell::relative_reward_path::RULE,
    &rules::shell::host_cpu_count::RULE,
    &rules::shell::install_while_grading::RULE,
    &rules::shell::relative_script_file::RULE,
    &rules::shell::constant_reward::RULE,
    &rules::shell::shell_startup_file::RULE,
    &rules::shell::private_umask::RULE,
    &rules::files::missing_script_file::RULE,
    &rules::files::unstated_path::RULE,
    &rules::files::unused_file::RULE,
    &rules::files::misplaced_file::RULE,
    &rules::files::odd_reward_keys::RULE,
    &rules::files::answer_in_environment::RULE,
    &rules::files::answer_inside_file::RULE,
    &rules::files::grader_in_environment::RULE,
    &rules::image::separate_image_without_tests::RULE,
    &rules::settings::literal_secret::RULE,
    &rules::settings::odd_timeout::RULE,
    &rules::settings::undocumented_variable::RULE,
    &rules::settings::unfilled_variable::RULE,
    &rules::dataset::colliding_image_name::RULE,
    &rules::dataset::duplicate_task_name::RULE,
    &rules::dataset::duplicate_tasks::RULE,
    &rules::dataset::stale_manifest_digest::RULE,
    &rules::dataset::unlisted_task::RULE,
    &rules::dataset::manifest_task_without_folder::RULE,
    &rules::dataset::missing_manifest_file::RULE,
    &rules::dataset::colliding_short_name::RULE,
];

/// Returns the fixed facts of every rule, by code, those about the choice of rules last.
pub fn metas() -> impl Iterator<Item = &'static RuleMeta> {
    let own = crate::selection::RULES.iter().copied();
    ALL.iter().map(|rule| &rule.meta).chain(own)
}

/// Returns the rule of a code or name.
#[must_use]
pub fn find(code_or_name: &str) -> Option<&'static Rule> {
    ALL.iter()
        .copied()
        .find(|rule| rule.meta.code.eq_ignore_ascii_case(code_or_name) || rule.meta.name == code_or_name)
}

/// Says whether a code is on when nobody selects anything; those of other crates always are.
#[must_use]
pub fn is_on(code: &str) -> bool {
    find(code).is_none_or(|rule| rule.on)
}
