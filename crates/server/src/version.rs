//! Flavour and version of a server binary, and of a requested server.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The flavour of a server. Capabilities are queried from the server, not derived from this.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Flavour {
    MariaDb,
    /// Oracle's MySQL
    MySql,
    Percona,
}

/// Whose catalogue of options it has.
impl From<Flavour> for mycnf::Product {
    fn from(flavour: Flavour) -> Self {
        match flavour {
            Flavour::MariaDb => Self::MariaDb,
            Flavour::MySql => Self::MySql,
            Flavour::Percona => Self::Percona,
        }
    }
}

impl fmt::Display for Flavour {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::MariaDb => "mariadb",
            Self::MySql => "mysql",
            Self::Percona => "percona",
        })
    }
}

/// The leading numbers of a version, `[10, 11, 19]` for `10.11.19-MariaDB-0+deb12u1`; ordered as versions are.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Numbers(Vec<u32>);

impl Numbers {
    /// Reads the leading numbers; `None` if there are none.
    pub(crate) fn parse(version: &str) -> Option<Self> {
        let end = version
            .find(|character: char| !character.is_ascii_digit() && character != '.')
            .unwrap_or(version.len());
        let numbers: Option<Vec<u32>> = version[..end]
            .trim_end_matches('.')
            .split('.')
            .map(|number| number.parse().ok())
            .collect();
        numbers.map(Self)
    }

    /// Whether the version is this one or a later one: `at_least([8, 0, 11])`.
    pub(crate) fn at_least<const N: usize>(&self, numbers: [u32; N]) -> bool {
        self.0.as_slice() >= numbers.as_slice()
    }

    pub(crate) fn as_slice(&self) -> &[u32] {
        &self.0
    }

    /// `10.11` for 10.11.19: the series.
    pub(crate) fn series(&self) -> String {
        let parts: Vec<String> = self.0.iter().take(2).map(u32::to_string).collect();
        parts.join(".")
    }

    fn starts_with(&self, prefix: &Self) -> bool {
        self.0.starts_with(&prefix.0)
    }
}

/// Reads the answer to `--version`, for example
/// `mariadbd  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64 (Debian 12)`.
/// The version string is free text, so the flavour is determined by names alone.
pub(crate) fn parse_version_answer(answer: &str) -> Option<(Flavour, String)> {
    let (_, rest) = answer.split_once("Ver ")?;
    let version = rest.split_whitespace().next()?;
    Numbers::parse(version)?;
    let lower = answer.to_ascii_lowercase();
    let flavour = if lower.contains("mariadb") {
        Flavour::MariaDb
    } else if lower.contains("percona") {
        Flavour::Percona
    } else {
        Flavour::MySql
    };
    Some((flavour, version.to_owned()))
}

/// A requested server: `mariadb`, `mariadb-10.11`, `mysql-8.0.33` or `8.0`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct VersionRequest {
    flavour: Option<Flavour>,
    version: Option<Numbers>,
}

impl VersionRequest {
    /// Reads a request; `None` if it is not valid.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let lower = text.to_ascii_lowercase();
        let (flavour, version) = if lower.starts_with(|first: char| first.is_ascii_digit()) {
            (None, Some(lower.as_str()))
        } else {
            let (name, version) = match lower.split_once('-') {
                Some((name, version)) => (name, Some(version)),
                None => (lower.as_str(), None),
            };
            let flavour = match name {
                "mariadb" => Flavour::MariaDb,
                "mysql" => Flavour::MySql,
                "percona" => Flavour::Percona,
                _ => return None,
            };
            (Some(flavour), version)
        };
        let version = match version {
            Some(version) => {
                let plain = |character: char| character.is_ascii_digit() || character == '.';
                Some(Numbers::parse(version).filter(|_| version.chars().all(plain))?)
            }
            None => None,
        };
        Some(Self { flavour, version })
    }

    /// Whether a server matches the request: `mysql-8.0` matches any 8.0.
    pub(crate) fn matches(&self, flavour: Flavour, version: &str) -> bool {
        let same_version = self.version.as_ref().is_none_or(|wanted| {
            Numbers::parse(version).is_some_and(|numbers| numbers.starts_with(wanted))
        });
        self.flavour.is_none_or(|wanted| wanted == flavour) && same_version
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flavour_and_version_come_from_the_answer() {
        for (answer, flavour, version) in [
            (
                "mariadbd  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64 (Debian 12)",
                Flavour::MariaDb,
                "10.11.19-MariaDB-0+deb12u1",
            ),
            (
                "/x/bin/mysqld  Ver 8.0.33 for Linux on x86_64 (MySQL Community Server - GPL)",
                Flavour::MySql,
                "8.0.33",
            ),
            (
                "mysqld  Ver 5.6.22-71.0 for Linux on x86_64 (Percona Server (GPL), Release 71.0)",
                Flavour::Percona,
                "5.6.22-71.0",
            ),
            ("mysqld  Ver 26.7.0 for Linux", Flavour::MySql, "26.7.0"),
        ] {
            assert_eq!(
                parse_version_answer(answer),
                Some((flavour, version.to_owned()))
            );
        }
        for answer in ["", "sleep (GNU coreutils) 9.1", "Ver x"] {
            assert_eq!(parse_version_answer(answer), None);
        }
    }

    #[test]
    fn wanted_names_match_by_prefix_of_numbers() {
        for (wanted, version, matches) in [
            ("mariadb", "10.11.19-MariaDB", true),
            ("mariadb-10.11", "10.11.19-MariaDB", true),
            ("MariaDB-10.11.19", "10.11.19-MariaDB", true),
            ("mariadb-10.1", "10.11.19-MariaDB", false),
            ("10.11", "10.11.19-MariaDB", true),
            ("mysql", "10.11.19-MariaDB", false),
            ("mariadb-10.11.19.1", "10.11.19-MariaDB", false),
        ] {
            let parsed = VersionRequest::parse(wanted).unwrap();
            assert_eq!(
                parsed.matches(Flavour::MariaDb, version),
                matches,
                "{wanted}"
            );
        }
        for wrong in ["oracle", "mariadb-", "mariadb-ten", "mysql-8.0-x", "-8"] {
            assert_eq!(VersionRequest::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn versions_are_ordered_by_number() {
        let numbers = Numbers::parse("8.0.33").unwrap();
        assert!(numbers.at_least([8, 0, 11]) && numbers.at_least([5, 7]));
        assert!(!numbers.at_least([8, 4]) && !numbers.at_least([10]));
        assert_eq!(numbers.series(), "8.0");
    }
}
