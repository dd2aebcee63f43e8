//! A server's messages about its options.

use std::cmp::Reverse;

use mycnf::{Entry, OptionName};

/// A log line of a server about an option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Complaint {
    /// The option name is unknown; spelt with `_` and without `loose_`.
    Unknown {
        name: String,
    },
    Refused {
        text: String,
    },
    /// The option is accepted with a remark.
    Remark {
        text: String,
    },
}

/// Text that marks an option as not applied, whatever the level of the line. A switch that is neither on nor off is applied:
/// the server starts with OFF.
const NOT_FOLLOWED: [&str; 2] = ["Unknown suffix ", "due to invalid value"];

/// Messages about the limit of open files where the check runs: the file is for another machine, or for another account.
const OF_THIS_MACHINE: [&str; 2] = [
    "Changed limits: ",
    "Could not increase number of max_open_files ",
];

pub(crate) fn parse_complaints(log: &str) -> Vec<Complaint> {
    log.lines().filter_map(parse_line).collect()
}

/// Reads a line of any server version:
///
/// ```text
/// 261121 10:50:28 [ERROR] /x/mysqld: unknown variable 'no_such=1'
/// 2026-11-21T10:38:23.139766Z 0 [Warning] [MY-000081] [Server] option 'max_connections': unsigned value 0 adjusted to 1.
/// Unknown suffix 'X' used for variable 'sort_buffer_size' (value '1X')
/// ```
fn parse_line(line: &str) -> Option<Complaint> {
    let level = ["[ERROR] ", "[Warning] ", "[Note] "]
        .into_iter()
        .find_map(|level| Some((level, line.split_once(level)?.1)));
    let is_refusal = NOT_FOLLOWED.iter().any(|words| line.contains(words));
    let (level, text) = match level {
        None if !is_refusal => return None,
        None => ("[ERROR] ", line),
        Some(found) => found,
    };
    let text = without_prefixes(text);
    // MySQL 5.6 writes this before what it could not write at once.
    let own = text.strip_prefix("Buffered warning: ").unwrap_or(text);
    if OF_THIS_MACHINE.iter().any(|start| own.starts_with(start)) {
        return None;
    }
    if let Some(name) = unknown_name(text) {
        return Some(Complaint::Unknown { name });
    }
    let text = text.trim().trim_end_matches('.').to_owned();
    Some(if is_refusal || level == "[ERROR] " {
        Complaint::Refused { text }
    } else {
        Complaint::Remark { text }
    })
}

/// Removes `[MY-000067] [Server]` and the path of the server from the beginning.
fn without_prefixes(text: &str) -> &str {
    let mut text = text.trim_start();
    while let Some((_, rest)) = text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        text = rest.trim_start();
    }
    match text.split_once(": ") {
        Some((program, rest)) if program.ends_with("mysqld") || program.ends_with("mariadbd") => {
            rest
        }
        _ => text,
    }
}

/// `unknown variable 'no-such=1'`, `unknown option '--no-such'`
fn unknown_name(text: &str) -> Option<String> {
    let rest = ["unknown variable '", "unknown option '"]
        .iter()
        .find_map(|words| Some(text.split_once(words)?.1))?;
    let name = rest.split(['=', '\'']).next().unwrap_or_default();
    let name = OptionName::new(name.trim_start_matches('-'));
    (!name.folded().is_empty()).then(|| name.folded().to_owned())
}

/// The entry that a text is about: the one that it names first, or, for an error, the one whose value it quotes. The last of
/// several lines, since that is the effective one.
pub(crate) fn subject(text: &str, entries: &[Entry]) -> Option<usize> {
    let folded = text.replace("--", " '").replace('-', "_");
    // The server's own spelling may have capital letters: `wsrep_OSU_method`.
    let names = |entry: &Entry| {
        let name = &entry.name;
        let written = name.as_written().replace('-', "_");
        [name.folded().to_owned(), name.base().to_owned(), written]
    };
    let named = entries.iter().enumerate().filter_map(|(at, entry)| {
        let places = names(entry);
        let first = places
            .iter()
            .filter_map(|name| mention(&folded, name))
            .min();
        Some((first?, Reverse(at)))
    });
    let named = named.min().map(|(_, Reverse(at))| at);
    named.or_else(|| {
        entries.iter().rposition(|entry| {
            let value = entry.value.as_deref().unwrap_or_default();
            value.len() > 2 && text.contains(&format!("'{value}'"))
        })
    })
}

