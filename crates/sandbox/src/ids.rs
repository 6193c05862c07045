//! The range of ids that a sandbox of root is mapped to.

use std::fs;

/// The first host id of a sandbox of root. It lies in a range that no distribution hands out.
const FIRST_BASE: u64 = 1_879_048_192;
/// How many ids a sandbox of root has.
pub(crate) const ID_COUNT: u64 = 65_536;

/// Returns the first host id of a sandbox that this process starts; `None` when it can map only its own id.
pub(crate) fn base() -> Option<u64> {
    if !rustix::process::geteuid().is_root() || !has_all_ids() {
        return None;
    }
    let handed_out: String = ["/etc/subuid", "/etc/subgid"]
        .into_iter()
        .map(|path| fs::read_to_string(path).unwrap_or_default() + "\n")
        .collect();
    Some(free_base(&handed_out))
}

/// Says whether this is the machine's own user namespace. In another one, uid 0 is not the host's and 65,536 free ids
/// cannot be expected.
fn has_all_ids() -> bool {
    fs::read_to_string("/proc/self/uid_map").is_ok_and(|map| {
        let fields: Vec<_> = map.split_whitespace().collect();
        fields == ["0", "0", "4294967295"]
    })
}

/// The first base that no range of `/etc/subuid` or `/etc/subgid` text touches.
fn free_base(handed_out: &str) -> u64 {
    let ranges: Vec<(u64, u64)> = handed_out
        .lines()
        .filter_map(|line| {
            let mut fields = line.split(':').skip(1).map(str::parse::<u64>);
            match (fields.next(), fields.next()) {
                (Some(Ok(first)), Some(Ok(count))) => Some((first, first.saturating_add(count))),
                _ => None,
            }
        })
        .collect();
    (0..4000)
        .map(|n| FIRST_BASE + n * ID_COUNT)
        .find(|base| {
            ranges
                .iter()
                .all(|(first, end)| base + ID_COUNT <= *first || end <= base)
        })
        .unwrap_or(FIRST_BASE)
}

#[cfg(test)]
mod tests {
    use super::{FIRST_BASE, ID_COUNT, free_base};

    #[test]
    fn the_base_avoids_the_ranges_of_subuid() {
        assert_eq!(free_base(""), FIRST_BASE);
        assert_eq!(free_base("ann:100000:65536\n"), FIRST_BASE);
        assert_eq!(
            free_base(&format!("ann:{}:1\nx\n:::", FIRST_BASE + 5)),
            FIRST_BASE + ID_COUNT
        );
        assert_eq!(free_base("ann:0:1879113729"), FIRST_BASE + 2 * ID_COUNT);
    }
}
