//! Rule: the flush method does not fit the file system.

use crate::catalogue::Family;
use crate::rule::{Level, Rule, RuleFinding};
use crate::subject::Subject;
use crate::target::Target;

use super::dedicated_server::chooses;

pub(super) const RULE: Rule = Rule {
    id: "flush-method",
    title: "Flush method unsuitable for the file system",
    reason: "If the file system does not support direct I/O, the server warns and uses the kernel's page cache. A method that does not flush loses commits in a power cut. A method that uses the kernel's page cache keeps pages in memory twice.",
    source: "MySQL Reference Manual, \"innodb_flush_method\"; tmpfs rejects O_DIRECT before Linux 6.6 (\"Failed to set O_DIRECT on file ..., continuing anyway\", MySQL bug 26662)",
    check,
};

/// File systems in memory, which have no direct I/O (tmpfs from Linux 6.6 on has it, to no effect).
const IN_MEMORY: [&str; 2] = ["tmpfs", "ramfs"];
/// File systems that write a file's metadata separately from its data.
const WITH_OWN_METADATA: [&str; 2] = ["xfs", "ext4"];

/// Whether the version calls fsync after a file grows, even with a method that leaves out the other calls.
///
/// Source: MySQL Reference Manual 5.7 and 8.0, "innodb_flush_method": as of 5.7.25 and 8.0.14.
fn flushes_growth(target: &Target) -> bool {
    let is_late_5_7 = target.numbers().starts_with(&[5, 7]) && target.numbers() >= &[5, 7, 25][..];
    target.is_at_least(Family::MySql, &[8, 0, 14])
        || (target.family() == Family::MySql && is_late_5_7)
}

fn check(subject: &Subject<'_>) -> Vec<RuleFinding> {
    let name = "innodb_flush_method";
    let Some(method) = subject.value(name) else {
        return Vec::new();
    };
    let is = |words: &[&str]| words.iter().any(|word| method.eq_ignore_ascii_case(word));
    let file_system = subject.machine.file_system.as_deref().unwrap_or_default();
    let mut remarks = Vec::new();
    // In MySQL 8.0 it chooses O_DIRECT_NO_FSYNC.
    if chooses(subject, name) && subject.set(name).is_none() && !flushes_growth(subject.target) {
        let what = format!(
            "chooses O_DIRECT_NO_FSYNC; no fsync follows the growth of a file before MySQL 8.0.14, and {file_system} can lose the growth in a power cut"
        );
        if WITH_OWN_METADATA.contains(&file_system) {
            let remark = RuleFinding::of(subject, "innodb_dedicated_server", Level::Risk, what);
            remarks.push(remark.fix("set innodb_flush_method = O_DIRECT"));
        }
        return remarks;
    }
    let mut say = |level, what: String, fix: &str| {
        remarks.push(RuleFinding::of(subject, name, level, what).fix(fix));
    };
    if is(&["nosync", "littlesync"]) {
        say(
            Level::Risk,
            format!("with {method}, InnoDB does not flush its files, so a power cut loses data"),
            "set O_DIRECT or fsync",
        );
    }
    if is(&["O_DIRECT", "O_DIRECT_NO_FSYNC"]) && IN_MEMORY.contains(&file_system) {
        say(
            Level::Note,
            format!(
                "{file_system} is in memory, so direct I/O has no effect; on older kernels the server logs \"Failed to set O_DIRECT\""
            ),
            "set fsync if the data directory remains in memory",
        );
    }
    // Most servers have their data on one of these file systems.
    let is_with_metadata = WITH_OWN_METADATA.contains(&file_system);
    let is_flushed = flushes_growth(subject.target);
    if is(&["O_DIRECT_NO_FSYNC"])
        && (is_with_metadata || (file_system.is_empty() && !is_flushed))
        && subject.set(name).is_some()
    {
        if is_flushed {
            let what = "safe on one device: the server calls fsync after a file grows, but not after each write; if the redo log and the data files are on different devices, a power cut can lose data from a device cache without a battery";
            let fix = "set O_DIRECT if they are on different devices";
            say(Level::Note, what.to_owned(), fix);
        } else {
            let versions = if subject.is_mariadb() {
                "only some versions call fsync after a file grows"
            } else {
                "no fsync follows the growth of a file before MySQL 5.7.25 and 8.0.14"
            };
            let on = if is_with_metadata {
                file_system.to_owned()
            } else {
                format!("a file system such as {}", WITH_OWN_METADATA.join(" or "))
            };
            let what = format!(
                "with this method, {versions}; without this fsync, {on} can lose the growth in a power cut"
            );
            say(Level::Risk, what, "set O_DIRECT");
        }
    }
    if is(&["O_DSYNC"]) && subject.set(name).is_some() {
        let what =
            "O_DSYNC applies only to the redo log, so the kernel's page cache also contains data pages".to_owned();
        say(
            Level::Note,
            what,
            "compare the throughput of O_DSYNC and O_DIRECT",
        );
    }
    remarks
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn methods_against_file_systems() {
        let on = |file_system: &str| crate::Machine {
            file_system: Some(file_system.to_owned()),
            ..crate::Machine::default()
        };
        let line = "innodb_flush_method=O_DIRECT";
        assert_found_on(
            &RULE,
            &on("tmpfs"),
            "mysql-5.6",
            line,
            &["note: innodb_flush_method=O_DIRECT: tmpfs is in memory"],
        );
        assert_found_on(&RULE, &on("xfs"), "mysql-5.6", line, &[]);
        let line = "innodb_flush_method=O_DIRECT_NO_FSYNC";
        for (version, part) in [
            ("mysql-5.7", "risk: "),
            ("mysql-5.7.24", "before MySQL 5.7.25 and 8.0.14"),
            ("mysql-8.0.12", "risk: "),
            ("mariadb-10.11", "risk: "),
            ("mysql-5.7.25", "note: "),
            ("mysql-8.0.14", "note: "),
            (
                "mysql-8.0.36",
                "if the redo log and the data files are on different devices",
            ),
            ("mysql-8.4", "note: "),
        ] {
            assert_found_on(&RULE, &on("ext4"), version, line, &[part]);
        }
        // The file system is not known.
        let part =
            "a file system such as xfs or ext4 can lose the growth in a power cut; set O_DIRECT";
        assert_found(&RULE, "mysql-5.7", line, &[part]);
        assert_found(&RULE, "mysql-8.0.33", line, &[]);
        assert_found_on(&RULE, &on("zfs"), "mysql-5.7", line, &[]);
        let dedicated = "innodb_dedicated_server=ON";
        let part = "risk: innodb_dedicated_server=ON: chooses O_DIRECT_NO_FSYNC";
        assert_found_on(&RULE, &on("ext4"), "mysql-8.0.12", dedicated, &[part]);
        assert_found_on(&RULE, &on("ext4"), "mysql-8.0.36", dedicated, &[]);
        assert_found(
            &RULE,
            "mysql-8.0.33",
            "innodb_flush_method=nosync",
            &["risk: innodb_flush_method=nosync"],
        );
        assert_found(&RULE, "mysql-8.0.33", "", &[]);
    }
}
