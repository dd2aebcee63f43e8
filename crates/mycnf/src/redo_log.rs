//! The size of the redo log, which MySQL 8.0.30 and later take from one option, or compute from the two older ones.
//!
//! If the capacity is given, the number and the size of the files have no effect. If only one of these two or both are
//! given, the capacity is their product.
//!
//! Source: MySQL 8.0 Reference Manual, "Configuring Redo Log Capacity (MySQL 8.0.30 or Higher)".

use std::collections::BTreeMap;

use crate::subject::Subject;

pub(crate) const CAPACITY: &str = "innodb_redo_log_capacity";
const FILE_SIZE: &str = "innodb_log_file_size";
const FILE_COUNT: &str = "innodb_log_files_in_group";

/// Defaults of all versions that have the capacity and the older options.
const DEFAULT_CAPACITY_BYTES: i128 = 100 << 20;
const DEFAULT_FILE_BYTES: i128 = 48 << 20;
const DEFAULT_FILE_COUNT: i128 = 2;

/// Whether an option is about the files of the redo log, whose size its capacity replaces.
pub(crate) fn is_of_redo_files(name: &str) -> bool {
    [FILE_SIZE, FILE_COUNT].contains(&name)
}

/// The capacity that a running server has computed from its files, bytes: its variables show the default of the
/// capacity, and other values of the files. `None` if the capacity that it shows is in effect, or if it has none.
pub(crate) fn capacity_of_files(variables: &BTreeMap<String, String>) -> Option<i128> {
    let number = |name: &str| variables.get(name)?.parse::<i128>().ok();
    let (bytes, count) = (number(FILE_SIZE)?, number(FILE_COUNT)?);
    let is_by_files = number(CAPACITY)? == DEFAULT_CAPACITY_BYTES
        && (bytes, count) != (DEFAULT_FILE_BYTES, DEFAULT_FILE_COUNT);
    is_by_files.then(|| bytes.saturating_mul(count))
}

impl Subject<'_> {
    /// Size of the redo log, bytes: all its files together.
    pub(crate) fn redo_bytes(&self) -> Option<i128> {
        let is_set = |name: &str| self.set(name).is_some_and(|line| line.value().is_some());
        let is_by_files = !is_set(CAPACITY) && (is_set(FILE_SIZE) || is_set(FILE_COUNT));
        if let Some(capacity) = self.number(CAPACITY)
            && !is_by_files
        {
            return Some(capacity);
        }
        self.number(FILE_SIZE)?.checked_mul(self.redo_file_count())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Machine, OptionFile, Target};
    use std::path::Path;

    #[test]
    fn the_files_decide_where_the_capacity_is_not_given() {
        for (target, lines, mebibytes) in [
            ("mysql-8.0.33", "", 100_i128),
            ("mysql-8.0.33", "innodb_log_file_size=512M", 512 * 2),
            ("mysql-8.0.33", "innodb_log_files_in_group=3", 48 * 3),
            (
                "mysql-8.0.33",
                "innodb_log_file_size=512M\ninnodb_log_files_in_group=3",
                512 * 3,
            ),
            (
                "mysql-8.0.33",
                "innodb_log_file_size=512M\ninnodb_redo_log_capacity=1G",
                1024,
            ),
            ("mysql-9.7", "innodb_redo_log_capacity=1G", 1024),
            ("mysql-5.7", "innodb_log_files_in_group=4", 48 * 4),
            ("mariadb-10.11", "innodb_log_file_size=1G", 1024),
        ] {
            let text = format!("[mysqld]\n{lines}\n");
            let file = OptionFile::parse(&text, Path::new("my.cnf")).unwrap();
            let (target, machine) = (Target::parse(target).unwrap(), Machine::default());
            let subject = Subject::new(&file, &target, &machine);
            assert_eq!(
                subject.redo_bytes(),
                Some(mebibytes << 20),
                "{target}: {lines}"
            );
        }
    }

    #[test]
    fn a_running_server_shows_by_which_options_its_log_is_sized() {
        for (capacity, bytes, count, computed) in [
            // 512 MiB x 3
            ("104857600", "536870912", "3", Some(1_610_612_736)),
            ("104857600", "50331648", "2", None),
            ("1610612736", "536870912", "3", None),
        ] {
            let values = [
                (CAPACITY, capacity),
                (FILE_SIZE, bytes),
                (FILE_COUNT, count),
            ];
            let values = values.map(|(name, value)| (name.to_owned(), value.to_owned()));
            assert_eq!(capacity_of_files(&values.into()), computed, "{capacity}");
        }
        let old = [(FILE_SIZE, "536870912"), (FILE_COUNT, "3")];
        let old = old.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(capacity_of_files(&old.into()), None);
    }
}
