//! What a key that its table does not have was probably meant to be.

use super::field::TableKeys;
use super::fields::{AGENT, ENVIRONMENT, HEALTHCHECK, PACKAGE, ROOT, SOLUTION, STEP, VERIFIER};

/// Tables that a stray key may belong to, the likeliest first.
static HOMES: [&TableKeys; 8] = [
    &ENVIRONMENT,
    &VERIFIER,
    &AGENT,
    &ROOT,
    &PACKAGE,
    &SOLUTION,
    &HEALTHCHECK,
    &STEP,
];

/// Names that other tools and older files use.
const ALIASES: [(&str, &str); 10] = [
    ("base_image", "docker_image"),
    ("image", "docker_image"),
    ("cpu", "cpus"),
    ("gpu", "gpus"),
    ("ram", "memory_mb"),
    ("disk", "storage_mb"),
    ("timeout", "timeout_sec"),
    ("timeout_seconds", "timeout_sec"),
    ("working_dir", "workdir"),
    ("environment_variables", "env"),
];

/// Returns what to do about an unknown key: one line or two.
pub(super) fn advice(table: &TableKeys, key: &str) -> Vec<String> {
    let mut help = Vec::new();
    if let Some(near) = nearest(table, key) {
        help.push(format!("did you mean `{near}`?"));
    }
    if table.shown == ROOT.shown && key == "gym" {
        help.push("NeMo Gym's `[gym]` table belongs in dataset.toml".to_owned());
        return help;
    }
    let homes: Vec<&str> = HOMES
        .iter()
        .filter(|home| home.shown != table.shown && home.has(key))
        .map(|home| home.shown)
        .take(3)
        .collect();
    if !homes.is_empty() {
        let homes: Vec<String> = homes
            .iter()
            .map(|h| {
                if h.starts_with('[') {
                    format!("`{h}`")
                } else {
                    (*h).to_owned()
                }
            })
            .collect();
        help.push(format!("`{key}` is read in {}", homes.join(" and ")));
    }
    if help.is_empty() {
        help.push("free-form data belongs in `[metadata]`".to_owned());
    }
    help
}

/// Returns the known key that `key` is probably a misspelling of.
fn nearest(known: &TableKeys, key: &str) -> Option<&'static str> {
    if let Some((_, meant)) = ALIASES.iter().find(|(alias, _)| alias.eq_ignore_ascii_case(key)) {
        return known.names().find(|k| k == meant);
    }
    let folded = fold(key);
    let limit = match folded.len() {
        0..=2 => 0,
        3..=5 => 1,
        _ => 2,
    };
    known
        .names()
        .map(|k| (distance(&fold(k), &folded), k))
        .filter(|(d, _)| *d <= limit)
        .min_by_key(|(d, _)| *d)
        .map(|(_, k)| k)
}

fn fold(key: &str) -> Vec<char> {
    key.chars()
        .filter(|c| !matches!(c, '_' | '-'))
        .flat_map(char::to_lowercase)
        .take(64)
        .collect()
}

/// Edits between two words; swapping neighbours is one.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let mut best = (row[j] + 1)
                .min(last[j + 1] + 1)
                .min(last[j] + usize::from(x != y));
            if i > 0 && j > 0 && a.get(i - 1) == Some(y) && b.get(j - 1) == Some(x) {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{AGENT, ENVIRONMENT, ROOT, VERIFIER, advice};

    #[test]
    fn a_misspelling_is_named() {
        for (table, key, near) in [
            (&ENVIRONMENT, "cpu", "cpus"),
            (&ENVIRONMENT, "dockerImage", "docker_image"),
            (&ENVIRONMENT, "image", "docker_image"),
            (&ENVIRONMENT, "memroy_mb", "memory_mb"),
            (&VERIFIER, "timeout", "timeout_sec"),
            (&AGENT, "tiemout_sec", "timeout_sec"),
            (&ROOT, "artifact", "artifacts"),
        ] {
            assert_eq!(
                advice(table, key).first(),
                Some(&format!("did you mean `{near}`?")),
                "{key}"
            );
        }
    }

    #[test]
    fn the_right_place_is_named() {
        assert_eq!(
            advice(&AGENT, "allow_internet"),
            ["`allow_internet` is read in `[environment]`"]
        );
        assert_eq!(
            advice(&ROOT, "timeout_sec"),
            ["`timeout_sec` is read in `[verifier]` and `[agent]` and `[environment.healthcheck]`"]
        );
        assert_eq!(
            advice(&ENVIRONMENT, "difficulty"),
            ["free-form data belongs in `[metadata]`"]
        );
    }
}
