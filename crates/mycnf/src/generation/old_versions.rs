//! What a user of an older version has to know of a generated line.

use crate::catalogue::Family;
use crate::target::Target;

/// Of the size of the redo log's files, behind the reason for it.
///
/// Source: MySQL 5.6.8 release notes: the server resizes the files itself; before, "InnoDB: Error: log file ./ib_logfile0
/// is of different size".
pub(super) fn of_redo_log(target: &Target) -> &'static str {
    if target.is_at_least(Family::MySql, &[5, 6, 8]) || target.family() == Family::MariaDb {
        return "";
    }
    " This version does not start if the existing files have another size: shut the server down cleanly, and move ib_logfile* away."
}

/// Of utf8mb4: an index takes 767 bytes of a column.
///
/// Source: MySQL 5.6 Reference Manual, `innodb_large_prefix`: off by default, and only for tables in the Barracuda format.
pub(super) fn of_utf8mb4(target: &Target) -> &'static str {
    if target.is_at_least(Family::MySql, &[5, 7]) || target.family() == Family::MariaDb {
        return "";
    }
    " In this version, an index takes at most 191 characters of such a column, so some tables with longer keys cannot be created."
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_older_versions_need_more_words() {
        for (version, has_redo, has_utf8mb4) in [
            ("mysql-5.5", true, true),
            ("percona-5.5", true, true),
            ("mysql-5.6.5", true, true),
            ("mysql-5.6", false, true),
            ("percona-5.6", false, true),
            ("mysql-5.7", false, false),
            ("mysql-8.0.33", false, false),
            ("mariadb-10.2", false, false),
            ("mariadb-11.8", false, false),
        ] {
            let target = Target::parse(version).unwrap();
            let said = [of_redo_log(&target), of_utf8mb4(&target)];
            let said = said.map(|words| !words.is_empty());
            assert_eq!(said, [has_redo, has_utf8mb4], "{version}");
        }
    }
}
