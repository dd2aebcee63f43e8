//! Explanations of unknown options, with the option to write instead.

use std::sync::LazyLock;

use crate::catalogue::{Catalogue, Family, Product};
use crate::fix::Fix;
use crate::name::OptionName;

/// One line of `crates/mycnf/catalogue/successors.tsv`.
struct Successor {
    name: &'static str,
    /// `None` for both families.
    family: Option<Family>,
    /// The option to write instead; `None` if there is none.
    successor: Option<&'static str>,
    remark: &'static str,
}

static SUCCESSORS: LazyLock<Vec<Successor>> = LazyLock::new(|| {
    let lines = include_str!("../catalogue/successors.tsv").lines().skip(1);
    lines.map(parse_successor).collect()
});

fn parse_successor(line: &'static str) -> Successor {
    let mut fields = line.split('\t');
    let mut next = || fields.next().unwrap_or_default();
    Successor {
        name: next(),
        family: match next() {
            "mysql" => Some(Family::MySql),
            "mariadb" => Some(Family::MariaDb),
            _ => None,
        },
        successor: Some(next()).filter(|name| !name.is_empty()),
        remark: next(),
    }
}

impl Successor {
    /// What to do with the old option.
    fn hint(&self) -> Fix {
        match self.successor {
            None => Fix::leave_out(self.remark),
            Some(successor) if self.remark.is_empty() => format!("write {successor}").into(),
            Some(successor) => format!("write {successor} ({})", self.remark).into(),
        }
    }
}

/// The beginning of [`Unknown::what`], by which a reader of a record recognises such a finding.
pub const UNKNOWN_TO_THIS_VERSION: &str = "unknown to this version";

/// Why an option is unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown {
    /// `unknown to this version, removed after 8.0.33`
    pub what: String,
    /// `write innodb_redo_log_capacity`
    pub hint: Option<Fix>,
    /// The option that the hint says to write, if it has taken the place of this one.
    pub(crate) successor: Option<&'static str>,
}

/// Why the server nearest to the catalogue does not know an option. `knows` decides which names it knows; only those
/// are proposed.
pub fn explain_unknown(
    catalogue: &Catalogue,
    name: &OptionName,
    knows: &dyn Fn(&str) -> bool,
) -> Unknown {
    let small = name.as_written().to_ascii_lowercase();
    if !catalogue.takes_case_of(name) && knows(&small) {
        return Unknown {
            what: format!(
                "{UNKNOWN_TO_THIS_VERSION}, which takes option names in small letters only"
            ),
            hint: Some(format!("write {small}").into()),
            successor: None,
        };
    }
    let family = catalogue.family();
    let mut products = Product::ALL.into_iter();
    let is_listed = products.any(|product| Catalogue::span(product, name.folded()).is_some());
    let listed = if is_listed {
        name.folded()
    } else {
        name.base()
    };
    let listed = listed.to_owned();
    // A version from before the option has neither its successor nor the reason for its end.
    let is_too_old = Catalogue::span(family, &listed)
        .is_some_and(|(first, _)| version_key(first) > version_key(catalogue.base_version()));
    let mut rows = rows_of(family, &listed);
    let row = rows.find(|row| !is_too_old && row.successor.is_none_or(knows));
    let hint = row
        .map(Successor::hint)
        .or_else(|| predecessor(family, &listed, knows))
        .or_else(|| {
            // The name of another version or make of server is no abbreviation and no misspelling.
            let mut products = Product::ALL.into_iter();
            let is_real = products.any(|product| Catalogue::span(product, &listed).is_some());
            if is_real {
                return None;
            }
            completion(catalogue, name, knows).or_else(|| near(catalogue, &listed, knows))
        });
    Unknown {
        what: format!("{UNKNOWN_TO_THIS_VERSION}{}", history(catalogue, &listed)),
        hint,
        successor: row.and_then(|row| row.successor),
    }
}

/// Whether any version of any make of server has or had the option.
pub(crate) fn is_known_anywhere(name: &OptionName) -> bool {
    let is_listed = |name: &str| {
        let mut products = Product::ALL.into_iter();
        products.any(|product| Catalogue::all(product).any(|one| one.row(name).is_some()))
            || SUCCESSORS.iter().any(|row| row.name == name)
    };
    name.spellings().into_iter().any(is_listed)
}

