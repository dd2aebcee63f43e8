//! One line of an option file, resolved to the option of a version.

use crate::catalogue::{Kind, KnownOption};
use crate::character_sets::{is_of_character_set, with_utf8mb3};
use crate::entry::Entry;
use crate::judge::{judge_switch, parse_number};
use crate::judgement::Judgement;
use crate::name::{OptionName, is_switched_on};

/// A line with the option that it sets.
#[derive(Debug, Clone)]
pub(crate) struct Assignment<'a> {
    pub(crate) entry: &'a Entry,
    /// The option in the version's catalogue; `None` if it is unknown there.
    pub(crate) option: Option<&'static KnownOption>,
    /// Whether the server reads the group of the line.
    pub(crate) is_read: bool,
}

impl Assignment<'_> {
    /// The name of the option in the catalogue, or as written with `_`.
    pub(crate) fn name(&self) -> &str {
        self.option
            .map_or_else(|| self.entry.name.base(), |option| option.name)
    }

    /// The value that the option gets, as a server shows it; `None` if the version does not know the option or refuses
    /// the value.
    pub(crate) fn value(&self) -> Option<String> {
        value_shown(self.option?, &self.entry.name, self.entry.value.as_deref())
    }
}

/// Options that take a path and are shown as switches: only a prefix of the name switches them off.
///
/// Source: mysqld.cc, OPT_BIN_LOG: `opt_bin_log = (argument != disabled_my_option)` compares pointers, and my_getopt
/// gives this pointer to such names alone.
const SHOWN_AS_SWITCHES: [&str; 1] = ["log_bin"];

/// The value of an option as SHOW VARIABLES presents it.
pub(crate) fn value_shown(
    option: &KnownOption,
    name: &OptionName,
    value: Option<&str>,
) -> Option<String> {
    // `skip_name_resolve` is an option of that name, `skip_log_bin` is log_bin switched off.
    let is_off = name.switches_off() && option.name != name.folded();
    let switch = |on: bool| if on { "ON" } else { "OFF" }.to_owned();
    // `log_bin = 0` is on, with files named `0`; `skip_log_bin = 0` is a double negation.
    if SHOWN_AS_SWITCHES.contains(&option.name) {
        return Some(switch(!name.disables(value)));
    }
    match option.kind {
        Kind::VariableOnly | Kind::NoEffect => None,
        Kind::Boolean => {
            let plain = OptionName::new(option.name.trim_start_matches("skip_"));
            match is_switched_on(&plain, value) {
                Some(on) => Some(switch(on != is_off)),
                // `local_infile = NO`
                None => (judge_switch(option) == Judgement::TakenForOff).then(|| switch(false)),
            }
        }
        Kind::Integer { min, max } => {
            let number = parse_number(value?)?;
            let number = number.max(min.unwrap_or(number)).min(max.unwrap_or(number));
            Some(number.to_string())
        }
        Kind::Decimal => {
            let number: f64 = value?.parse().ok()?;
            Some(format!("{number:.6}"))
        }
        Kind::Word(words) => word_shown(words, value, is_off),
        Kind::Words(_) => value.map(str::to_owned),
        Kind::Text if is_off => Some("OFF".to_owned()),
        Kind::Text => Some(value.unwrap_or("ON").to_owned()),
    }
}

/// One word of a list, written in any case, abbreviated, or by its number.
fn word_shown(words: &str, value: Option<&str>, is_off: bool) -> Option<String> {
    let mut all = words.split(',');
    let Some(value) = value else {
        let wanted = if is_off { "OFF" } else { "ON" };
        return all.find(|word| *word == wanted).map(str::to_owned);
    };
    if let Ok(index) = value.parse::<usize>() {
        return all.nth(index).map(str::to_owned);
    }
    let lower = value.to_ascii_lowercase();
    let exact = words
        .split(',')
        .find(|word| word.eq_ignore_ascii_case(value));
    exact
        .or_else(|| all.find(|word| word.to_ascii_lowercase().starts_with(&lower)))
        .map(str::to_owned)
}

/// Whether a shown value means on.
pub(crate) fn is_on(shown: &str) -> bool {
    ["ON", "1", "TRUE", "YES"]
        .iter()
        .any(|on| shown.eq_ignore_ascii_case(on))
}

/// Whether two shown values of a variable mean the same: an empty flush method is fsync, utf8 is utf8mb3, lists have
/// any order.
pub fn is_same_setting(name: &str, one: &str, other: &str) -> bool {
    let plain = |value: &str| match (name, value) {
        ("innodb_flush_method", "") => "fsync".to_owned(),
        (name, value) if is_of_character_set(name) => with_utf8mb3(value),
        _ => value.to_owned(),
    };
    let words = |text: &str| {
        let mut words: Vec<String> = text.split(',').map(str::to_ascii_lowercase).collect();
        words.sort_unstable();
        words
    };
    is_same(&plain(one), &plain(other)) || (one.contains(',') && words(one) == words(other))
}

