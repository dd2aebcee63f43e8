//! Options that a version still takes and that a later one will not.

use std::sync::LazyLock;

use crate::target::Target;

/// One line of `crates/mycnf/catalogue/deprecated.tsv`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Deprecation {
    pub(crate) name: &'static str,
    /// A family or a product, or `both` families.
    family: &'static str,
    since: Vec<u32>,
    /// The option to write instead, if there is one.
    pub(crate) successor: Option<&'static str>,
    pub(crate) remark: &'static str,
    /// Whether the versions that deprecate it still act on it, so that a line with another value than the default decides.
    pub(crate) is_in_effect: bool,
}

static DEPRECATIONS: LazyLock<Vec<Deprecation>> = LazyLock::new(|| {
    let lines = include_str!("../catalogue/deprecated.tsv").lines().skip(1);
    lines.map(parse).collect()
});

fn parse(line: &'static str) -> Deprecation {
    let mut fields = line.split('\t');
    let mut next = || fields.next().unwrap_or_default();
    Deprecation {
        name: next(),
        family: next(),
        since: next()
            .split('.')
            .filter_map(|number| number.parse().ok())
            .collect(),
        successor: Some(next()).filter(|name| !name.is_empty()),
        remark: next(),
        is_in_effect: next() == "yes",
    }
}

/// The deprecation of an option in a version; `None` if it is not deprecated there.
pub(crate) fn deprecation(target: &Target, name: &str) -> Option<&'static Deprecation> {
    let mut all = DEPRECATIONS.iter();
    all.find(|row| row.name == name && row.is_of(target))
}

/// Whether a version deprecates another option in favour of this one. It then has this one, even if it is newer than the
/// version's catalogue: MySQL 8.0.26 has `replica_parallel_workers`, and the catalogue of 8.0.12 does not.
pub(crate) fn is_successor(target: &Target, name: &str) -> bool {
    let mut all = DEPRECATIONS.iter();
    all.any(|row| row.successor == Some(name) && row.is_of(target))
}

impl Deprecation {
    /// Whether a version deprecates the option.
    fn is_of(&self, target: &Target) -> bool {
        let (product, family) = (target.product().name(), target.family().name());
        if !["both", product, family].contains(&self.family) {
            return false;
        }
        // `mysql-8.0` means the series: its newest catalogue decides.
        let own = target.numbers();
        let catalogue = target.catalogue();
        let newest = Target::of_catalogue(&catalogue);
        let numbers = if newest.numbers().starts_with(own) {
            newest.numbers()
        } else {
            own
        };
        let since = self.since.as_slice();
        // A documented series is known to its end.
        numbers >= since || (catalogue.is_documented() && since.starts_with(numbers))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::Catalogue;

    #[test]
    fn deprecations_have_a_version_and_a_way_out() {
        assert!(DEPRECATIONS.is_sorted_by_key(|row| row.name));
        for row in DEPRECATIONS.iter() {
            assert!(row.since.len() >= 2, "{}", row.name);
            assert!(
                row.successor.is_some() || !row.remark.is_empty(),
                "{}",
                row.name
            );
        }
        for (target, name, deprecated) in [
            ("mysql-8.0.12", "log_slave_updates", false),
            ("mysql-8.0.33", "log_slave_updates", true),
            ("mysql-8.0", "log_slave_updates", true),
            ("mariadb-11.8", "log_slave_updates", false),
            ("mysql-5.5.9", "query_cache_size", false),
            ("mysql-5.5.9", "log_slow_queries", true),
            ("mysql-8.4", "innodb_log_file_size", true),
            ("mariadb-10.6", "secure_auth", true),
            ("percona-8.0", "binlog_format", true),
            ("percona-8.0.20", "binlog_format", false),
            ("percona-5.7", "query_cache_size", true),
            ("percona-5.7", "innodb_kill_idle_transaction", true),
            ("mysql-5.7", "binlog_format", false),
            ("mysql-8.0.12", "slave_rows_search_algorithms", false),
            ("mysql-8.0.20", "slave_rows_search_algorithms", true),
        ] {
            let target = Target::parse(target).unwrap();
            assert_eq!(
                deprecation(&target, name).is_some(),
                deprecated,
                "{target} {name}"
            );
        }
    }

    #[test]
    fn every_deprecated_option_is_in_a_catalogue() {
        for row in DEPRECATIONS.iter() {
            let mut products = crate::Product::ALL.into_iter();
            let known = products.any(|product| Catalogue::span(product, row.name).is_some());
            assert!(known, "{}", row.name);
        }
    }
}
