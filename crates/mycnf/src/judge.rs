//! The judgement of options by the catalogue of a version, for servers that cannot be run.

use std::fmt::Write as _;

use crate::catalogue::{Catalogue, Kind};
use crate::entry::Entry;
use crate::finding::{Finding, Severity};
use crate::name::{OptionName, is_switched_on};
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
        let severity = if name.is_loose() {
            Severity::Note
        } else {
            Severity::Refused
        };
        return Some(Finding::new(entry, severity, unknown.what).hint(unknown.hint));
    };
    if option.kind == Kind::NoEffect {
        let what = "has no effect in this version";
        return Some(Finding::new(entry, Severity::Note, what));
    }
    let value = entry.value.as_deref()?;
    let (severity, what) = judge_value(&option.kind, name, value)?;
    Some(Finding::new(entry, severity, what).hint(allowed(catalogue, name)))
}

pub(crate) fn judge_value(
    kind: &Kind,
    name: &OptionName,
    value: &str,
) -> Option<(Severity, String)> {
    let refused = |what: &str| Some((Severity::Refused, what.to_owned()));
    match kind {
        Kind::VariableOnly | Kind::NoEffect | Kind::Text => None,
        Kind::Boolean => match is_switched_on(name, Some(value)) {
            Some(_) => None,
            None => refused("the value is neither on nor off"),
        },
        Kind::Integer { min, max } => match parse_number(value) {
            None => refused("the value is no number with a unit of K, M, G, T, P or E"),
            Some(number) => {
                let becomes = number.max(min.unwrap_or(number)).min(max.unwrap_or(number));
                // -1 usually means that the server chooses the value.
                let cut = becomes != number && number != -1;
                cut.then(|| (Severity::Note, format!("becomes {becomes}")))
            }
        },
        Kind::Decimal => match value.parse::<f64>() {
            Ok(_) => None,
            Err(_) => refused("the value is no number"),
        },
        Kind::Word(words) => {
            if is_word_of(words, value) {
                None
            } else {
                refused("the value is none of the allowed words")
            }
        }
        Kind::Words(words) => {
            let mut parts = value.split(',').filter(|part| !part.is_empty());
            if parts.all(|part| is_word_of(words, part)) {
                None
            } else {
                refused("the value has a word that is not allowed")
            }
        }
    }
}

/// Servers accept a word in any case, a prefix of it, or its number.
pub(crate) fn is_word_of(words: &str, value: &str) -> bool {
    let value = value.trim().to_ascii_lowercase();
    let is_start = |word: &str| word.to_ascii_lowercase().starts_with(&value);
    (!value.is_empty() && words.split(',').any(is_start))
        || value.parse::<u64>().is_ok()
        || matches!(value.as_str(), "true" | "false")
}

/// A number as the servers parse it: an optional sign, digits, one suffix letter, and ignored trailing characters:
/// `1GB` is `1G`.
pub fn parse_number(text: &str) -> Option<i128> {
    let text = text.trim();
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let number: i128 = rest[..digits].parse().ok()?;
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
    use crate::catalogue::Family;
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
                    "Refused: my.cnf line 2: innodb_buffer_pool_size=70%: the value is no number with a unit of \
                      K, M, G, T, P or E; allowed: 5242880 to 9223372036854775807",
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
                    "Refused: my.cnf line 2: innodb_file_per_table=maybe: the value is neither on nor off; \
                      allowed: 0 or 1",
                ),
            ),
            (
                MariaDb,
                [10, 11],
                "innodb_flush_method=O_DIRET",
                Some(
                    "Refused: my.cnf line 2: innodb_flush_method=O_DIRET: the value is none of the allowed words; \
                      allowed: fsync, O_DSYNC, littlesync, nosync, O_DIRECT, O_DIRECT_NO_FSYNC",
                ),
            ),
            (MariaDb, [10, 11], "innodb_flush_method=o_direct", None),
            (MariaDb, [10, 11], "sql_mode=ansi,TRADITIONAL", None),
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
                    "Note: my.cnf line 2: loose-gtid_mode=ON: unknown to this version, an option of MySQL's; \
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
            ("M", None),
            ("", None),
            ("99999999999999999999999999999999999999E", None),
        ] {
            assert_eq!(parse_number(text), number, "{text}");
        }
    }
}
