//! The server version that a file is judged or written for.

use std::fmt;

use crate::catalogue::{Catalogue, Family, Product};
use crate::error::Error;

/// A make of server and a version: `mysql-8.0.33`, `percona-8.0`, `mariadb-10.11`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    product: Product,
    numbers: Vec<u32>,
}

impl Target {
    /// A version of a product, or of the maker that gave a family its name; `numbers` are its leading numbers, such as
    /// `[8, 0, 33]`.
    pub fn new(product: impl Into<Product>, numbers: &[u32]) -> Self {
        Self {
            product: product.into(),
            numbers: numbers.to_vec(),
        }
    }

    /// Reads `mysql-8.0.33`, `mariadb-10.11`, `percona-5.6`, a bare version, or a bare name, which stands for its newest
    /// catalogue. Bare versions from 10 to 25 are MariaDB's; MySQL skipped them.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let unknown = || Error::UnknownTarget {
            wanted: text.to_owned(),
        };
        let lower = text.trim().to_ascii_lowercase();
        let named = Product::ALL
            .into_iter()
            .find_map(|product| Some((product, lower.strip_prefix(product.name())?)));
        let (product, version) = match named {
            Some((product, "")) => return Ok(Self::newest(product)),
            Some((product, rest)) => (Some(product), rest.strip_prefix('-').ok_or_else(unknown)?),
            None => (None, lower.as_str()),
        };
        let end = version
            .find(|character: char| !character.is_ascii_digit() && character != '.')
            .unwrap_or(version.len());
        // What follows the numbers is a build: `10.11.19-MariaDB`.
        if !version[end..].is_empty() && !version[end..].starts_with(['-', '+', ' ']) {
            return Err(unknown());
        }
        let numbers: Option<Vec<u32>> = version[..end]
            .split('.')
            .map(|number| number.parse().ok())
            .collect();
        let numbers = numbers.ok_or_else(unknown)?;
        let product = product.unwrap_or(match numbers[0] {
            10..=25 => Product::MariaDb,
            _ if version[end..].contains("mariadb") => Product::MariaDb,
            _ => Product::MySql,
        });
        Ok(Self { product, numbers })
    }

    /// The version of the product's newest catalogue.
    fn newest(product: Product) -> Self {
        let newest = Catalogue::all(product).last();
        Self::of_catalogue(&newest.expect("every product has catalogues"))
    }

    /// The version that a catalogue is of.
    pub fn of_catalogue(catalogue: &Catalogue) -> Self {
        let numbers = catalogue.version().split('.');
        let numbers: Vec<u32> = numbers.filter_map(|number| number.parse().ok()).collect();
        Self::new(catalogue.product(), &numbers)
    }

    /// The same with the version from which the catalogue derives: `percona-8.0.33` for the catalogue of Percona Server 8.0.
    pub(crate) fn of_base_version(catalogue: &Catalogue) -> Self {
        let numbers = catalogue.base_version().split('.');
        let numbers: Vec<u32> = numbers.filter_map(|number| number.parse().ok()).collect();
        Self::new(catalogue.product(), &numbers)
    }

    /// The targets of all catalogues, by product, the oldest first.
    pub fn all() -> Vec<Self> {
        let catalogues = Product::ALL.into_iter().flat_map(Catalogue::all);
        catalogues
            .map(|catalogue| Self::of_catalogue(&catalogue))
            .collect()
    }

    pub fn product(&self) -> Product {
        self.product
    }

    pub fn family(&self) -> Family {
        self.product.family()
    }

    /// The leading numbers of the version.
    pub fn numbers(&self) -> &[u32] {
        &self.numbers
    }

    /// The nearest catalogue; for a series (`8.0`) or a bare major version (`9`) the newest one in it.
    pub fn catalogue(&self) -> Catalogue {
        self.newest_below()
            .unwrap_or_else(|| Catalogue::nearest(self.product, &self.numbers))
    }

    /// Whether the nearest catalogue is of the same product and series; a bare major version is of every series that begins
    /// with it.
    pub fn is_covered(&self) -> bool {
        let nearest = self.catalogue();
        self.newest_below().is_some()
            || (nearest.product() == self.product && nearest.covers(&self.numbers))
    }

    /// What an answer has to say of the catalogue that it is judged by; `None` for one that was read from a server of the
    /// version's series.
    pub fn catalogue_note(&self) -> Option<String> {
        let catalogue = self.catalogue();
        let documented = if catalogue.is_documented() {
            ", from its documentation"
        } else {
            ""
        };
        if !self.is_covered() {
            let nearest = Self::of_catalogue(&catalogue);
            return Some(format!(
                "no catalogue for {self}: the nearest one is used, {nearest}{documented}; an option that it does not know is only a note"
            ));
        }
        if let Some(later) = self.later_in_series() {
            let nearest = Self::of_catalogue(&catalogue);
            let later = Self::of_base_version(&later);
            return Some(format!(
                "no catalogue for {self}: the one of {nearest} is used{documented}; options added or removed up to {later} are reported as notes"
            ));
        }
        if self.later().is_some() {
            let nearest = Self::of_catalogue(&catalogue);
            return Some(format!(
                "no catalogue for {self}: the one of {nearest} is used, the newest of the series"
            ));
        }
        catalogue.is_documented().then(|| {
            let (product, version) = (self.product.title(), catalogue.version());
            format!("options of {product} {version} from its documentation, not read from a server")
        })
    }

    /// The next catalogue of the series, if the version is between two of them: `8.0.33` for `8.0.28`, which is judged by
    /// `8.0.12`. The version may or may not have what only one of the two catalogues has.
    pub(crate) fn later_in_series(&self) -> Option<Catalogue> {
        self.later().filter(|later| later.covers(&self.numbers))
    }

    /// The next catalogue, also of another series, if the version is newer than its own: `8.4` for `8.0.42`, which is
    /// judged by `8.0.33`.
    pub(crate) fn later(&self) -> Option<Catalogue> {
        let nearest = self.catalogue();
        let own = Self::of_catalogue(&nearest).numbers;
        // The catalogues of MariaDB and of MySQL 8.4 and later are of a series, and not of one version.
        let is_newer = self.newest_below().is_none() && own.len() == 3 && own < self.numbers;
        let mut all = Catalogue::all(nearest.product());
        all.find(|one| is_newer && nearest.is_older_than(one))
    }

    /// The newest catalogue whose version begins with these numbers.
    fn newest_below(&self) -> Option<Catalogue> {
        let catalogues = Catalogue::all(self.product);
        let below =
            catalogues.filter(|one| Self::of_catalogue(one).numbers.starts_with(&self.numbers));
        below.last()
    }

    /// Whether this is the family with at least this version. A series (`8.0`) or a bare major version means its newest
    /// version, as in [`Self::catalogue`].
    pub(crate) fn is_at_least(&self, family: Family, numbers: &[u32]) -> bool {
        let newest = self
            .newest_below()
            .map(|one| Self::of_catalogue(&one).numbers);
        let own = newest.as_ref().unwrap_or(&self.numbers).as_slice();
        // A catalogue that is named by its series is the end of the series.
        let is_series = own.starts_with(&self.numbers) && numbers.starts_with(own);
        self.family() == family && (own >= numbers || is_series)
    }

    /// The option groups that this server reads, in lower case.
    ///
    /// Source: the manuals of both families, "Using Option Files".
    pub fn groups(&self) -> Vec<String> {
        let series: Vec<String> = self.numbers.iter().take(2).map(u32::to_string).collect();
        let series = series.join(".");
        let mut groups: Vec<String> = ["mysqld", "server"].map(str::to_owned).into();
        groups.push(format!("mysqld-{series}"));
        if self.family() == Family::MariaDb {
            for name in ["mariadb", "mariadbd"] {
                groups.push(name.to_owned());
                groups.push(format!("{name}-{series}"));
            }
            groups.extend(["client-server", "galera"].map(str::to_owned));
        }
        groups
    }
}

