//! What one upload holds.

use super::Entry;

/// Results of a run that GitHub takes.
const RESULTS: usize = 25_000;
/// Bytes of what tasks can choose: as random as they like, with everything else they stay below 10 MB compressed.
const BYTES: usize = 8_000_000;
/// Characters of a message.
const MESSAGE: usize = 4_000;
/// Other places of a result.
pub(super) const RELATED: usize = 20;

/// Returns the entries that fit, in their order, and how many do not: hidden ones go first, then the least important.
pub(super) fn fitting<'e, 'a>(entries: &'e [Entry<'a>]) -> (Vec<&'e Entry<'a>>, usize) {
    let mut by_weight: Vec<(usize, &Entry<'a>)> = entries.iter().enumerate().collect();
    by_weight.sort_by_key(|(_, entry)| (entry.suppressed.is_some(), entry.level));
    let mut bytes = 0;
    let mut kept: Vec<(usize, &Entry<'a>)> = by_weight
        .into_iter()
        .take(RESULTS)
        .take_while(|(_, entry)| {
            bytes += size(entry);
            bytes <= BYTES
        })
        .collect();
    kept.sort_by_key(|(place, _)| *place);
    let left_out = entries.len() - kept.len();
    (kept.into_iter().map(|(_, entry)| entry).collect(), left_out)
}

/// Returns how many bytes of an entry are of the tasks' choice.
fn size(entry: &Entry<'_>) -> usize {
    let help: usize = entry.help.iter().map(String::len).sum();
    let message = (entry.message.len() + help).min(4 * MESSAGE);
    let related = entry.related.iter().take(RELATED);
    let related: usize = related
        .map(|(place, what)| place.path().as_str().len() + what.len())
        .sum();
    let changes = entry.fix.into_iter().flat_map(|fix| &fix.changes);
    let changes: usize = changes.map(|(_, new)| 20 + new.len()).sum();
    let own = [entry.path, entry.task, entry.suppressed].into_iter().flatten();
    // The fingerprint has sixteen bytes.
    16 + message + related + changes + own.map(str::len).sum::<usize>()
}

/// Cuts a message.
pub(super) fn cut(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(MESSAGE) {
        text.truncate(end);
        text.push_str("\n[cut]");
    }
    text
}