/// What took the place of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OptionReplacement {
    /// Another option.
    By(&'static str),
    /// None: the reason.
    Gone(&'static str),
}

/// What took the place of an option in a family, where `knows` accepts it: its successor, or its predecessor in an older
/// version.
pub(crate) fn succession(
    family: Family,
    name: &str,
    knows: &dyn Fn(&str) -> bool,
) -> Option<OptionReplacement> {
    let mut rows = rows_of(family, name).peekable();
    if rows.peek().is_none() {
        return Some(OptionReplacement::By(replaced(family, name, knows)?));
    }
    rows.find_map(|row| match row.successor {
        None => Some(OptionReplacement::Gone(row.remark)),
        Some(successor) => knows(successor).then_some(OptionReplacement::By(successor)),
    })
}

/// What took the place of an option in a family; the newest name comes first where versions have several.
fn rows_of(family: Family, name: &str) -> impl Iterator<Item = &'static Successor> {
    let rows = SUCCESSORS.iter();
    rows.filter(move |row| row.name == name && in_family(row, family))
}

/// The option of an older version that another one replaced. A switch that turns a thing off is no name for its size:
/// `host_cache_size` replaced `skip_host_cache`, which takes no number.
fn replaced(family: Family, name: &str, knows: &dyn Fn(&str) -> bool) -> Option<&'static str> {
    let is_off = |name: &str| name.starts_with("skip_");
    let mut rows = SUCCESSORS.iter().filter(|row| in_family(row, family));
    let row = rows.find(|row| {
        row.successor == Some(name) && is_off(row.name) == is_off(name) && knows(row.name)
    })?;
    Some(row.name)
}

/// The versions that had the option, according to the catalogues.
fn history(catalogue: &Catalogue, name: &str) -> String {
    let family = catalogue.family();
    if catalogue
        .row(name)
        .is_some_and(|_| Catalogue::span(family, name).is_none())
    {
        return ", which has a variable of this name but does not accept the name in an option file".to_owned();
    }
    match Catalogue::span(family, name) {
        Some((first, last)) => {
            let here = version_key(catalogue.base_version());
            match (version_key(first) > here, version_key(last) < here) {
                (true, _) => format!(", new in {first} or shortly before"),
                (_, true) => format!(", last seen in {last}"),
                // This build lacks the option, or the version is newer than the newest catalogue.
                _ => String::new(),
            }
        }
        None => match (Catalogue::span(Product::Percona, name), catalogue.product()) {
            (Some((_, last)), Product::Percona) => format!(", last seen in Percona Server {last}"),
            _ => of_others(family, name),
        },
    }
}

/// `, an option of MariaDB`, of one that no version of the family has.
fn of_others(family: Family, name: &str) -> String {
    let others = [other(family).into(), Product::Percona].into_iter();
    let others = others.filter(|product| Catalogue::span(*product, name).is_some());
    let mut others: Vec<&str> = others.map(Product::title).collect();
    // What MySQL has, Percona Server has, too.
    if others.first() == Some(&Product::MySql.title()) {
        others.truncate(1);
    }
    match others.as_slice() {
        [] => String::new(),
        others => format!(", an option of {}", others.join(" and ")),
    }
}

fn version_key(version: &str) -> Vec<u32> {
    let numbers = version.split('.').map_while(|number| number.parse().ok());
    numbers.collect()
}

fn other(family: Family) -> Family {
    match family {
        Family::MySql => Family::MariaDb,
        Family::MariaDb => Family::MySql,
    }
}

fn in_family(row: &Successor, family: Family) -> bool {
    row.family.is_none_or(|of| of == family)
}

/// The option that it replaced: the file was written for a newer version than the server.
fn predecessor(family: Family, name: &str, knows: &dyn Fn(&str) -> bool) -> Option<Fix> {
    let name = replaced(family, name, knows)?;
    Some(format!("this version calls it {name}").into())
}

fn completion(
    catalogue: &Catalogue,
    name: &OptionName,
    knows: &dyn Fn(&str) -> bool,
) -> Option<Fix> {
    let full = catalogue.completions(name)?.name;
    knows(full).then(|| format!("write it in full: {full}").into())
}

