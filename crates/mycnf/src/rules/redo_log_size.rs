//! Rule: the redo log exceeds the version's limit, or is too large for the disk.

use crate::Family;
use crate::rule::{Level, Rule, RuleFinding};
use crate::subject::Subject;
use units::bytes;

pub(super) const RULE: Rule = Rule {
    id: "redo-log-size",
    title: "Redo log too large",
    reason: "The server does not start if the redo log exceeds the version's limit or does not fit on the disk. A redo \
        log that needs more than half of the disk can leave too little space for the data.",
    source: "MySQL Reference Manual, \"innodb_log_file_size\": the total size of the files must be below 4 GB \
        (up to MySQL 5.5) or 512 GB (up to MySQL 8.0.29)",
    check,
};

/// Share of the disk above which a redo log is reported.
const DISK_SHARE: f64 = 0.5;

fn check(subject: &Subject<'_>) -> Vec<RuleFinding> {
    let name = if subject.set("innodb_redo_log_capacity").is_some() {
        "innodb_redo_log_capacity"
    } else {
        "innodb_log_file_size"
    };
    let Some(redo) = subject
        .redo_bytes()
        .and_then(|redo| u64::try_from(redo).ok())
    else {
        return Vec::new();
    };
    let mut remarks = Vec::new();
    let limit: u64 = match (subject.target.family(), subject.target.numbers()) {
        (Family::MySql, [5, 0..=5, ..]) => 4 << 30,
        _ => 512 << 30,
    };
    if redo >= limit {
        let what = format!(
            "the redo log files have a total size of {}, but this version requires less than {}",
            bytes(redo),
            bytes(limit)
        );
        remarks.push(
            RuleFinding::of(subject, name, Level::Refused, what)
                .fix("reduce the total size of the redo log files"),
        );
    }
    if let Some(disk) = subject.machine.disk_bytes
        && redo as f64 > DISK_SHARE * disk as f64
    {
        let (needed, available) = (bytes(redo), bytes(disk));
        let (level, what) = if redo > disk {
            let what = format!("the redo log needs {needed}, but the disk has only {available}");
            (Level::Refused, what)
        } else {
            let what =
                format!("the redo log needs {needed}, more than half of the disk ({available})");
            (Level::Warning, what)
        };
        remarks.push(
            RuleFinding::of(subject, name, level, what)
                .fix("reduce the size of the redo log, or put it on another disk"),
        );
    }
    remarks
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn limits_of_version_and_disk() {
        let large = "innodb_log_file_size=2G\ninnodb_log_files_in_group=2";
        for old in ["mysql-5.1", "mysql-5.5"] {
            assert_found(
                &RULE,
                old,
                large,
                &[
                    "refused: innodb_log_file_size=2G: the redo log files have a total size of 4.00 GiB",
                ],
            );
        }
        assert_found(&RULE, "mysql-5.6", large, &[]);
        let disk = crate::Machine {
            disk_bytes: Some(6 << 30),
            ..crate::Machine::default()
        };
        assert_found_on(
            &RULE,
            &disk,
            "mysql-5.6",
            large,
            &[
                "warning: innodb_log_file_size=2G: the redo log needs 4.00 GiB, more than half of the disk (6.00 GiB)",
            ],
        );
        assert_found_on(
            &RULE,
            &disk,
            "mysql-8.0.33",
            "innodb_redo_log_capacity=8G",
            &[
                "refused: innodb_redo_log_capacity=8G: the redo log needs 8.00 GiB, but the disk has only 6.00 GiB",
            ],
        );
    }
}