/// Whether two shown values mean the same: numbers by value, switches and words in any case.
pub(crate) fn is_same(one: &str, other: &str) -> bool {
    if one.eq_ignore_ascii_case(other) {
        return true;
    }
    if let (Ok(one), Ok(other)) = (one.parse::<f64>(), other.parse::<f64>()) {
        return one == other;
    }
    let switch = |text: &str| match text.to_ascii_uppercase().as_str() {
        "ON" | "1" | "TRUE" | "YES" => Some(true),
        "OFF" | "0" | "FALSE" | "NO" => Some(false),
        _ => None,
    };
    switch(one).is_some() && switch(one) == switch(other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{Catalogue, Family};

    #[test]
    fn values_are_shown_as_servers_show_them() {
        for (family, version, name, value, shown) in [
            (
                Family::MySql,
                [8, 0],
                "innodb_buffer_pool_size",
                Some("1G"),
                Some("1073741824"),
            ),
            (
                Family::MySql,
                [8, 0],
                "max_connections",
                Some("0"),
                Some("1"),
            ),
            (Family::MySql, [8, 0], "skip-log-bin", None, Some("OFF")),
            (Family::MySql, [8, 0], "disable_log_bin", None, Some("OFF")),
            (
                Family::MySql,
                [8, 0],
                "disable_log_bin",
                Some("1"),
                Some("OFF"),
            ),
            (Family::MySql, [8, 0], "skip_log_bin", Some("0"), Some("ON")),
            (Family::MySql, [5, 6], "log_bin", Some("0"), Some("ON")),
            (
                Family::MySql,
                [8, 0],
                "enable_log_bin",
                Some("0"),
                Some("OFF"),
            ),
            (
                Family::MySql,
                [8, 0],
                "enable_log_bin",
                Some("1"),
                Some("ON"),
            ),
            (
                Family::MySql,
                [5, 6],
                "log-bin",
                Some("mysql-bin"),
                Some("ON"),
            ),
            (Family::MariaDb, [10, 11], "Skip-Log-Bin", None, Some("OFF")),
            (
                Family::MariaDb,
                [11, 8],
                "DISABLE_LOG_BIN",
                None,
                Some("OFF"),
            ),
            (
                Family::MariaDb,
                [11, 4],
                "Enable-Log-Bin",
                Some("0"),
                Some("OFF"),
            ),
            (
                Family::MariaDb,
                [10, 11],
                "Skip-Name-Resolve",
                None,
                Some("ON"),
            ),
            (Family::MySql, [5, 6], "skip-name-resolve", None, Some("ON")),
            (
                Family::MySql,
                [5, 6],
                "skip_name_resolve",
                Some("0"),
                Some("OFF"),
            ),
            (
                Family::MariaDb,
                [10, 11],
                "innodb_flush_method",
                Some("o_direct"),
                Some("O_DIRECT"),
            ),
            (
                Family::MariaDb,
                [10, 11],
                "query_cache_type",
                Some("1"),
                Some("ON"),
            ),
            (
                Family::MariaDb,
                [10, 11],
                "long_query_time",
                Some("3"),
                Some("3.000000"),
            ),
            (
                Family::MariaDb,
                [10, 11],
                "innodb_file_per_table",
                None,
                Some("ON"),
            ),
            (
                Family::MariaDb,
                [10, 11],
                "innodb_change_buffering",
                Some("all"),
                Some("all"),
            ),
            (
                Family::MariaDb,
                [11, 4],
                "innodb_change_buffering",
                Some("all"),
                None,
            ),
            (
                Family::MySql,
                [8, 0],
                "local_infile",
                Some("maybe"),
                Some("OFF"),
            ),
            (
                Family::MySql,
                [5, 7],
                "innodb_doublewrite",
                Some("maybe"),
                None,
            ),
            (
                Family::MySql,
                [5, 7],
                "enforce_gtid_consistency",
                Some("warn"),
                Some("WARN"),
            ),
        ] {
            let catalogue = Catalogue::nearest(family, &version);
            let written = OptionName::new(name);
            let option = catalogue.find(&written).unwrap();
            assert_eq!(
                value_shown(option, &written, value).as_deref(),
                shown,
                "{name}={value:?}"
            );
        }
        assert!(is_same_setting("innodb_flush_method", "", "fsync"));
        assert!(is_same_setting(
            "sql_mode",
            "ANSI,TRADITIONAL",
            "traditional,ansi"
        ));
        assert!(!is_same_setting("sql_mode", "", "ANSI"));
        assert!(is_same_setting("character_set_server", "utf8", "utf8mb3"));
        assert!(!is_same_setting("character_set_server", "utf8", "utf8mb4"));
        let [old, new] = ["utf8_general_ci", "utf8mb3_general_ci"];
        assert!(is_same_setting("collation_server", old, new));
        assert!(is_same("3.000000", "3") && is_same("OFF", "0") && !is_same("ON", "DEMAND"));
    }
}
