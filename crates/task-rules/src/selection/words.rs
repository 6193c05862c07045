//! Words that name rules.

use std::collections::BTreeSet;

use findings::RuleMeta;

use super::Universe;
use crate::{harbor_lint, registry};

/// What one layer says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// In place of what is on; empty leaves it.
    pub select: Vec<String>,
    /// Beside what is on.
    pub extend_select: Vec<String>,
    /// Off.
    pub ignore: Vec<String>,
}

/// A word that names no rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{word}` names no rule{}", near.as_ref().map(|n| format!("; did you mean `{n}`?")).unwrap_or_default())]
pub struct UnknownWord {
    /// The word.
    pub word: String,
    /// A name that comes near.
    pub near: Option<String>,
}

/// Codes that are on.
pub(super) type On = BTreeSet<&'static str>;

impl Universe {
    /// Returns what is on when nobody says anything.
    pub(super) fn defaults(&self) -> On {
        let off = |rule: &&&RuleMeta| registry::is_on(rule.code);
        self.all.iter().filter(off).map(|rule| rule.code).collect()
    }

    /// Returns the codes that a word names.
    ///
    /// # Errors
    /// A word that names none.
    pub fn codes(&self, word: &str) -> Result<BTreeSet<&'static str>, UnknownWord> {
        if word == "ALL" {
            return Ok(self.all.iter().map(|rule| rule.code).collect());
        }
        let upper = word.to_ascii_uppercase();
        let prefix = upper.len() > 2 && upper.starts_with("GD");
        let mut codes: On = self
            .all
            .iter()
            .filter(|rule| rule.name == word || (prefix && rule.code.starts_with(&upper)))
            .map(|rule| rule.code)
            .collect();
        if let Some(rule) = harbor_lint::find(word) {
            codes.extend(self.of_harbor(rule));
        }
        if codes.is_empty() {
            Err(self.unknown(word))
        } else {
            Ok(codes)
        }
    }

    /// Returns the codes that a name of Harbor's lint, or `ALL` of them, stands for.
    pub(super) fn harbor_codes(&self, word: &str) -> Result<On, UnknownWord> {
        if word == "ALL" {
            return Ok(harbor_lint::ALL
                .iter()
                .flat_map(|rule| self.of_harbor(rule))
                .collect());
        }
        match harbor_lint::find(word) {
            Some(rule) => Ok(self.of_harbor(rule).collect()),
            None => Err(self.unknown(word)),
        }
    }

    fn of_harbor<'a>(&'a self, rule: &'a harbor_lint::HarborRule) -> impl Iterator<Item = &'static str> + 'a {
        self.all
            .iter()
            .map(|meta| meta.code)
            .filter(|code| rule.codes.contains(code))
    }

    fn unknown(&self, word: &str) -> UnknownWord {
        let own = self.all.iter().map(|rule| rule.name);
        let names = || own.clone().chain(harbor_lint::ALL.iter().map(|rule| rule.name));
        let near = names().find(|name| is_near(name, word));
        let near = near.or_else(|| task_model::nearest(word, names()));
        UnknownWord {
            word: word.chars().take(80).collect(),
            near: near.map(str::to_owned),
        }
    }
}

/// One word with the other's beginning, or the same letters.
fn is_near(name: &str, word: &str) -> bool {
    let plain = |text: &str| text.to_ascii_lowercase().replace(['_', ' '], "-");
    let word = plain(word);
    word.len() > 3 && (name == word || name.starts_with(&word) || word.starts_with(name))
}

impl Choice {
    /// Says whether it says nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.select.is_empty() && self.extend_select.is_empty() && self.ignore.is_empty()
    }

    /// Changes what is on.
    ///
    /// # Errors
    /// The first word that names no rule.
    pub(super) fn apply(&self, universe: &Universe, on: &mut On) -> Result<(), UnknownWord> {
        if !self.select.is_empty() {
            on.clear();
        }
        for word in self.select.iter().chain(&self.extend_select) {
            on.extend(universe.codes(word)?);
        }
        for word in &self.ignore {
            let codes = universe.codes(word)?;
            on.retain(|code| !codes.contains(code));
        }
        Ok(())
    }
}
