//! The judgement of options by the catalogue of a version, for servers that cannot be run.

use std::fmt::Write as _;

use crate::catalogue::{Catalogue, Family, Kind, KnownOption};
use crate::character_sets::{has_character_set, nearest_character_set};
use crate::entry::Entry;
use crate::exact_words::takes_exact_words;
use crate::finding::{Finding, Severity};
use crate::judgement::Judgement;
use crate::name::{OptionName, is_switched_on};
use crate::target::Target;
use crate::unit::{knows_unit, not_a_number};
use crate::unknown::explain_unknown;

/// A hint lists at most this many allowed words.
const WORDS_SHOWN_MAX: usize = 12;

/// The findings of the catalogue's version about each option.
pub fn judge(catalogue: &Catalogue, entries: &[Entry]) -> Vec<Finding> {
    entries
        .iter()
        .filter_map(|entry| judge_entry(catalogue, entry))
        .collect()
}

fn judge_entry(catalogue: &Catalogue, entry: &Entry) -> Option<Finding> {
    let name = &entry.name;
    let Some(option) = catalogue.find(name) else {
        let knows = |name: &str| catalogue.has(&OptionName::new(name));
        let unknown = explain_unknown(catalogue, name, &knows);
        let severity = if catalogue.ignores_unknown(name) {
            Severity::Note
        } else {
            Severity::Refused
        };
        let hint = unknown.hint.map(|fix| fix.to_string());
        return Some(Finding::new(entry, severity, unknown.what).hint(hint));
    };
    if option.kind == Kind::NoEffect {
        let what = "has no effect in this version";
        return Some(Finding::new(entry, Severity::Note, what));
    }
    let value = entry.value.as_deref()?;
    let judgement = judge_value(catalogue, option, name, value)?;
    let finding = Finding::new(entry, judgement.severity(), judgement.what());
    Some(finding.hint(allowed(catalogue, name)))
}

/// The options that take the name of a character set.
const OF_CHARACTER_SETS: [&str; 2] = ["character_set_server", "character_set_filesystem"];

fn judge_character_set(catalogue: &Catalogue, name: &str) -> Option<Judgement> {
    let target = Target::of_catalogue(catalogue);
    // `utf8` has a rule of its own.
    if has_character_set(&target, name) || name.eq_ignore_ascii_case("utf8") {
        return None;
    }
    let meant = nearest_character_set(name);
    let meant = meant.map_or(String::new(), |meant| format!("; is {meant} meant?"));
    let what = format!("this version has no character set of this name{meant}");
    Some(Judgement::Refused(what))
}

/// The options with words that keep their default with any other word, and with none.
/// Source: MySQL 5.7, `Sys_var_multi_enum::fixup_command_line`, which leaves the value as it is.
const DEFAULT_BY_ANY_WORD: [&str; 1] = ["enforce_gtid_consistency"];

/// Switches of InnoDB that are declared without an argument: after `=` the server reads on or off, and ignores the line
/// with anything else. Source: `PLUGIN_VAR_NOCMDARG` in InnoDB's list of variables; my_getopt, "ignoring option '--%s'
/// due to invalid value '%s'"; MariaDB with `innodb_doublewrite = fast`.
const WITHOUT_ARGUMENT: [&str; 10] = [
    "innodb_adaptive_flushing",
    "innodb_deadlock_detect",
    "innodb_doublewrite",
    "innodb_file_per_table",
    "innodb_flush_sync",
    "innodb_numa_interleave",
    "innodb_optimize_fulltext_only",
    "innodb_random_read_ahead",
    "innodb_use_atomic_writes",
    "innodb_use_native_aio",
];

/// What a server makes of a switch whose value is neither on nor off.
pub(crate) fn judge_switch(option: &KnownOption) -> Judgement {
    if WITHOUT_ARGUMENT.contains(&option.name) {
        let what = "the value is neither on nor off: the server ignores the line";
        return Judgement::Ignored(what);
    }
    Judgement::TakenForOff
}