/// `mysql-8.0.33`
impl fmt::Display for Target {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<String> = self.numbers.iter().map(u32::to_string).collect();
        write!(formatter, "{}-{}", self.product.name(), numbers.join("."))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_with_and_without_family() {
        for (text, name, catalogue, covered) in [
            ("mysql-8.0.33", "mysql-8.0.33", "8.0.33", true),
            ("MariaDB-10.11", "mariadb-10.11", "10.11", true),
            (
                "10.11.19-MariaDB-0+deb12u1",
                "mariadb-10.11.19",
                "10.11",
                true,
            ),
            ("5.6", "mysql-5.6", "5.6.24", true),
            ("mysql-8.0", "mysql-8.0", "8.0.33", true),
            ("percona-5.7", "percona-5.7", "5.7", true),
            ("Percona-8.0.36-28", "percona-8.0.36", "8.0", true),
            ("percona-8.0.25", "percona-8.0.25", "8.0.12", true),
            ("percona", "percona-8.0", "8.0", true),
            ("percona-5.6", "percona-5.6", "5.6.24", false),
            ("percona-8.1", "percona-8.1", "8.0", false),
            ("percona-8.4", "percona-8.4", "8.4", false),
            ("mysql", "mysql-9.7", "9.7", true),
            ("mariadb", "mariadb-11.8", "11.8", true),
            ("mysql-9", "mysql-9", "9.7", true),
            ("mysql-8.4", "mysql-8.4", "8.4", true),
            ("mysql-8.3", "mysql-8.3", "8.0.33", false),
            ("mysql-5.1", "mysql-5.1", "5.5.9", false),
            ("mariadb-10.6", "mariadb-10.6", "10.6", true),
            ("mariadb-10.3", "mariadb-10.3", "10.2", false),
            ("mariadb-12.3", "mariadb-12.3", "11.8", false),
        ] {
            let target = Target::parse(text).unwrap();
            assert_eq!(target.to_string(), name, "{text}");
            assert_eq!(target.catalogue().version(), catalogue, "{text}");
            assert_eq!(target.is_covered(), covered, "{text}");
        }
        for text in [
            "",
            "mysql-",
            "oracle-19",
            "mysql8",
            "8.x",
            "-",
            "mariadb-ten",
        ] {
            assert!(Target::parse(text).is_err(), "{text}");
        }
        assert_eq!(Target::all().len(), 15);
    }

