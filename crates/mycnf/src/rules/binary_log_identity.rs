//! Rule: the binary log is on without a server id.

use crate::fix::Fix;
use crate::rule::{Level, Rule, RuleFinding};
use crate::subject::Subject;

pub(super) const RULE: Rule = Rule {
    id: "binary-log-without-server-id",
    title: "Binary log without server_id",
    reason: "MySQL 5.7 does not start if log_bin is set without server_id. Other versions start with their default ID. If this ID is 0, replicas cannot connect; otherwise, another server may have the same ID.",
    source: "tested: MySQL 5.7 rejects log_bin without server_id; in replication, each server needs a unique ID",
    check,
};

/// Whether the version does not start with a binary log and without an id.
pub(crate) fn needs_server_id(subject: &Subject<'_>) -> bool {
    !subject.is_mariadb() && subject.target.numbers().starts_with(&[5, 7])
}

fn check(subject: &Subject<'_>) -> Vec<RuleFinding> {
    let Some(line) = subject.set("log_bin").filter(|_| subject.has_binary_log()) else {
        return Vec::new();
    };
    if let Some(id) = subject.set("server_id") {
        // MariaDB uses 1 instead, which `adjusted-value` reports.
        let is_zero = !subject.is_mariadb() && subject.number("server_id") == Some(0);
        let zero = is_zero.then(|| {
            let what = "with server_id 0, the server refuses connections from replicas";
            RuleFinding::on(id, Level::Warning, what)
                .fix("set server_id to a unique number, 1 or higher")
        });
        return zero.into_iter().collect();
    }
    let (level, what) = if needs_server_id(subject) {
        (
            Level::Refused,
            "MySQL 5.7 does not start if log_bin is set without server_id",
        )
    } else {
        (
            Level::Note,
            "server_id is not set and keeps its default value; two servers with the same ID cannot replicate from each other",
        )
    };
    let fix = Fix::Add("server_id with a unique number".to_owned());
    vec![RuleFinding::on(line, level, what).fix(fix)]
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn the_id_is_asked_for_where_the_log_is_set() {
        assert_found(
            &RULE,
            "mysql-5.7",
            "log-bin=mysql-bin",
            &["refused: log-bin=mysql-bin"],
        );
        assert_found(&RULE, "mysql-5.6", "log_bin", &["note: "]);
        assert_found(&RULE, "mysql-5.7", "log-bin=x\nserver-id=1", &[]);
        for version in ["mysql-5.6", "mysql-5.7", "mysql-8.0.33"] {
            let file = "log-bin=x\nserver-id=0";
            assert_found(
                &RULE,
                version,
                file,
                &["warning: server-id=0: with server_id 0"],
            );
        }
        assert_found(&RULE, "mysql-8.0.33", "skip-log-bin\nserver-id=0", &[]);
        assert_found(&RULE, "mysql-8.0.33", "skip-log-bin", &[]);
        for off in ["Skip-Log-Bin", "SKIP_LOG_BIN", "Disable-Log-Bin"] {
            assert_found(&RULE, "mariadb-10.11", off, &[]);
        }
        assert_found(&RULE, "mariadb-10.11", "Log-Bin=x", &["note: Log-Bin=x"]);
        assert_found(&RULE, "mysql-8.0.33", "", &[]);
    }
}
