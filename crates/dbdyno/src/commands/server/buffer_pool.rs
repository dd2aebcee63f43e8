//! The default buffer pool size of a new server.

use std::collections::BTreeMap;

use mycnf::OptionName;

/// The option in the server's spelling.
const NAME: &str = "innodb_buffer_pool_size";

/// The server's own default in every version from 5.5 on; dbdyno never selects less.
const DEFAULT_BYTES: u64 = 128 << 20;

/// Divisor of the memory: loads and other servers need memory, too.
const PART: u64 = 4;

/// Pool size for a server whose options do not set it, bytes: a quarter of `memory_bytes`, rounded down to 128 MiB, the
/// allocation unit of newer servers. `None` if the options set it, or if the result would not exceed the default.
pub(super) fn chosen_bytes(set: &BTreeMap<String, String>, memory_bytes: u64) -> Option<u64> {
    let is_named = set
        .keys()
        .any(|name| OptionName::new(name).base() == OptionName::new(NAME).base());
    let bytes = memory_bytes / PART / DEFAULT_BYTES * DEFAULT_BYTES;
    (!is_named && bytes > DEFAULT_BYTES).then_some(bytes)
}

/// Sets the pool size.
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
