//! Rule: a replica would write and apply its own events for ever.

use crate::rule::{Level, Rule, RuleFinding};
use crate::subject::Subject;

pub(super) const RULE: Rule = Rule {
    id: "same-server-id",
    title: "Replica applies its own events",
    reason: "With replicate_same_server_id, a replica applies events with its own server id. If it also writes them to its binary log, events can circulate endlessly, so the server does not start.",
    source: "MySQL Reference Manual, \"replicate-same-server-id\"; the error \"using --replicate-same-server-id in conjunction with --log-slave-updates is impossible\" in mysqld.cc",
    check,
};

fn check(subject: &Subject<'_>) -> Vec<RuleFinding> {
    let option = "replicate_same_server_id";
    let names = ["log_replica_updates", "log_slave_updates"];
    let Some(updates) = subject.name_in_effect(&names) else {
        return Vec::new();
    };
    let is_circular = subject.is_on(option) == Some(true)
        && subject.has_binary_log()
        && subject.is_on(updates) == Some(true);
    // A replica passes over transactions that it has already, if it knows them by their id.
    let is_by_gtid =
        subject.is_one_of("gtid_mode", &["ON"]) || subject.is_on("gtid_strict_mode") == Some(true);
    let Some(line) = subject.set(option).filter(|_| is_circular && !is_by_gtid) else {
        return Vec::new();
    };
    let what = format!("the server does not start if both this option and {updates} are on");
    let fix = format!("set {option} = 0, or {updates} = OFF");
    vec![RuleFinding::on(line, Level::Refused, what).fix(fix)]
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn a_replica_does_not_log_its_own_events() {
        let own = "replicate_same_server_id=1\nlog_bin=x\nserver_id=1";
        let refused = "refused: replicate_same_server_id=1: the server does not start if both this option and log_";
        for (target, more) in [
            ("mysql-5.7", "log_slave_updates=1"),
            ("mysql-8.0.28", ""),
            ("mysql-8.0.33", ""),
            (
                "mysql-8.0.33",
                "gtid_mode=ON_PERMISSIVE\nenforce_gtid_consistency=ON",
            ),
            ("mysql-8.4", ""),
            ("mariadb-10.11", "log_slave_updates"),
        ] {
            assert_found(&RULE, target, &format!("{own}\n{more}"), &[refused]);
        }
        for (target, more) in [
            ("mysql-5.7", ""),
            ("mysql-8.0.33", "skip_log_replica_updates"),
            ("mysql-8.0.33", "skip_log_bin"),
            ("mysql-8.0.33", "log_slave_updates=OFF"),
            ("mysql-8.0.33", "gtid_mode=ON\nenforce_gtid_consistency=ON"),
            ("mariadb-10.11", ""),
        ] {
            assert_found(&RULE, target, &format!("{own}\n{more}"), &[]);
        }
        assert_found(&RULE, "mysql-8.0.33", "log_bin=x", &[]);
    }
}
