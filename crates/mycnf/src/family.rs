//! The families of servers, and the makes of server that have catalogues of their own.

/// The two families of servers: an option removed in one often remains in the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// MySQL and its derivatives.
    MySql,
    MariaDb,
}

impl Family {
    /// `mysql` or `mariadb`.
    pub fn name(self) -> &'static str {
        Product::from(self).name()
    }
}

/// A make of server. Each belongs to a family, whose rules hold for it, and has options of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Product {
    /// Oracle's MySQL.
    MySql,
    /// Percona Server, which adds to MySQL.
    Percona,
    MariaDb,
}

impl Product {
    /// All of them, each family together.
    pub const ALL: [Self; 3] = [Self::MySql, Self::Percona, Self::MariaDb];

    /// The name in a version: `percona` in `percona-8.0`.
    pub fn name(self) -> &'static str {
        match self {
            Self::MySql => "mysql",
            Self::Percona => "percona",
            Self::MariaDb => "mariadb",
        }
    }

    /// The name as its maker writes it.
    pub fn title(self) -> &'static str {
        match self {
            Self::MySql => "MySQL",
            Self::Percona => "Percona Server",
            Self::MariaDb => "MariaDB",
        }
    }

    pub fn family(self) -> Family {
        match self {
            Self::MySql | Self::Percona => Family::MySql,
            Self::MariaDb => Family::MariaDb,
        }
    }
}

/// The make that gave the family its name.
impl From<Family> for Product {
    fn from(family: Family) -> Self {
        match family {
            Family::MySql => Self::MySql,
            Family::MariaDb => Self::MariaDb,
        }
    }
}
