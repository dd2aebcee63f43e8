//! The history of an option over the catalogues: which versions have it, and with which default.

use crate::catalogue::{Catalogue, Kind, Product};
use crate::size::size;

/// An option in one version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// The version does not know it.
    Absent,
    /// The name is taken and does nothing.
    WithoutEffect,
    /// It has this default; `None` if the default depends on the instance, or is not known.
    Default(Option<&'static str>),
}

/// A stretch of versions in which an option stays the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Era {
    pub product: Product,
    /// The oldest version.
    pub first: &'static str,
    /// The newest version.
    pub last: &'static str,
    pub presence: Presence,
}

pub fn presence(catalogue: &Catalogue, name: &str) -> Presence {
    match catalogue.row(name) {
        None => Presence::Absent,
        Some(row) if row.kind == Kind::NoEffect => Presence::WithoutEffect,
        Some(_) => Presence::Default(catalogue.default_value(name)),
    }
}

/// The stretches of a product's versions, the oldest first.
pub fn eras(product: impl Into<Product>, name: &str) -> Vec<Era> {
    let product = product.into();
    let mut eras: Vec<Era> = Vec::new();
    for catalogue in Catalogue::all(product) {
        let presence = presence(&catalogue, name);
        match eras.last_mut() {
            Some(era) if era.presence == presence => era.last = catalogue.version(),
            _ => eras.push(Era {
                product,
                first: catalogue.version(),
                last: catalogue.version(),
                presence,
            }),
        }
    }
    eras
}

impl Era {
    /// `5.5.9 to 5.6.24: 8M`; `unit` is the unit of the value.
    pub fn text(&self, unit: &str) -> String {
        let versions = if self.first == self.last {
            self.first.to_owned()
        } else {
            format!("{} to {}", self.first, self.last)
        };
        let what = match self.presence {
            Presence::Absent => "no such option".to_owned(),
            Presence::WithoutEffect => "without effect".to_owned(),
            Presence::Default(None) => "default of the instance".to_owned(),
            Presence::Default(Some(value)) => shown(value, unit),
        };
        format!("{versions}: {what}")
    }
}

/// A value as a my.cnf has it: sizes with their unit, an empty one in words.
pub fn shown(value: &str, unit: &str) -> String {
    match value.parse::<i128>() {
        Ok(bytes) if unit == "bytes" => size(bytes),
        _ if value.is_empty() => "empty".to_owned(),
        _ => value.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Family;
    use crate::explanation::explained_names;

    /// The default of one version, read from the table without the code under test.
    fn from_table(table: &str, version: &str, name: &str) -> Option<String> {
        let mut lines = table.lines();
        let heading = lines.next().unwrap().split('\t').nth(1).unwrap();
        let mut versions = heading.split(' ').map(|one| one.trim_end_matches('*'));
        let column = versions.position(|one| one == version).unwrap();
        let rows = lines.map(|line| line.split('\t').collect::<Vec<_>>());
        let mut rows = rows.filter(|row| row[0] == name && row[1].as_bytes()[column] == b'x');
        rows.next().map(|row| row[2].to_owned())
    }

    /// Ten options, spread over the names by a fixed step, against the tables of defaults.
    #[test]
    fn ten_histories_equal_the_catalogues() {
        let tables = [
            (
                Family::MySql,
                include_str!("../catalogue/defaults_mysql.tsv"),
            ),
            (
                Family::MariaDb,
                include_str!("../catalogue/defaults_mariadb.tsv"),
            ),
        ];
        let names: Vec<&str> = explained_names().collect();
        let chosen = (0..10).map(|index| names[(index * 61 + 17) % names.len()]);
        let mut compared = 0;
        for name in chosen {
            for (family, table) in tables {
                let versions: Vec<_> = Catalogue::all(family).collect();
                for era in eras(family, name) {
                    let from = versions
                        .iter()
                        .position(|one| one.version() == era.first)
                        .unwrap();
                    let to = versions
                        .iter()
                        .position(|one| one.version() == era.last)
                        .unwrap();
                    for catalogue in &versions[from..=to] {
                        let expected = from_table(table, catalogue.version(), name);
                        if let Presence::Default(value) = era.presence {
                            assert_eq!(
                                value,
                                expected.as_deref(),
                                "{name} {}",
                                catalogue.version()
                            );
                            compared += 1;
                        }
                    }
                }
            }
        }
        assert!(compared > 50, "{compared}");
    }

    #[test]
    fn eras_begin_where_something_changes() {
        let texts = |family: Family, name, unit| -> Vec<String> {
            eras(family, name)
                .iter()
                .map(|era| era.text(unit))
                .collect()
        };
        assert_eq!(
            texts(Family::MySql, "sync_binlog", "commits"),
            ["5.5.9 to 5.6.24: 0", "5.7.22 to 9.7: 1"]
        );
        assert_eq!(
            texts(Family::MySql, "innodb_log_buffer_size", "bytes"),
            [
                "5.5.9 to 5.6.24: 8M",
                "5.7.22 to 8.0.33: 16M",
                "8.4 to 9.7: 64M"
            ]
        );
        assert_eq!(
            texts(Family::MariaDb, "innodb_change_buffering", "word"),
            [
                "10.2: all",
                "10.5 to 10.11: none",
                "11.4 to 11.8: without effect"
            ]
        );
        assert_eq!(
            texts(Family::MySql, "query_cache_type", "word")[2],
            "8.0.12 to 9.7: no such option"
        );
    }
}
