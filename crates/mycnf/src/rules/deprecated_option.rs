//! Rule: the option will be unknown in a later version.

use crate::catalogue::Kind;
use crate::deprecation::{Deprecation, deprecation};
use crate::explanation::explanation;
use crate::fix::Fix;
use crate::history::shown;
use crate::rename::{reason_to_leave_out, rewritten};
use crate::rule::{Level, Rewrite, Rule, RuleFinding};
use crate::subject::Subject;
use crate::tls::switch_rewritten;

pub(super) const RULE: Rule = Rule {
    id: "deprecated-option",
    title: "Deprecated option",
    reason: "This version still accepts the option, but warns about it. A later version may refuse to start with it.",
    source: "the warnings of each version's own validator, and the manuals' lists of deprecated options",
    check,
};

fn check(subject: &Subject<'_>) -> Vec<RuleFinding> {
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
            let mut remark =
                RuleFinding::on(line, Level::Note, "deprecated in this version").fix(fix);
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
            let fix = way_out(subject, next, is_default);
            let mut remark =
                RuleFinding::on(line, Level::Note, "deprecated in this version").fix(fix);
            // Another value than the default has no place in a later version.
            remark.rewrite = rewrite.filter(|rewrite| *rewrite == Rewrite::Remove);
            remarks.push(remark);
            continue;
        }
        let already = successor
            .filter(|_| rewrite == Some(Rewrite::Remove))
            .and_then(|new| reason_to_leave_out(subject, line, new));
        let written = match &rewrite {
            // The new name without a value would switch the option on or lose its file name.
            Some(Rewrite::Replace(new)) if line.entry.name.switches_off() || new.contains('\n') => {
                Some(Rewrite::in_one_line(new))
            }
            _ => successor.map(str::to_owned),
        };
        let fix = match (already, written, known.remark) {
            (Some(reason), ..) => Fix::leave_out(reason),
            (None, Some(new), "") => format!("write {new}").into(),
            (None, Some(new), remark) => format!("write {new} ({remark})").into(),
            (None, None, _) => way_out(subject, known, subject.sets_default(line)),
        };
        let mut remark = RuleFinding::on(line, Level::Note, "deprecated in this version").fix(fix);
        remark.rewrite = rewrite;
        remark.successor = successor;
        remarks.push(remark);
    }
    remarks
}

/// What to do with a deprecated option that no other replaces. If the version still acts on the option, only a line with
/// the default can be left out without a change.
fn way_out(subject: &Subject<'_>, known: &Deprecation, is_default: bool) -> Fix {
    let remark = known.remark;
    if is_default || !known.is_in_effect {
        return Fix::leave_out(remark);
    }
    let unit = explanation(known.name).map_or("", |text| text.unit.as_str());
    let default = subject.default_value(known.name);
    let default = default.map_or(String::new(), |default| {
        format!(" to {}", shown(default, unit))
    });
    format!("{remark}; without the line, the value changes{default}").into()
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};
    use crate::{Machine, OptionFile, Target};
    use std::path::Path;

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

    /// A version has the successor as soon as it deprecates the old name, even if its catalogue is older.
    #[test]
    fn a_version_between_two_catalogues_has_the_successor() {
        let lines = "slave_parallel_workers=16\nskip_slave_start=ON\nslave_parallel_type=LOGICAL_CLOCK\n\
                     default_authentication_plugin=mysql_native_password\ninnodb_log_file_size=2G";
        let renamed = ["write replica_parallel_workers", "write skip_replica_start"];
        let found = [&renamed[..], &["write replica_parallel_type"]].concat();
        assert_found(&RULE, "mysql-8.0.26", lines, &found);
        let found = [
            &renamed[..],
            &[
                "leave it out: a later version will have only LOGICAL_CLOCK",
                "write authentication_policy",
                "write innodb_redo_log_capacity (the size of all redo files together)",
            ],
        ]
        .concat();
        assert_found(&RULE, "mysql-8.0.30", lines, &found);
        let both = "innodb_log_file_size=2G\ninnodb_redo_log_capacity=4G";
        assert_found(&RULE, "mysql-8.0.30", both, &[]);
    }

    #[test]
    fn a_line_that_still_decides_is_not_simply_left_out() {
        let found = "deprecated in this version; MySQL 8.4 always uses writesets; without the line, the value changes to COMMIT_ORDER";
        let line = "binlog_transaction_dependency_tracking=WRITESET";
        assert_found(&RULE, "mysql-8.0.36", line, &[found]);
        let line = "binlog_transaction_dependency_tracking=COMMIT_ORDER";
        let found = "leave it out: MySQL 8.4 always uses writesets";
        assert_found(&RULE, "mysql-8.0.36", line, &[found]);
        let found =
            "a later version always uses a table; without the line, the value changes to TABLE";
        for target in ["mysql-8.0.26", "mysql-8.0.33"] {
            assert_found(&RULE, target, "master_info_repository=FILE", &[found]);
        }
    }

    #[test]
    fn no_advice_is_without_a_reason() {
        for target in Target::all() {
            for numbers in [[8, 0, 26], [8, 0, 30], [5, 7, 8]] {
                let between = Target::new(target.product(), &numbers);
                for target in [&target, &between] {
                    for name in target.catalogue().names() {
                        for found in remarks(&RULE, &Machine::default(), &target.to_string(), name)
                        {
                            let fix = found.split("in this version; ").nth(1);
                            let fix = fix.unwrap_or_default();
                            let is_whole = !fix.is_empty() && !fix.trim_end().ends_with([':', ';']);
                            assert!(is_whole, "{target} {found}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn an_option_whose_successor_is_set_is_left_out() {
        let lines = "expire_logs_days=7\nlog_slave_updates=1\nlog_replica_updates=1";
        assert_found(
            &RULE,
            "mysql-8.0.33",
            lines,
            &[
                "write binlog_expire_logs_seconds",
                "leave it out: log_replica_updates=1 is also set, in my.cnf line 4",
            ],
        );
    }

    /// Any plugin for the first factor means the one of the old option.
    #[test]
    fn a_policy_that_leaves_the_plugin_open_does_not_replace_it() {
        let old = "default_authentication_plugin=mysql_native_password";
        for (policy, found, is_safe) in [
            ("*,,", "write authentication_policy", false),
            (
                "caching_sha2_password,,",
                "leave it out: authentication_policy=",
                true,
            ),
            (
                "*:caching_sha2_password,,",
                "leave it out: authentication_policy=",
                true,
            ),
        ] {
            let lines = format!("{old}\nauthentication_policy='{policy}'");
            assert_found(&RULE, "mysql-8.0.33", &lines, &[found]);
            let file = OptionFile::parse(&format!("[mysqld]\n{lines}\n"), Path::new("my.cnf"));
            let (file, target) = (file.unwrap(), Target::parse("mysql-8.0.33").unwrap());
            let machine = Machine::default();
            let remarks = check(&Subject::new(&file, &target, &machine));
            assert_eq!(remarks[0].rewrite.is_some(), is_safe, "{policy}");
        }
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
        let other = "deprecated in this version; a later version will have only LOGICAL_CLOCK; without the line, the value changes to LOGICAL_CLOCK";
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
                "binlog_space_limit, in bytes, replaces it; without the line, the value changes to 0",
            ],
        );
    }
}