/// A known option whose name differs by one or two letters.
fn near(catalogue: &Catalogue, name: &str, knows: &dyn Fn(&str) -> bool) -> Option<Fix> {
    let distance = |known: &str| strsim::damerau_levenshtein(known, name);
    let nearest = catalogue
        .names()
        .filter(|known| known.len().abs_diff(name.len()) <= 2 && knows(known))
        .min_by_key(|known| distance(known))?;
    (distance(nearest) <= 2 && name.len() >= 6).then(|| format!("is {nearest} meant?").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_successor_is_an_option_somewhere() {
        assert!(SUCCESSORS.is_sorted_by_key(|row| row.name));
        for row in SUCCESSORS.iter() {
            assert!(
                row.successor.is_some() || !row.remark.is_empty(),
                "{}",
                row.name
            );
            let families = [Family::MySql, Family::MariaDb];
            for family in families
                .into_iter()
                .filter(|family| in_family(row, *family))
            {
                let mut products = Product::ALL.into_iter();
                let known = row.successor.is_none_or(|name| {
                    products
                        .any(|one| one.family() == family && Catalogue::span(one, name).is_some())
                });
                assert!(known, "{} {family:?}", row.name);
            }
        }
    }

    #[test]
    fn an_unknown_option_has_a_history_and_a_successor() {
        use Family::{MariaDb, MySql};
        for (family, version, name, what, hint) in [
            (
                MySql,
                [9, 7],
                "innodb-log-file-size",
                ", last seen in 8.4",
                Some("write innodb_redo_log_capacity (the size of all redo files together)"),
            ),
            (
                MySql,
                [8, 0],
                "query_cache_size",
                ", last seen in 5.7.22",
                Some("leave it out: there is no query cache any more"),
            ),
            (
                MySql,
                [5, 7],
                "key_buffer",
                "",
                Some("write key_buffer_size"),
            ),
            (
                MySql,
                [5, 7],
                "thread_cach",
                "",
                Some("write it in full: thread_cache_size"),
            ),
            (
                MySql,
                [5, 6],
                "log_replica_updates",
                ", new in 8.0.33 or shortly before",
                Some("this version calls it log_slave_updates"),
            ),
            (
                MySql,
                [5, 7],
                "tx_isolation",
                ", which has a variable of this name but does not accept the name in an option file",
                Some("write transaction_isolation"),
            ),
            (
                MySql,
                [5, 7],
                "slave_parallel_threads",
                ", an option of MariaDB",
                Some("write slave_parallel_workers"),
            ),
            (
                MySql,
                [9, 7],
                "slave_parallel_threads",
                ", an option of MariaDB",
                Some("write replica_parallel_workers"),
            ),
            (
                MySql,
                [9, 7],
                "log_slow_query",
                ", an option of MariaDB",
                Some("write slow_query_log"),
            ),
            (
                MySql,
                [9, 7],
                "aria_pagecache_buffer_size",
                ", an option of MariaDB",
                None,
            ),
            (
                MariaDb,
                [10, 11],
                "gtid_mode",
                ", an option of MySQL",
                Some("leave it out: MariaDB keeps global transaction ids without an option"),
            ),
            (
                MariaDb,
                [10, 11],
                "innodb_redo_log_capacity",
                ", an option of MySQL",
                Some("write innodb_log_file_size"),
            ),
            (
                MariaDb,
                [10, 11],
                "max_conections",
                "",
                Some("is max_connections meant?"),
            ),
            (MariaDb, [10, 11], "no_such_variable", "", None),
            (
                MySql,
                [8, 0],
                "userstat",
                ", an option of MariaDB and Percona Server",
                None,
            ),
            (
                MySql,
                [8, 0],
                "Skip-Log-Bin",
                ", which takes option names in small letters only",
                Some("write skip-log-bin"),
            ),
            (
                MySql,
                [8, 0],
                "Query_Cache_Size",
                ", last seen in 5.7.22",
                Some("leave it out: there is no query cache any more"),
            ),
            (
                MariaDb,
                [10, 6],
                "utility_user",
                ", an option of Percona Server",
                None,
            ),
            (
                MariaDb,
                [10, 5],
                "innodb_numa_interleave",
                ", new in 10.6 or shortly before",
                None,
            ),
        ] {
            let catalogue = Catalogue::nearest(family, &version);
            let knows = |name: &str| catalogue.has(&OptionName::new(name));
            let unknown = explain_unknown(&catalogue, &OptionName::new(name), &knows);
            let shown = unknown.hint.map(|fix| fix.to_string());
            assert_eq!(
                (unknown.what.as_str(), shown.as_deref()),
                (format!("unknown to this version{what}").as_str(), hint),
                "{name}"
            );
        }
    }
}
