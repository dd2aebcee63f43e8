//! Rule: the option will be unknown in a later version.

use crate::assignment::is_same_setting;
use crate::catalogue::Kind;
use crate::deprecation::deprecation;
use crate::rename::rewritten;
use crate::rule::{Level, Remark, Rewrite, Rule};
use crate::subject::Subject;
use crate::tls::switch_rewritten;

pub(super) const RULE: Rule = Rule {
    id: "deprecated-option",
    title: "Deprecated option",
    reason: "This version still accepts the option, but warns about it. A later version may refuse to start with it.",
    source: "the warnings of each version's own validator, and the manuals' lists of deprecated options",
    check,
};

fn check(subject: &Subject<'_>) -> Vec<Remark> {
    let mut remarks = Vec::new();
    for line in subject.read() {
        let Some(option) = line.option.filter(|option| option.kind != Kind::NoEffect) else {
            continue;
        };
        // Such a line should be removed, not rewritten.
        if subject.line_instead_of(line).is_some() {
            continue;
        }
        let Some(known) = deprecation(subject.target, option.name) else {
            continue;
        };
        // The switch of TLS is only left out where TLS stays on.
        if let Some(rewrite @ (None | Some(Rewrite::Replace(_)))) = switch_rewritten(subject, line)
        {
            let fix = "write tls_version = \"\", which turns TLS off";
            let mut remark = Remark::on(line, Level::Note, "deprecated in this version").fix(fix);
            remark.rewrite = rewrite;
            remarks.push(remark);
            continue;
        }
        let successor = known.successor.filter(|name| subject.has(name));
        let rewrite = successor.and_then(|new| rewritten(subject, line, option.name, new));
        let next = known
            .successor
            .and_then(|new| deprecation(subject.target, new));
        if let Some(next) = next.filter(|next| next.successor.is_none()) {
            let is_default = rewrite == Some(Rewrite::Remove);
            let fix = way_out(next.name, next.remark, is_default);
            let mut remark = Remark::on(line, Level::Note, "deprecated in this version").fix(fix);
            // Another value than the default has no place in a later version.
            remark.rewrite = rewrite.filter(|rewrite| *rewrite == Rewrite::Remove);
            remarks.push(remark);
            continue;
        }
        let successor = match &rewrite {
            // The new name without a value would switch the option on or lose its file name.
            Some(Rewrite::Replace(new)) if line.entry.name.switches_off() || new.contains('\n') => {
                Some(Rewrite::in_one_line(new))
            }
            _ => successor.map(str::to_owned),
        };
        let fix = match (successor, known.remark) {
            (Some(new), "") => format!("write {new}"),
            (Some(new), remark) => format!("write {new} ({remark})"),
            (None, remark) => {
                let default = subject.catalogue.default_value(option.name);
                let is_default = line
                    .value()
                    .zip(default)
                    .is_some_and(|(value, default)| is_same_setting(option.name, &value, default));
                way_out(option.name, remark, is_default)
            }
        };
        let mut remark = Remark::on(line, Level::Note, "deprecated in this version").fix(fix);
        remark.rewrite = rewrite;
        remarks.push(remark);
    }
    remarks
}

/// What to do with a deprecated option that no other replaces. Only a default can be left out without a change of how a
/// replica applies transactions in parallel.
fn way_out(option: &str, remark: &str, is_default: bool) -> String {
    if option == "replica_parallel_type" && !is_default {
        format!("{remark}; leaving it out changes the type")
    } else {
        format!("leave it out: {remark}")
    }
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn a_line_without_effect_is_not_to_be_renamed() {
        let file = "innodb_redo_log_capacity=2G\ninnodb_log_file_size=1G";
        assert_found(&RULE, "mysql-8.0.33", file, &[]);
        let file = "expire_logs_days=14\nbinlog_expire_logs_seconds=604800";
        assert_found(&RULE, "mysql-8.0.33", file, &[]);
        // A value of 0 leaves the decision to the days.
        let file = "expire_logs_days=14\nbinlog_expire_logs_seconds=0";
        let days = "note: expire_logs_days=14: deprecated in this version; write binlog_expire_logs_seconds";
        assert_found(&RULE, "mysql-8.0.33", file, &[days]);
    }

    #[test]
    fn tls_that_is_off_is_not_left_out() {
        let off = "deprecated in this version; write tls_version = \"\", which turns TLS off";
        let out = "deprecated in this version; leave it out: the server offers TLS";
        for (lines, part) in [
            ("ssl=0", off),
            ("skip-ssl", off),
            ("ssl=0\ntls_version=TLSv1.2", off),
            ("ssl", out),
            ("ssl=0\nssl_ca=/ca.pem", out),
        ] {
            assert_found(&RULE, "mysql-8.0.36", lines, &[part]);
        }
    }

    #[test]
    fn an_old_name_is_named_with_its_successor() {
        let line = "log_slave_updates=ON";
        assert_found(
            &RULE,
            "mysql-8.0.33",
            line,
            &["deprecated in this version; write log_replica_updates"],
        );
        assert_found(
            &RULE,
            "mysql-8.0.33",
            "skip-log-slave-updates\nskip-host-cache\nskip-slave-start",
            &[
                "write log_replica_updates = 0",
                "write host_cache_size = 0",
                "write skip_replica_start",
            ],
        );
        let out = "deprecated in this version; leave it out: a later version will have only LOGICAL_CLOCK";
        let other = "deprecated in this version; a later version will have only LOGICAL_CLOCK; leaving it out changes the type";
        for (value, found) in [("LOGICAL_CLOCK", out), ("DATABASE", other)] {
            for name in ["slave_parallel_type", "replica_parallel_type"] {
                let line = format!("{name}={value}");
                assert_found(&RULE, "mysql-8.0.33", &line, &[found]);
                assert_found(&RULE, "mysql-8.4", &line, &[found]);
            }
        }
        assert_found(&RULE, "mysql-8.0.12", line, &[]);
        assert_found(&RULE, "mariadb-10.11", line, &[]);
        assert_found(
            &RULE,
            "mysql-5.6",
            "innodb_additional_mem_pool_size=20M",
            &["leave it out: InnoDB allocates memory"],
        );
        assert_found(&RULE, "mariadb-10.11", "innodb_file_format=Barracuda", &[]);
        assert_found(
            &RULE,
            "mysql-5.5",
            "log_slow_queries=/var/log/slow.log",
            &[
                "write slow_query_log = 1 and slow_query_log_file = /var/log/slow.log (the path belongs to",
            ],
        );
        assert_found(
            &RULE,
            "percona-5.7",
            "innodb_kill_idle_transaction=60\nmax_binlog_files=9",
            &[
                "write kill_idle_transaction",
                "leave it out: binlog_space_limit",
            ],
        );
    }
}
