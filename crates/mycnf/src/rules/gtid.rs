//! Rule: GTIDs are on without the options that they need, or without flushing the binary log at each commit.

use crate::Family;
use crate::rule::{Level, Rule, RuleFinding};
use crate::subject::Subject;

pub(super) const RULE: Rule = Rule {
    id: "gtid",
    title: "GTIDs without required settings",
    reason: "The server does not start with GTIDs if a required option is missing. If the binary log is not flushed at every commit, GTIDs that replicas have already received may be missing from it after a power cut.",
    source: "MySQL Reference Manual, \"Setting Up Replication Using GTIDs\"",
    check,
};

fn check(subject: &Subject<'_>) -> Vec<RuleFinding> {
    if subject.target.family() == Family::MariaDb
        || !subject.is_one_of("gtid_mode", &["ON", "ON_PERMISSIVE"])
    {
        return Vec::new();
    }
    let mut remarks = Vec::new();
    let mut say = |level, what: &str, fix: &str| {
        remarks.push(RuleFinding::of(subject, "gtid_mode", level, what).fix(fix))
    };
    // With ON_PERMISSIVE, the server starts (8.0.33).
    if subject.is_one_of("gtid_mode", &["ON"])
        && subject.is_on("enforce_gtid_consistency") != Some(true)
    {
        say(
            Level::Refused,
            "also needs enforce_gtid_consistency=ON",
            "add enforce_gtid_consistency = ON",
        );
    }
    if !subject.target.is_at_least(Family::MySql, &[5, 7]) {
        let updates = subject.is_on("log_slave_updates") == Some(true);
        if !subject.has_binary_log() || !updates {
            say(
                Level::Refused,
                "MySQL 5.6 also requires log_bin and log_slave_updates",
                "add log_bin and log_slave_updates",
            );
        }
    }
    if subject.has_binary_log() && subject.number("sync_binlog").is_some_and(|sync| sync != 1) {
        let what = "sync_binlog is not 1: after a power cut, the binary log may lack GTIDs that replicas have already received";
        say(Level::Risk, what, "set sync_binlog = 1");
    }
    remarks
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn conditions_by_version() {
        assert_found(
            &RULE,
            "mysql-5.6",
            "gtid_mode=ON",
            &[
                "needs enforce_gtid_consistency",
                "MySQL 5.6 also requires log_bin and log_slave_updates",
            ],
        );
        let whole = "gtid_mode=ON\nenforce_gtid_consistency=ON\nlog_bin=x\nlog_slave_updates=ON";
        assert_found(
            &RULE,
            "mysql-5.6",
            whole,
            &[
                "risk: gtid_mode=ON: sync_binlog is not 1: after a power cut, the binary log may lack GTIDs",
            ],
        );
        assert_found(&RULE, "mysql-5.7", whole, &[]);
        let is_true = "gtid_mode=ON\nenforce_gtid_consistency=TRUE";
        assert_found(&RULE, "mysql-8.0.33", is_true, &[]);
        let warns = "gtid_mode=ON\nenforce_gtid_consistency=WARN";
        let needed = "refused: gtid_mode=ON: also needs enforce_gtid_consistency=ON";
        assert_found(&RULE, "mysql-8.0.33", warns, &[needed]);
        let on_the_way = "gtid_mode=ON_PERMISSIVE\nenforce_gtid_consistency=WARN";
        assert_found(&RULE, "mysql-8.0.33", on_the_way, &[]);
        assert_found(&RULE, "mariadb-10.11", "gtid_mode=ON", &[]);
    }
}
