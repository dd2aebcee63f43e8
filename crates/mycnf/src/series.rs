//! The release series of every product.

use crate::{catalogue::Product, error::Error, target::Target};

/// The series that MySQL was released in from 5.0 on. Percona Server has some of them.
///
/// Source: the release notes of MySQL.
const MYSQL: [[u32; 2]; 18] = [
    [5, 0],
    [5, 1],
    [5, 5],
    [5, 6],
    [5, 7],
    [8, 0],
    [8, 1],
    [8, 2],
    [8, 3],
    [8, 4],
    [9, 0],
    [9, 1],
    [9, 2],
    [9, 3],
    [9, 4],
    [9, 5],
    [9, 6],
    [9, 7],
];
/// Source: the release notes of MariaDB.
const MARIADB: [[u32; 2]; 29] = [
    [5, 1],
    [5, 2],
    [5, 3],
    [5, 5],
    [10, 0],
    [10, 1],
    [10, 2],
    [10, 3],
    [10, 4],
    [10, 5],
    [10, 6],
    [10, 7],
    [10, 8],
    [10, 9],
    [10, 10],
    [10, 11],
    [11, 0],
    [11, 1],
    [11, 2],
    [11, 3],
    [11, 4],
    [11, 5],
    [11, 6],
    [11, 7],
    [11, 8],
    [12, 0],
    [12, 1],
    [12, 2],
    [12, 3],
];

impl Target {
    /// The target, or an error if its product skipped this series. A version above the newest one that is known may exist.
    pub fn released(self) -> Result<Self, Error> {
        let series: &[[u32; 2]] = match self.product() {
            Product::MySql | Product::Percona => &MYSQL,
            Product::MariaDb => &MARIADB,
        };
        let own = self.numbers();
        let own = &own[..own.len().min(2)];
        let is_newer = series.last().is_some_and(|newest| own > newest.as_slice());
        if is_newer || series.iter().any(|one| one.starts_with(own)) {
            return Ok(self);
        }
        let of_major: Vec<String> = series
            .iter()
            .filter(|one| own.first() == one.first())
            .map(|[major, minor]| format!("{major}.{minor}"))
            .collect();
        Err(Error::UnknownSeries {
            wanted: self.to_string(),
            product: self.product().title(),
            series: of_major,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_that_was_skipped_is_an_error() {
        for text in [
            "mysql-5.7.44",
            "mysql-8",
            "mysql-9.7.1",
            "mysql-9.9",
            "mysql-10",
            "percona-8.4",
            "percona-9.1",
            "mariadb-10.11",
            "mariadb-13.0",
        ] {
            assert!(Target::parse(text).unwrap().released().is_ok(), "{text}");
        }
        for (text, message, hint) in [
            (
                "percona-8.9",
                "there is no percona-8.9",
                Some("the series of Percona Server 8: 8.0, 8.1, 8.2, 8.3, 8.4"),
            ),
            (
                "mysql-5.8.3",
                "there is no mysql-5.8.3",
                Some("the series of MySQL 5: 5.0, 5.1, 5.5, 5.6, 5.7"),
            ),
            ("mysql-6.0", "there is no mysql-6.0", None),
        ] {
            let error = Target::parse(text).unwrap().released().unwrap_err();
            assert_eq!(error.to_string(), message, "{text}");
            assert_eq!(error.hint().as_deref(), hint, "{text}");
        }
    }
}
