//! Findings for people, one after the other, without a page of what they have read already.

use std::collections::BTreeMap;

use super::human;
use crate::{Finding, Level};

/// After so many findings of a rule people have understood; errors are all shown, because each has to go.
const SHOWN: usize = 10;

/// What is not shown of one rule.
#[derive(Default)]
struct Rest<'a> {
    seen: usize,
    tasks: Vec<(usize, &'a str)>,
}

/// Renders findings with their source lines, an empty line after each. Of the warnings and notes of one rule the
/// first ten are shown, the others counted in one line at the end.
#[must_use]
pub fn human_list<'a>(findings: impl IntoIterator<Item = &'a Finding>, color: bool) -> String {
    let mut out = String::new();
    let mut rules: BTreeMap<(Level, &str), Rest<'a>> = BTreeMap::new();
    for finding in findings {
        let rest = rules.entry((finding.level, finding.rule.code)).or_default();
        rest.seen += 1;
        if finding.level == Level::Error || rest.seen <= SHOWN {
            out.extend([&human(finding, color), "\n"]);
        } else {
            rest.tasks
                .extend(finding.task.as_deref().map(|task| (finding.target, task)));
        }
    }
    let mut counted = Vec::new();
    for ((level, code), mut rest) in rules {
        let Some(hidden @ 1..) = rest.seen.checked_sub(SHOWN).filter(|_| level != Level::Error) else {
            continue;
        };
        rest.tasks.sort_unstable();
        rest.tasks.dedup();
        let within = match rest.tasks.len() {
            0 => String::new(),
            1 => " in 1 task".to_owned(),
            tasks => format!(" in {tasks} tasks"),
        };
        let level = level.as_str();
        counted.push(format!(
            "{level}[{code}]: {hidden} more{within}; `--format json` has them all\n"
        ));
    }
    if !counted.is_empty() {
        counted.push("\n".to_owned());
    }
    out + &counted.concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RuleMeta;

    static RULE: RuleMeta = RuleMeta {
        code: "GD121",
        name: "canned",
        level: Level::Note,
        summary: "A canned rule.",
        page: "",
    };

    fn of_tasks(level: Level, tasks: std::ops::Range<usize>) -> Vec<Finding> {
        let one = |i: usize| Finding::new(&RULE, "old").in_task(format!("t{i}")).level(level);
        tasks.map(one).collect()
    }

    #[test]
    fn ten_notes_of_a_rule_are_shown_and_the_rest_is_counted() {
        let text = human_list(&of_tasks(Level::Note, 0..12), false);
        assert_eq!(text.matches("note[GD121]: old").count(), 10);
        assert!(
            text.ends_with("\n\nnote[GD121]: 2 more in 2 tasks; `--format json` has them all\n\n"),
            "{text}"
        );
    }

    #[test]
    fn ten_are_no_crowd() {
        let text = human_list(&of_tasks(Level::Warning, 0..10), false);
        assert!(!text.contains(" more"), "{text}");
    }

    #[test]
    fn every_error_is_shown() {
        let text = human_list(&of_tasks(Level::Error, 0..40), false);
        assert_eq!(text.matches("error[GD121]").count(), 40);
        assert!(!text.contains(" more"), "{text}");
    }

    #[test]
    fn a_task_with_many_counts_once() {
        let mut found = of_tasks(Level::Note, 0..10);
        found.extend((0..3).flat_map(|_| of_tasks(Level::Note, 99..100)));
        let text = human_list(&found, false);
        assert!(text.contains("3 more in 1 task;"), "{text}");
    }
}
