//! The values of server options.

use mycnf::{is_same_setting, parse_size_bytes};

use crate::commands::log_switches::variable_name;

/// Whether two values of an option are the same to the server: `64M` and `67108864`, `ON` and `1`. The name of a file has
/// upper and lower case.
pub(crate) fn is_same_value(option: &str, one: &str, other: &str) -> bool {
    if one.contains('/') || other.contains('/') {
        return one == other;
    }
    let size = parse_size_bytes(one);
    (size.is_some() && size == parse_size_bytes(other))
        || is_same_setting(&variable_name(option), one, other)
}
