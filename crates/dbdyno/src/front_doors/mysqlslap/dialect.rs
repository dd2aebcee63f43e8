//! The dialect of options and SQL: MySQL's or MariaDB's.

/// The dialect of options and SQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    MySql,
    MariaDb,
}

impl Dialect {
    pub(super) fn program(self) -> &'static str {
        match self {
            Self::MySql => "mysqlslap",
            Self::MariaDb => "mariadb-slap",
        }
    }

    /// The groups of option files that it reads.
    pub(super) fn groups(self) -> &'static [&'static str] {
        match self {
            Self::MySql => &["mysqlslap", "client"],
            Self::MariaDb => &[
                "mysqlslap",
                "mariadb-slap",
                "client",
                "client-server",
                "client-mariadb",
            ],
        }
    }
}
