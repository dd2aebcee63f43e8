//! Comparison of a server's actual settings with the requested ones.

use std::collections::BTreeMap;

use mycnf::{OptionFile, Side, is_same_setting, target_of_variables};

/// Options whose value is a file's name and which also enable a feature; their variable is the switch.
const NAMED_SWITCHES: [&str; 1] = ["log_bin"];
/// Options that set some flags of a list; their variable shows all flags.
const FLAGS: [&str; 2] = ["optimizer_switch", "optimizer_trace"];
/// Modes that stand for several; `sql_mode` shows them and all that they stand for.
///
/// Source: MySQL 5.7 Reference Manual, "Combination SQL Modes"; MariaDB documentation, "SQL_MODE".
const COMBINED_MODES: [&str; 9] = [
    "ANSI",
    "DB2",
    "MAXDB",
    "MSSQL",
    "MYSQL323",
    "MYSQL40",
    "ORACLE",
    "POSTGRESQL",
    "TRADITIONAL",
];

/// The options whose actual values differ from the requested ones, one line each, such as
/// `innodb_flush_log_at_trx_commit: asked for 9, the server has 3`.
///
/// Servers adjust values silently. Options without a variable are not checked.
pub(crate) fn adjusted(
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
            let is_in_effect = is_same(value, has)
                || is_same_setting(name, unquoted(value), has)
                || contains_asked(name, value, has)
                || is_shown_as_word(name, value, variables);
            (!is_in_effect).then(|| format!("{name}: asked for {value}, the server has {has}"))
        })
        .collect()
}

/// True for two forms of one value: `64M` and `67108864`, `1` and `ON`, `row` and `ROW`, `0.5` and `0.500000`.
fn is_same(asked: &str, has: &str) -> bool {
    let asked = unquoted(asked);
    asked.eq_ignore_ascii_case(has)
        || number(asked).is_some_and(|number_asked| number(has) == Some(number_asked))
        || switch(asked).is_some_and(|on| switch(has) == Some(on))
}

fn unquoted(asked: &str) -> &str {
    asked.trim().trim_matches(['"', '\''])
}

/// True if the variable shows more than what was requested, as it should: `mrr=on` among all flags of `optimizer_switch`.
fn contains_asked(name: &str, asked: &str, has: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        let words = text.split(',').map(str::trim);
        words.map(str::to_ascii_uppercase).collect()
    };
    let (asked, has) = (words(unquoted(asked)), words(has));
    let is_combined = |word: &String| COMBINED_MODES.contains(&word.as_str());
    let shows_more = FLAGS.contains(&name) || (name == "sql_mode" && asked.iter().any(is_combined));
    shows_more && asked.iter().all(|word| has.contains(word))
}

/// True if the variable shows the word whose number was requested: `DEMAND` for `query_cache_type = 2`.
fn is_shown_as_word(name: &str, asked: &str, variables: &BTreeMap<String, String>) -> bool {
    let has = variables.get(name).filter(|has| number(has).is_none());
    let (Some(has), Some(_)) = (has, number(unquoted(asked))) else {
        return false;
    };
    let mut file = OptionFile::default();
    let asked = Some(unquoted(asked).to_owned());
    let target =
        target_of_variables(variables).filter(|_| file.push("mysqld", name, asked).is_ok());
    target.is_some_and(|target| Side::of_file(&file, &target).values.get(name) == Some(has))
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

    #[test]
    fn other_forms_of_a_value_are_no_adjustment() {
        let switches = "index_merge=on,index_merge_union=on,mrr=off,derived_merge=on";
        let ansi = "REAL_AS_FLOAT,PIPES_AS_CONCAT,ANSI_QUOTES,IGNORE_SPACE,ANSI,NO_ZERO_DATE";
        for (name, asked, has, is_adjusted) in [
            (
                "optimizer_switch",
                "\"mrr=off,index_merge=on\"",
                switches,
                false,
            ),
            ("optimizer_switch", "mrr=on", switches, true),
            ("sql_mode", "ANSI,NO_ZERO_DATE", ansi, false),
            ("sql_mode", "NO_ZERO_DATE", ansi, true),
            (
                "sql_mode",
                "NO_ENGINE_SUBSTITUTION,STRICT_TRANS_TABLES",
                "STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION",
                false,
            ),
            ("log_output", "TABLE,FILE", "FILE,TABLE", false),
            ("character-set-server", "utf8", "utf8mb3", false),
            ("concurrent_insert", "2", "ALWAYS", false),
            ("concurrent_insert", "2", "AUTO", true),
        ] {
            let asked = BTreeMap::from([(name.to_owned(), asked.to_owned())]);
            let variables = [
                (name.replace('-', "_"), has),
                ("version".to_owned(), "8.0.33"),
            ];
            let variables = variables.map(|(name, value)| (name, value.to_owned()));
            let found = adjusted(&asked, &BTreeMap::from(variables));
            assert_eq!(!found.is_empty(), is_adjusted, "{asked:?}: {found:?}");
        }
    }
}
