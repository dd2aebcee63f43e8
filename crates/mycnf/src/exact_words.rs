//! Options with words that some versions compare exactly.

use crate::catalogue::Family;
use crate::target::Target;

/// Whether a version takes for an option only whole words in their own letter case. For other options, servers take words
/// in any case, beginnings of them, and their numbers.
///
/// Source: `innodb_flush_method` is a text up to MySQL 5.7 and MariaDB 10.2, which InnoDB compares with `strcmp` when it
/// starts (`innobase_start_or_create_for_mysql`, "Unrecognized value %s for innodb_flush_method").
pub(crate) fn takes_exact_words(target: &Target, option: &str) -> bool {
    if option != "innodb_flush_method" {
        return false;
    }
    !target.is_at_least(Family::MySql, &[8]) && !target.is_at_least(Family::MariaDb, &[10, 3])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_versions_compare_the_flush_method_exactly() {
        for (version, option, is_exact) in [
            ("mysql-5.5", "innodb_flush_method", true),
            ("mysql-5.7", "innodb_flush_method", true),
            ("mysql-5.7", "binlog_format", false),
            ("mysql-8.0", "innodb_flush_method", false),
            ("mariadb-10.2", "innodb_flush_method", true),
            ("mariadb-10.3", "innodb_flush_method", false),
            ("mariadb-10.5", "innodb_flush_method", false),
        ] {
            let target = Target::parse(version).unwrap();
            let found = takes_exact_words(&target, option);
            assert_eq!(found, is_exact, "{version} {option}");
        }
    }
}
