//! `rule`: what a rule says, and the list of all.

use findings::RuleMeta;
use task_rules::{harbor_lint, registry};

use crate::cli::{RuleArgs, TextFormat};
use crate::exit::{Ending, UsageError};
use crate::lint::universe;
use crate::output::Printer;
use crate::reference::rule_page;
use crate::report::{RuleObject, RulesObject, SCHEMA, Tool};

/// Runs the command.
pub(crate) fn run(args: &RuleArgs, printer: &mut Printer) -> anyhow::Result<Ending> {
    let all = crate::reference::rules();
    let chosen: Vec<&'static RuleMeta> = match args.rule.as_deref() {
        None => all,
        Some(word) => named(all, word)?,
    };
    match args.format {
        TextFormat::Json => printer.json(&RulesObject {
            schema: SCHEMA,
            tool: Tool::this(),
            rules: chosen.into_iter().map(object).collect(),
        })?,
        TextFormat::Text if args.rule.is_none() => printer.text(&list(&chosen))?,
        TextFormat::Text => {
            for (number, rule) in chosen.into_iter().enumerate() {
                if number > 0 {
                    printer.line("")?;
                }
                printer.text(&rule_page(rule))?;
            }
        }
    }
    Ok(Ending::Good)
}

/// Returns the rules that a word names, as the options and tables that choose rules read it.
fn named(mut all: Vec<&'static RuleMeta>, word: &str) -> anyhow::Result<Vec<&'static RuleMeta>> {
    let codes = universe()
        .codes(word)
        .map_err(|unknown| UsageError::because(format!("{unknown}; `gym-dataset rule` lists all")))?;
    all.retain(|rule| codes.contains(rule.code));
    Ok(all)
}

fn object(rule: &'static RuleMeta) -> RuleObject {
    let harbor = harbor_lint::ALL
        .iter()
        .find(|harbor| harbor.codes.contains(&rule.code));
    RuleObject {
        code: rule.code,
        name: rule.name,
        level: rule.level,
        on: registry::is_on(rule.code),
        summary: rule.summary,
        harbor_lint: harbor.map(|harbor| harbor.name),
        page: rule_page(rule),
    }
}

/// Returns one line a rule.
fn list(rules: &[&RuleMeta]) -> String {
    let width = rules.iter().map(|rule| rule.name.len()).max().unwrap_or_default();
    let lines = rules.iter().map(|rule| {
        let level = if registry::is_on(rule.code) {
            rule.level.as_str()
        } else {
            "off"
        };
        format!(
            "{}  {:<width$}  {level:<7}  {}\n",
            rule.code, rule.name, rule.summary
        )
    });
    lines.collect()
}
