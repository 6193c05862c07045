//! reward.json as Python tests write it: keys and values that runners refuse, or score each in their own way.

use findings::{Level, RuleMeta};
use shim_builder::{PythonReward, PythonShape};

use crate::context::TaskContext;
use crate::{Check, Found, Rule};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: "GD824",
        name: "odd-reward-keys",
        level: Level::Warning,
        summary: "A Python test writes a reward.json that runners refuse, or that gives a score under one and none under another.",
        page: include_str!("../../../pages/odd-reward-keys.md"),
    },
    on: true,
    check: Check::Task(check),
};

fn check(task: &TaskContext<'_>, found: &mut Found) {
    for (source, facts) in task.modules_in("tests") {
        for reward in &facts.rewards {
            let Some((message, help)) = fault(reward) else {
                continue;
            };
            found.add(
                task.finding(&RULE.meta, message)
                    .at(&source, reward.span)
                    .help(help),
            );
        }
    }
}

fn fault(reward: &PythonReward) -> Option<(String, &'static str)> {
    if reward.entries.is_empty() {
        let help = "write `reward` with 0, or no file and another exit code than 0";
        return Some((
            "the reward.json written here is empty, which no runner takes for a score".to_owned(),
            help,
        ));
    }
    let odd = reward.entries.iter().find_map(|(key, shape)| {
        let what = match shape {
            PythonShape::Nothing => "`None`",
            PythonShape::Text => "a string",
            PythonShape::Collection => "a collection",
            PythonShape::Other => return None,
        };
        Some((&key.value, what))
    });
    if let Some((key, what)) = odd {
        let message = format!(
            "`{key}` of the reward.json written here is {what}, so that runners refuse the whole file"
        );
        return Some((
            message,
            "write numbers only; details belong in another file beside it",
        ));
    }
    let named = reward.entries.iter().any(|(key, _)| key.value == "reward");
    (reward.entries.len() > 1 && !named).then(|| {
        let message = "the reward.json written here has several keys and none is `reward`".to_owned();
        (
            message,
            "add `reward` with the score: Gym adds up the others, Harbor and AgentCompass give no score",
        )
    })
}