/// What the catalogue's version makes of a value of an option, written under this name; `None` if it takes the value
/// as it is.
pub(crate) fn judge_value(
    catalogue: &Catalogue,
    option: &KnownOption,
    name: &OptionName,
    value: &str,
) -> Option<Judgement> {
    let refused = |what: &str| Some(Judgement::Refused(what.to_owned()));
    if let Kind::Word(words) = option.kind
        && DEFAULT_BY_ANY_WORD.contains(&option.name)
    {
        let default = catalogue.default_value(option.name).unwrap_or("OFF");
        return (!is_word_of(words, value)).then(|| Judgement::Word(default.to_owned()));
    }
    // In some versions an option of that name is no switch, but takes words.
    let is_switch = option.kind == Kind::Boolean && WITHOUT_ARGUMENT.contains(&option.name);
    if value.is_empty() && !is_switch {
        return judge_empty(catalogue, &option.kind);
    }
    match &option.kind {
        Kind::Text if OF_CHARACTER_SETS.contains(&option.name) => {
            judge_character_set(catalogue, value)
        }
        Kind::VariableOnly | Kind::NoEffect | Kind::Text => None,
        Kind::Boolean => match is_switched_on(name, Some(value)) {
            Some(_) => None,
            None => Some(judge_switch(option)),
        },
        Kind::Integer { min, max } => {
            match parse_number(value).filter(|_| knows_unit(catalogue, value)) {
                None => refused(not_a_number(catalogue)),
                Some(_) if is_too_large(catalogue.family(), value) => {
                    refused("the number is larger than 2^64 - 1, more than a server can read")
                }
                Some(number) => {
                    let becomes = number.max(min.unwrap_or(number)).min(max.unwrap_or(number));
                    // -1 usually means that the server chooses the value.
                    let cut = becomes != number && number != -1;
                    cut.then_some(Judgement::Number(becomes))
                }
            }
        }
        Kind::Decimal => match value.parse::<f64>() {
            Ok(_) => None,
            Err(_) => refused("the value is not a number"),
        },
        Kind::Word(words) => {
            let is_written_so = !takes_exact_words(&Target::of_catalogue(catalogue), option.name)
                || words.split(',').any(|word| word == value);
            if is_written_so && is_word_of(words, value) {
                None
            } else {
                refused("the value is not one of the allowed words")
            }
        }
        Kind::Words(words) => {
            if value.parse::<u64>().is_ok() {
                return None;
            }
            let wrong = value.split(',').filter(|part| !is_part_of(words, part));
            let wrong: Vec<&str> = wrong.collect();
            if let Some(part) = wrong.iter().find(|part| is_part_of(words, part.trim())) {
                let what = format!("the list must not contain a space: '{part}'");
                return Some(Judgement::Refused(what));
            }
            match wrong.as_slice() {
                [] => None,
                parts if parts.iter().all(|part| part.is_empty()) => {
                    refused("the list has a comma without a word after it")
                }
                _ => {
                    let what = format!("this version does not know {}", wrong.join(", "));
                    Some(Judgement::Refused(what))
                }
            }
        }
    }
}

/// What a version does with `name =`: MySQL refuses it from 5.7 on for a number or a word, and others take it for 0.
/// Source: seven versions with `join_buffer_size =`, `binlog_format =`, `long_query_time =`, `sql_mode =` and
/// `slow_query_log =`.
fn judge_empty(catalogue: &Catalogue, kind: &Kind) -> Option<Judgement> {
    let becomes = match kind {
        Kind::Integer { min, max } => {
            let least = min.unwrap_or(0).max(0).min(max.unwrap_or(i128::MAX));
            Judgement::Number(least)
        }
        Kind::Decimal => Judgement::Number(0),
        Kind::Word(words) => {
            Judgement::Word(words.split(',').next().unwrap_or_default().to_owned())
        }
        Kind::Boolean => Judgement::Word("OFF".to_owned()),
        Kind::Words(_) | Kind::Text | Kind::NoEffect | Kind::VariableOnly => return None,
    };
    let is_refused = Target::of_catalogue(catalogue).is_at_least(Family::MySql, &[5, 7]);
    Some(if is_refused && *kind != Kind::Boolean {
        Judgement::Refused("the value is empty".to_owned())
    } else {
        becomes
    })
}

