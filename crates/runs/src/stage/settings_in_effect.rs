//! Comparison of a server's actual settings with the requested ones.

use std::collections::BTreeMap;

/// Options whose value is a file's name and which also enable a feature; their variable is the switch.
const NAMED_SWITCHES: [&str; 1] = ["log_bin"];

/// The options whose actual values differ from the requested ones, one line each, such as
/// `innodb_flush_log_at_trx_commit: asked for 9, the server has 3`.
///
/// Servers adjust values silently. Options without a variable are not checked.
pub(super) fn adjusted(
    asked: &BTreeMap<String, String>,
    variables: &BTreeMap<String, String>,
) -> Vec<String> {
    asked
        .iter()
        .filter_map(|(option, value)| {
            let name = option.replace('-', "_").to_ascii_lowercase();
            let name = name.strip_prefix("loose_").unwrap_or(&name);
            let has = variables.get(name)?;
            let is_name = NAMED_SWITCHES.contains(&name) && switch(value).is_none();
            let value = if is_name { "ON" } else { value };
            (!is_same(value, has))
                .then(|| format!("{name}: asked for {value}, the server has {has}"))
        })
        .collect()
}

/// True for two forms of one value: `64M` and `67108864`, `1` and `ON`, `row` and `ROW`, `0.5` and `0.500000`.
fn is_same(asked: &str, has: &str) -> bool {
    let asked = asked.trim().trim_matches(['"', '\'']);
    asked.eq_ignore_ascii_case(has)
        || number(asked).is_some_and(|number_asked| number(has) == Some(number_asked))
        || switch(asked).is_some_and(|on| switch(has) == Some(on))
}

fn number(text: &str) -> Option<f64> {
    match mycnf::parse_size_bytes(text) {
        Some(bytes) => Some(bytes as f64),
        None => text.parse().ok(),
    }
}

fn switch(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "on" | "true" | "yes" | "1" => Some(true),
        "off" | "false" | "no" | "0" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_server_adjusted_is_told() {
        let map = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
            let pairs = pairs.iter();
            pairs
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect()
        };
        let asked = map(&[
            ("innodb-flush-log-at-trx-commit", "9"),
            ("innodb_buffer_pool_size", "64M"),
            ("query_cache_type", "on"),
            ("innodb_doublewrite", "1"),
            ("long_query_time", "0.5"),
            ("loose_nobody_knows", "7"),
            ("log_bin", "OFF"),
        ]);
        let named = map(&[("log-bin", "mysql-bin")]);
        let variables = map(&[
            ("innodb_flush_log_at_trx_commit", "3"),
            ("innodb_buffer_pool_size", "67108864"),
            ("query_cache_type", "ON"),
            ("innodb_doublewrite", "ON"),
            ("long_query_time", "0.500000"),
            ("log_bin", "ON"),
        ]);
        assert_eq!(
            adjusted(&asked, &variables),
            [
                "innodb_flush_log_at_trx_commit: asked for 9, the server has 3",
                "log_bin: asked for OFF, the server has ON"
            ]
        );
        assert!(adjusted(&named, &variables).is_empty());
        let off = map(&[("log_bin", "OFF")]);
        assert_eq!(
            adjusted(&named, &off),
            ["log_bin: asked for ON, the server has OFF"]
        );
    }
}
