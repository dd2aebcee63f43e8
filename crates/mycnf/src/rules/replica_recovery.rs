//! Rule: after a crash, a replica's position is uncertain.

use crate::Family;
use crate::fix::Fix;
use crate::rule::{Level, Rule, RuleFinding};
use crate::subject::Subject;

pub(super) const RULE: Rule = Rule {
    id: "replica-position",
    title: "Replica position not crash-safe",
    reason: "After a crash, the replica's position may not match its data. The replica then repeats or skips transactions.",
    source: "MySQL Reference Manual, \"Handling an Unexpected Halt of a Replica\"",
    check,
};

fn check(subject: &Subject<'_>) -> Vec<RuleFinding> {
    let is_replica = [
        "relay_log",
        "read_only",
        "log_replica_updates",
        "log_slave_updates",
        "master_info_repository",
        "relay_log_info_repository",
        "replica_net_timeout",
        "replicate_ignore_db",
        "slave_net_timeout",
    ]
    .iter()
    .any(|name| subject.set(name).is_some());
    if !is_replica || subject.target.family() == Family::MariaDb {
        return Vec::new();
    }
    let mut remarks = Vec::new();
    if subject.is_one_of("relay_log_info_repository", &["FILE"]) {
        let what = "the replica stores its position in a file, and after a crash this position can be older than the data";
        let option = "relay_log_info_repository";
        let fix = if subject.default_value(option) == Some("TABLE") {
            Fix::leave_out("the default is TABLE")
        } else {
            "set relay_log_info_repository = TABLE".into()
        };
        remarks.push(RuleFinding::of(subject, option, Level::Note, what).fix(fix));
    }
    if subject.is_on("relay_log_recovery") == Some(false) {
        let what = "after a crash, the replica continues with relay logs that may be damaged";
        remarks.push(
            RuleFinding::of(subject, "relay_log_recovery", Level::Note, what)
                .fix("set relay_log_recovery = ON on the replica"),
        );
    }
    remarks
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn replicas_of_mysql_are_judged() {
        assert_found(
            &RULE,
            "mysql-5.6",
            "relay-log=relay",
            &[
                "note: relay_log_info_repository",
                "note: relay_log_recovery",
            ],
        );
        assert_found(
            &RULE,
            "mysql-5.6",
            "relay_log=x\nrelay_log_info_repository=TABLE\nrelay_log_recovery=ON",
            &[],
        );
        assert_found(
            &RULE,
            "mysql-8.0.33",
            "master_info_repository=FILE\nrelay_log_info_repository=FILE\nrelay_log_recovery=ON",
            &[
                "note: relay_log_info_repository=FILE: the replica stores its position in a file, and after a crash this \
               position can be older than the data; leave it out: the default is TABLE",
            ],
        );
        assert_found(
            &RULE,
            "mysql-8.4",
            "log_replica_updates=ON",
            &["note: relay_log_recovery"],
        );
        assert_found(&RULE, "mysql-5.6", "", &[]);
        assert_found(&RULE, "mariadb-10.11", "relay_log=x", &[]);
    }
}