/// Whether a number does not fit into 64 bits: before its unit, where every server refuses it, or with it, which MariaDB
/// cuts to the largest. Source: `join_buffer_size` = 99999999999999999999 and 99999P on seven versions.
fn is_too_large(family: Family, value: &str) -> bool {
    let number = value.trim().trim_start_matches(['+', '-']);
    let unit = number.find(|character: char| !character.is_ascii_digit());
    let digits = &number[..unit.unwrap_or(number.len())];
    let is_negative = value.trim().starts_with('-');
    let with_unit = parse_number(value).is_some_and(|number| number > i128::from(u64::MAX));
    !is_negative
        && !digits.is_empty()
        && (digits.parse::<u64>().is_err() || (family == Family::MySql && with_unit))
}

/// Servers accept a word in any case, a beginning of it, or its number.
pub(crate) fn is_word_of(words: &str, value: &str) -> bool {
    match value.parse::<usize>() {
        Ok(number) => number < words.split(',').count(),
        Err(_) => !value.is_empty() && beginning_with(words, value).next().is_some(),
    }
}

/// Of a list servers accept words in any case, and beginnings of only one.
/// Source: `sql_mode` = STRICT, STRICT_TRANS, `ANSI, STRICT_ALL_TABLES` and `ANSI,` on seven versions.
pub(crate) fn is_part_of(words: &str, part: &str) -> bool {
    let is_whole = words.split(',').any(|word| word.eq_ignore_ascii_case(part));
    is_whole || (!part.is_empty() && beginning_with(words, part).count() == 1)
}

/// The words that begin with a text, in any case.
fn beginning_with<'w>(words: &'w str, text: &str) -> impl Iterator<Item = &'w str> {
    let begin = text.to_ascii_lowercase();
    let words = words.split(',');
    words.filter(move |word| word.to_ascii_lowercase().starts_with(&begin))
}

/// A number as the servers parse it: an optional sign, digits, one suffix letter, and ignored trailing characters:
/// `1GB` is `1G`, and `many` is `0M`. Source: `max_connections = many` on seven versions.
pub fn parse_number(text: &str) -> Option<i128> {
    let text = text.trim();
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let shift = match rest[digits..]
        .bytes()
        .next()
        .map(|unit| unit.to_ascii_uppercase())
    {
        None => 0,
        Some(b'K') => 10,
        Some(b'M') => 20,
        Some(b'G') => 30,
        Some(b'T') => 40,
        Some(b'P') => 50,
        Some(b'E') => 60,
        Some(_) => return None,
    };
    let number: i128 = match &rest[..digits] {
        // A unit alone is none of it, and `many` begins with one.
        "" if shift > 0 => 0,
        digits => digits.parse().ok()?,
    };
    number.checked_mul(sign << shift)
}

