//! Rule: the version accepts the option and ignores it.

use crate::assignment::Assignment;
use crate::catalogue::Kind;
use crate::finding::option_as_written;
use crate::fix::Fix;
use crate::log_expiry::{DAYS, SECONDS};
use crate::rename::renamed;
use crate::rule::{Level, Rewrite, Rule, RuleFinding};
use crate::subject::Subject;

pub(super) const RULE: Rule = Rule {
    id: "option-without-effect",
    title: "Option without effect",
    reason: "The server accepts the line, for example for compatibility with old files, but ignores it.",
    source: "the versions' option lists: options that the server accepts although it has no variable of the same name; MariaDB's list of removed options",
    check,
};

fn check(subject: &Subject<'_>) -> Vec<RuleFinding> {
    let mut remarks = Vec::new();
    for line in subject.read() {
        if line
            .option
            .is_some_and(|option| option.kind == Kind::NoEffect)
        {
            let rewrite = renamed(subject, line).unwrap_or(Rewrite::Remove);
            let fix = match &rewrite {
                Rewrite::Remove => Fix::LeaveOut(None),
                Rewrite::Replace(new) => format!("write {new}").into(),
            };
            let what = "has no effect in this version";
            remarks.push(
                RuleFinding::on(line, Level::Note, what)
                    .fix(fix)
                    .rewrite(rewrite),
            );
        } else if let Some(other) = subject.line_instead_of(line) {
            remarks.push(
                beside(subject, line, other)
                    .fix(Fix::LeaveOut(None))
                    .rewrite(Rewrite::Remove),
            );
        }
    }
    remarks
}

/// A line that does nothing beside that of another option.
fn beside(subject: &Subject<'_>, line: &Assignment<'_>, other: &Assignment<'_>) -> RuleFinding {
    let is_expiry = [DAYS, SECONDS].contains(&line.name());
    let option = option_as_written(other.entry);
    let at = &other.entry.origin;
    if is_expiry && subject.is_mariadb() {
        let what = format!("overridden in {at} by {option}, which sets the same period");
        return RuleFinding::on(line, Level::Warning, what);
    }
    if is_expiry {
        let what = format!("ignored, because {option} is also set, in {at}");
        return RuleFinding::on(line, Level::Warning, what);
    }
    let what = format!("has no effect, because {} is also set", other.name());
    RuleFinding::on(line, Level::Note, what)
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn old_names_are_taken_and_do_nothing() {
        let dead = "innodb_file_format=Barracuda";
        assert_found(
            &RULE,
            "mariadb-10.11",
            dead,
            &["has no effect in this version; leave it out"],
        );
        assert_found(&RULE, "mysql-5.6", dead, &[]);
        // InnoDB cannot be turned off from MySQL 5.7 on.
        assert_found(
            &RULE,
            "mysql-5.7",
            "skip-innodb",
            &["note: skip-innodb: has no effect"],
        );
        assert_found(&RULE, "mysql-5.6", "skip-innodb", &[]);
        assert_found(
            &RULE,
            "mariadb-11.8",
            "innodb_thread_concurrency=0",
            &["no effect"],
        );
    }

    #[test]
    fn one_of_two_lines_about_the_age_of_binary_logs_is_ignored() {
        let seconds_first = "binlog_expire_logs_seconds=86400\nexpire_logs_days=7";
        let days_first = "expire_logs_days=7\nbinlog_expire_logs_seconds=86400";
        let days = "warning: expire_logs_days=7: ignored, because binlog_expire_logs_seconds=86400 is also set, in \
                    my.cnf line ";
        assert_found(&RULE, "mysql-8.0.33", seconds_first, &[days]);
        assert_found(&RULE, "mysql-8.0.33", days_first, &[days]);
        assert_found(
            &RULE,
            "mariadb-10.11",
            seconds_first,
            &[
                "warning: binlog_expire_logs_seconds=86400: overridden in my.cnf line 3 by expire_logs_days=7",
            ],
        );
        assert_found(
            &RULE,
            "mariadb-10.11",
            days_first,
            &["warning: expire_logs_days=7: overridden in my.cnf line 3"],
        );
        assert_found(&RULE, "mysql-8.0.33", "expire_logs_days=7", &[]);
    }

    #[test]
    fn the_capacity_of_the_redo_log_replaces_the_size_of_its_files() {
        let both = "innodb_redo_log_capacity=2G\ninnodb_log_file_size=1G";
        let beside = "note: innodb_log_file_size=1G: has no effect, because innodb_redo_log_capacity is also set";
        assert_found(&RULE, "mysql-8.0.33", both, &[beside]);
        assert_found(&RULE, "mysql-8.0.33", "innodb_log_file_size=1G", &[]);
        assert_found(&RULE, "mysql-5.7", both, &[]);
    }
}