    #[test]
    fn a_version_between_two_catalogues_knows_both() {
        for (text, later) in [
            ("mysql-8.0.28", Some("8.0.33")),
            ("mysql-8.0.12", None),
            ("mysql-8.0.11", None),
            ("mysql-8.0.40", None),
            ("mysql-8.0", None),
            ("mysql-5.7.44", None),
            ("percona-8.0.28", Some("8.0")),
            ("percona-8.0.12", None),
            ("percona-8.0.33", None),
            ("percona-8.0.36", None),
            ("percona-8.0", None),
            ("mariadb-10.11.4", None),
            ("mysql-8.3", None),
        ] {
            let target = Target::parse(text).unwrap();
            let found = target.later_in_series();
            let found = found.as_ref().map(Catalogue::version);
            assert_eq!(found, later, "{text}");
        }
    }

    #[test]
    fn a_series_is_as_new_as_its_newest_version() {
        use Family::{MariaDb, MySql};
        let cases: [(&str, Family, &[u32], bool); 11] = [
            ("mysql-8.0", MySql, &[8, 0, 19], true),
            ("percona-8.0", MySql, &[8, 0, 19], true),
            ("mysql-8", MySql, &[8, 4], true),
            ("mysql-8.0.12", MySql, &[8, 0, 19], false),
            ("mysql-8.0.33", MySql, &[8, 0, 19], true),
            ("mysql-5.7", MySql, &[8, 0, 19], false),
            ("percona-8", MySql, &[8, 4], false),
            ("mysql-5", MySql, &[5, 7], true),
            ("mysql-8.0", MySql, &[8, 4], false),
            ("mariadb-11", MariaDb, &[11, 6], true),
            ("mariadb-10.11", MySql, &[8], false),
        ];
        for (text, family, numbers, is_at_least) in cases {
            let target = Target::parse(text).unwrap();
            let found = target.is_at_least(family, numbers);
            assert_eq!(found, is_at_least, "{text} {numbers:?}");
        }
    }

    #[test]
    fn an_answer_names_its_catalogue_where_it_is_not_the_versions_own() {
        for (text, note) in [
            ("mysql-8.0", None),
            ("mariadb-10.11.19", None),
            ("mysql-9.7.1", None),
            ("mysql-8.0.33", None),
            (
                "mysql-8.0.42",
                Some(
                    "no catalogue for mysql-8.0.42: the one of mysql-8.0.33 is used, the newest of the series",
                ),
            ),
            (
                "percona-8.0.25",
                Some(
                    "no catalogue for percona-8.0.25: the one of percona-8.0.12 is used, from its documentation; options added or removed up to percona-8.0.33 are reported as notes",
                ),
            ),
            (
                "percona-8.0.36",
                Some(
                    "options of Percona Server 8.0 from its documentation, not read from a server",
                ),
            ),
            (
                "mariadb-10.6",
                Some("options of MariaDB 10.6 from its documentation, not read from a server"),
            ),
            (
                "percona-5.6",
                Some(
                    "no catalogue for percona-5.6: the nearest one is used, mysql-5.6.24; an option that it does not know is only a note",
                ),
            ),
            (
                "percona-8.4",
                Some(
                    "no catalogue for percona-8.4: the nearest one is used, mysql-8.4, from its documentation; an option that it does not know is only a note",
                ),
            ),
        ] {
            let target = Target::parse(text).unwrap();
            assert_eq!(target.catalogue_note().as_deref(), note, "{text}");
        }
    }

    #[test]
    fn a_server_reads_the_groups_of_its_series() {
        let groups = Target::parse("mysql-8.0.33").unwrap().groups();
        assert_eq!(groups, ["mysqld", "server", "mysqld-8.0"]);
        let groups = Target::parse("mariadb-10.11").unwrap().groups();
        assert!(groups.contains(&"mariadb-10.11".to_owned()));
    }
}