/// Where a text contains a name as a whole word; a name that is also an ordinary word must be in quotes.
fn mention(text: &str, name: &str) -> Option<usize> {
    let is_part = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let mut places = text.match_indices(name);
    let place = places.find(|(at, _)| {
        let at = *at;
        let (before, after) = (&text[..at], &text[at + name.len()..]);
        let is_whole = !before.ends_with(is_part) && !after.starts_with(is_part);
        is_whole && (name.contains('_') || before.ends_with('\''))
    });
    place.map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mycnf::{OptionFile, Options};
    use std::path::Path;

    #[test]
    fn lines_of_every_generation_are_read() {
        let unknown = |name: &str| {
            Some(Complaint::Unknown {
                name: name.to_owned(),
            })
        };
        let refused = |text: &str| {
            Some(Complaint::Refused {
                text: text.to_owned(),
            })
        };
        let remark = |text: &str| {
            Some(Complaint::Remark {
                text: text.to_owned(),
            })
        };
        for (line, complaint) in [
            (
                "2026-11-21T10:38:23.1Z 0 [Warning] [MY-010140] [Server] Could not increase number of max_open_files to \
                 more than 20000 (request: 65535)",
                None,
            ),
            (
                "2026-11-21 10:36:04 0 [Warning] Buffered warning: Changed limits: table_open_cache: 431 (requested 2000)",
                None,
            ),
            (
                "2026-11-21 10:36:04 0 [Warning] Changed limits: max_open_files: 1024  max_connections: 100 (was 151)",
                None,
            ),
            (
                "261121 10:50:28 [ERROR] /x/mysqld: unknown variable 'no-such=1'",
                unknown("no_such"),
            ),
            (
                "2026-11-21 10:36:04 0 [ERROR] mariadbd: unknown option '--no_such'",
                unknown("no_such"),
            ),
            (
                "2026-11-21T10:38:22.9Z 0 [ERROR] unknown variable 'no_such=a'b'",
                unknown("no_such"),
            ),
            (
                "2026-11-21T10:38:23Z 0 [Warning] [MY-000067] [Server] unknown variable 'loose_no_such=1'.",
                unknown("no_such"),
            ),
            (
                "Unknown suffix 'X' used for variable 'sort_buffer_size' (value '1X')",
                refused("Unknown suffix 'X' used for variable 'sort_buffer_size' (value '1X')"),
            ),
            (
                "2026-11-21T10:38:23.141Z 0 [ERROR] [MY-000077] [Server] /x/mysqld: Error while setting value '1X' to \
                 'sort_buffer_size'.",
                refused("Error while setting value '1X' to 'sort_buffer_size'"),
            ),
            (
                "2026-11-21 10:36:04 0 [Warning] option 'x': boolean value 'maybe' wasn't recognized. Set to OFF.",
                remark("option 'x': boolean value 'maybe' wasn't recognized. Set to OFF"),
            ),
            (
                "2026-11-21T10:38:23.1Z 0 [Warning] [MY-000081] [Server] option 'x': unsigned value 0 adjusted to 1.",
                remark("option 'x': unsigned value 0 adjusted to 1"),
            ),
            ("Version: '5.6'", None),
            ("", None),
        ] {
            assert_eq!(parse_line(line), complaint, "{line}");
        }
    }

    #[test]
    fn a_text_is_about_the_option_that_it_names_or_quotes() {
        let text = "[mysqld]\nsort-buffer-size=1X\nuser=mysql\nlog_bin=x\nbinlog_format=MIXED\n\
                    collation_server=utf8mb4_general_ci\nloose_sort_buffer_size=2X\nexpire_logs_days=7\n\
                    binlog_expire_logs_seconds=9\n";
        let file = OptionFile::parse(text, Path::new("my.cnf")).unwrap();
        let options = Options::from_groups(&file, &["mysqld"]);
        for (text, about) in [
            (
                "Error while setting value '2X' to 'sort_buffer_size'",
                Some("loose_sort_buffer_size"),
            ),
            ("how to run mysqld as root user", None),
            ("Please use 'user' differently", Some("user")),
            ("the option --user is odd", Some("user")),
            (
                "You need --log-bin to make --log-basename work",
                Some("log_bin"),
            ),
            ("max_sort_buffer_size is something else", None),
            (
                "The option expire_logs_days and binlog_expire_logs_seconds cannot be used together. Please use \
                 binlog_expire_logs_seconds",
                Some("expire_logs_days"),
            ),
            (
                "COLLATION 'utf8mb4_general_ci' is not valid for CHARACTER SET 'latin1'",
                Some("collation_server"),
            ),
        ] {
            let found = subject(text, options.entries());
            let name = found.map(|index| options.entries()[index].name.as_written());
            assert_eq!(name, about, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_log_makes_the_parser_panic(log in "\\PC*", name in "[a-z_-]{1,20}", value in "[^']{0,9}") {
            parse_complaints(&log);
            let line = format!("{log}[ERROR] mysqld: unknown variable '{name}={value}'");
            // Prefixes change the meaning of a name; they have their own tests.
            let folded = OptionName::new(name.trim_start_matches('-')).folded().to_owned();
            let last = parse_complaints(&line).pop();
            if !folded.is_empty() && !log.contains(['[', '\'']) && !value.contains(['\r', '\n']) {
                proptest::prop_assert_eq!(last, Some(Complaint::Unknown { name: folded }));
            }
        }
    }
}
