//! The buffer pool of a server for which nobody chose one.

use std::collections::BTreeMap;

use mycnf::OptionName;

/// The option, as the server's option file spells it.
const NAME: &str = "innodb_buffer_pool_size";

/// What a server takes by itself, in every version from 5.5 on: less is never chosen.
const DEFAULT_BYTES: u64 = 128 << 20;

/// The part of the memory: loads and other servers want theirs, too.
const PART: u64 = 4;

/// A pool for a server whose options do not name one, bytes: a quarter of `memory_bytes`, in whole parts of 128 MiB, in which
/// newer servers allot it. `None` where they do, or where no more than the default would come of it.
pub(super) fn chosen_bytes(set: &BTreeMap<String, String>, memory_bytes: u64) -> Option<u64> {
    let is_named = set
        .keys()
        .any(|name| OptionName::new(name).base() == OptionName::new(NAME).base());
    let bytes = memory_bytes / PART / DEFAULT_BYTES * DEFAULT_BYTES;
    (!is_named && bytes > DEFAULT_BYTES).then_some(bytes)
}

/// Sets it.
pub(super) fn set_to(set: &mut BTreeMap<String, String>, bytes: u64) {
    set.insert(NAME.to_owned(), bytes.to_string());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quarter_in_whole_parts() {
        let none = BTreeMap::new();
        let gib = 1 << 30;
        assert_eq!(
            chosen_bytes(&none, 24 * gib - 1),
            Some(6 * gib - DEFAULT_BYTES)
        );
        assert_eq!(chosen_bytes(&none, gib), Some(2 * DEFAULT_BYTES));
        assert_eq!(
            chosen_bytes(&none, gib / 2),
            None,
            "the server's own default"
        );
        for name in ["innodb_buffer_pool_size", "loose-innodb-buffer-pool-size"] {
            let set = BTreeMap::from([(name.to_owned(), "1G".to_owned())]);
            assert_eq!(chosen_bytes(&set, 24 * gib), None, "{name}");
        }
    }
}