/// The values that an option accepts, as a hint: `allowed: 5242880 to 9223372036854775807`, if the catalogue has them.
pub fn allowed(catalogue: &Catalogue, name: &OptionName) -> Option<String> {
    match catalogue.find(name)?.kind {
        Kind::Boolean => Some("allowed: 0 or 1".to_owned()),
        Kind::Integer {
            min: Some(min),
            max: Some(max),
        } => Some(format!("allowed: {min} to {max}")),
        Kind::Word(words) | Kind::Words(words) => {
            let count = words.split(',').count();
            let shown: Vec<&str> = words.split(',').take(WORDS_SHOWN_MAX).collect();
            let mut text = format!("allowed: {}", shown.join(", "));
            if count > shown.len() {
                write!(text, " and {} more", count - shown.len())
                    .expect("writing to a String cannot fail");
            }
            Some(text)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::OptionFile;
    use crate::given_options::Options;
    use std::path::Path;

    fn judged(family: Family, version: &[u32], line: &str) -> Option<String> {
        let text = format!("[mysqld]\n{line}\n");
        let file = OptionFile::parse(&text, Path::new("my.cnf")).unwrap();
        let options = Options::from_groups(&file, &["mysqld"]);
        let findings = judge(&Catalogue::nearest(family, version), options.entries());
        findings
            .first()
            .map(|finding| format!("{:?}: {finding}", finding.severity))
    }

    #[test]
    fn values_are_judged_by_kind_and_range() {
        use Family::{MariaDb, MySql};
        for (family, version, line, expected) in [
            (MySql, [8, 0], "innodb_buffer_pool_size=1GB", None),
            (
                MySql,
                [8, 0],
                "innodb_buffer_pool_size=70%",
                Some(
                    "Refused: my.cnf line 2: innodb_buffer_pool_size=70%: the value is not a number with a unit of K, M, G, T, P or E; allowed: 5242880 to 9223372036854775807",
                ),
            ),
            (
                MySql,
                [8, 0],
                "max_connections=0",
                Some("Note: my.cnf line 2: max_connections=0: becomes 1; allowed: 1 to 100000"),
            ),
            (
                MySql,
                [8, 0],
                "innodb_file_per_table=maybe",
                Some(
                    "Refused: my.cnf line 2: innodb_file_per_table=maybe: the value is neither on nor off: the server ignores the line; allowed: 0 or 1",
                ),
            ),
            (
                MariaDb,
                [10, 11],
                "innodb_flush_method=O_DIRET",
                Some(
                    "Refused: my.cnf line 2: innodb_flush_method=O_DIRET: the value is not one of the allowed words; \
                      allowed: fsync, O_DSYNC, littlesync, nosync, O_DIRECT, O_DIRECT_NO_FSYNC",
                ),
            ),
            (MariaDb, [10, 11], "innodb_flush_method=o_direct", None),
            (MariaDb, [10, 11], "sql_mode=ansi,TRADITIONAL", None),
            (
                MySql,
                [8, 0],
                "sql_mode=ansi,FOO,NO_AUTO_CREATE_USER",
                Some(
                    "Refused: my.cnf line 2: sql_mode=ansi,FOO,NO_AUTO_CREATE_USER: this version does not know FOO, \
                      NO_AUTO_CREATE_USER; allowed: REAL_AS_FLOAT, PIPES_AS_CONCAT, ANSI_QUOTES, IGNORE_SPACE, \
                      ONLY_FULL_GROUP_BY, NO_UNSIGNED_SUBTRACTION, NO_DIR_IN_CREATE, ANSI, NO_AUTO_VALUE_ON_ZERO, \
                      NO_BACKSLASH_ESCAPES, STRICT_TRANS_TABLES, STRICT_ALL_TABLES and 9 more",
                ),
            ),
            (MySql, [5, 7], "sql_mode=NO_AUTO_CREATE_USER", None),
            (MySql, [5, 7], "character_set_server=gb18030", None),
            (
                MySql,
                [9, 7],
                "binlog_format=",
                Some(
                    "Refused: my.cnf line 2: binlog_format=: the value is empty; allowed: MIXED, STATEMENT, ROW",
                ),
            ),
            (
                MariaDb,
                [10, 11],
                "join_buffer_size=",
                Some(
                    "Note: my.cnf line 2: join_buffer_size=: becomes 128; allowed: 128 to 18446744073709551615",
                ),
            ),
            (
                MySql,
                [8, 0],
                "slow_query_log=",
                Some("Note: my.cnf line 2: slow_query_log=: becomes OFF; allowed: 0 or 1"),
            ),
            (
                MariaDb,
                [10, 11],
                "character_set_server=utf8mb5",
                Some(
                    "Refused: my.cnf line 2: character_set_server=utf8mb5: this version has no character set of this \
                      name; is utf8mb4 meant?",
                ),
            ),
            (MySql, [8, 0], "sql_mode=", None),
            (MySql, [8, 0], "sql_mode=STRICT_TRANS", None),
            (
                MySql,
                [9, 7],
                "innodb_doublewrite=\"DETECT_ONLY \"",
                Some(
                    "Refused: my.cnf line 2: innodb_doublewrite=DETECT_ONLY : the value is not one of the allowed words; \
                      allowed: OFF, ON, DETECT_ONLY, DETECT_AND_RECOVER, FALSE, TRUE",
                ),
            ),
            (
                MariaDb,
                [10, 11],
                "log_output=FILE, TABLE",
                Some(
                    "Refused: my.cnf line 2: log_output=FILE, TABLE: the list must not contain a space: ' TABLE'; \
                      allowed: NONE, FILE, TABLE",
                ),
            ),
            (
                MySql,
                [5, 7],
                "log_output=FILE,",
                Some(
                    "Refused: my.cnf line 2: log_output=FILE,: the list has a comma without a word after it; \
                      allowed: NONE, FILE, TABLE",
                ),
            ),
            (MySql, [8, 0], "binlog_format=row", None),
            (MySql, [5, 7], "enforce_gtid_consistency=WARN", None),
            (MySql, [8, 0], "enforce_gtid_consistency=true", None),
            (
                MySql,
                [8, 0],
                "enforce_gtid_consistency=maybe",
                Some(
                    "Note: my.cnf line 2: enforce_gtid_consistency=maybe: becomes OFF; \
                      allowed: OFF, ON, WARN, FALSE, TRUE",
                ),
            ),
            (
                MySql,
                [5, 6],
                "enforce_gtid_consistency=WARN",
                Some(
                    "Note: my.cnf line 2: enforce_gtid_consistency=WARN: the value is neither on nor off: \
                      the server warns and uses OFF; allowed: 0 or 1",
                ),
            ),
            (
                MySql,
                [8, 0],
                "gtid_mode=4",
                Some(
                    "Refused: my.cnf line 2: gtid_mode=4: the value is not one of the allowed words; \
                      allowed: OFF, OFF_PERMISSIVE, ON_PERMISSIVE, ON",
                ),
            ),
            (
                MySql,
                [8, 0],
                "join_buffer_size=99999999999999999999",
                Some(
                    "Refused: my.cnf line 2: join_buffer_size=99999999999999999999: the number is larger than \
                      2^64 - 1, more than a server can read; allowed: 128 to 18446744073709551615",
                ),
            ),
            (
                MariaDb,
                [10, 11],
                "performance_schema_digests_size=-1",
                None,
            ),
            (MariaDb, [10, 11], "log_bin=binlog", None),
            (
                MariaDb,
                [10, 11],
                "loose-gtid_mode=ON",
                Some(
                    "Note: my.cnf line 2: loose-gtid_mode=ON: unknown to this version, an option of MySQL; \
                      leave it out: MariaDB keeps global transaction ids without an option",
                ),
            ),
        ] {
            assert_eq!(
                judged(family, &version, line).as_deref(),
                expected,
                "{line}"
            );
        }
    }

    #[test]
    fn numbers_as_the_servers_read_them() {
        for (text, number) in [
            ("64M", Some(64 << 20)),
            ("1GB", Some(1 << 30)),
            ("-1", Some(-1)),
            ("+7k", Some(7 << 10)),
            ("18446744073709551615", Some(u64::MAX.into())),
            ("70%", None),
            ("1X", None),
            ("M", Some(0)),
            ("many", Some(0)),
            ("abc", None),
            ("", None),
            ("99999999999999999999999999999999999999E", None),
        ] {
            assert_eq!(parse_number(text), number, "{text}");
        }
    }
}
