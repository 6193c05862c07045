//! Tasks that have something in common which each should have for itself.

use std::collections::BTreeMap;

use task_model::{Dataset, Task};

/// Returns pairs of tasks with one `key` for which `clash` holds, the one to tell first and the one that it is compared
/// with second. Every task of the dataset is compared, and a pair is told when either of the two is selected: what a
/// change adds mostly clashes with something that it did not touch.
pub(super) fn clashes<'a, K: Ord>(
    dataset: &'a Dataset,
    key: impl Fn(&'a Task) -> Option<K>,
    clash: impl Fn(&Task, &Task) -> bool,
) -> Vec<(&'a Task, &'a Task)> {
    let mut groups: BTreeMap<K, Vec<&Task>> = BTreeMap::new();
    for task in &dataset.tasks {
        if let Some(key) = key(task) {
            groups.entry(key).or_default().push(task);
        }
    }
    let mut pairs = Vec::new();
    for group in groups.into_values() {
        let Some((first, rest)) = group.split_first() else {
            continue;
        };
        let mut others = rest.iter().filter(|other| clash(first, other)).peekable();
        let Some(second) = others.peek().copied() else {
            continue;
        };
        let before = pairs.len();
        pairs.extend(
            others
                .filter(|other| other.selected)
                .map(|other| (*other, *first)),
        );
        if pairs.len() == before && first.selected {
            pairs.push((*first, *second));
        }
    }
    pairs
}
