//! Rule: the line sets what the version has by default.

use crate::default_value::is_computed;
use crate::deprecation::deprecation;
use crate::rule::{Level, Rule, RuleFinding};
use crate::subject::Subject;

use super::dedicated_server::chooses;

pub(super) const RULE: Rule = Rule {
    id: "equal-to-default",
    title: "Equal to the default",
    reason: "The line has no effect in this version. It may be needed if the file is also for versions with a different default.",
    source: "default values of 15 versions: 11 read with SHOW GLOBAL VARIABLES from servers without an option file, 4 taken from documentation",
    check,
};

fn check(subject: &Subject<'_>) -> Vec<RuleFinding> {
    let mut remarks = Vec::new();
    for line in subject.read().filter(|line| subject.sets_default(line)) {
        let name = line.name();
        let is_last = subject
            .set(name)
            .is_some_and(|last| last.entry.origin == line.entry.origin);
        // The line also names the files: HOST-bin without a value, and `binlog` only without the line (MySQL Reference
        // Manual 8.0, "--log-bin").
        let names_files = name == "log_bin"
            && (line.entry.value.is_some() || line.value().as_deref() == Some("ON"));
        // Another rule already reports an option that should be removed.
        let is_going = deprecation(subject.target, name).is_some();
        // Without the line, the value would be another one, by the machine or by other lines.
        let is_decided = is_computed(subject.target, name)
            || subject.decided_by_another(name).is_some()
            || subject.decides_another(line)
            || chooses(subject, name);
        if is_last && !names_files && !is_going && !is_decided {
            let default = subject.default_value(name).unwrap_or_default();
            let own = line.value().unwrap_or_default();
            let shown = match (default, own.as_str()) {
                ("", "") => "empty".to_owned(),
                // MySQL up to 5.7 shows no flush method unless one is set.
                ("", own) => format!("the version uses {own} if the option is not set"),
                (default, _) => default.to_owned(),
            };
            let what = format!(
                "equal to the default of version {} ({shown})",
                subject.catalogue.version()
            );
            let remark = RuleFinding::on(line, Level::Note, what).fix(
                "remove the line, unless the file is also for versions with a different default",
            );
            // No rewrite: a line that other versions need looks the same.
            remarks.push(remark);
        }
    }
    remarks
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn a_default_is_found_in_every_spelling() {
        assert_found(
            &RULE,
            "mysql-5.7",
            "sync_binlog=1\ninnodb_file_per_table\ninnodb_buffer_pool_size=0.125G\ninnodb_flush_log_at_trx_commit=1\n\
             innodb_buffer_pool_size=128M\nmax_connections=500",
            &[
                "sync_binlog=1: equal to the default of version 5.7.22 (1)",
                "(ON)",
                "(1)",
                "(134217728)",
            ],
        );
        assert_found(&RULE, "mysql-5.6", "sync_binlog=1", &[]);
        assert_found(
            &RULE,
            "mysql-5.7",
            "innodb_flush_method=fsync\ninit_connect=",
            &[
                "innodb_flush_method=fsync: equal to the default of version 5.7.22 (the version uses fsync if the option is not set)",
                "init_connect=: equal to the default of version 5.7.22 (empty)",
            ],
        );
        // A larger pool has eight instances, the maximum is twice the normal rate, and a size enables the cache.
        for (target, lines) in [
            (
                "mysql-5.7",
                "innodb_buffer_pool_size=8G\ninnodb_buffer_pool_instances=1",
            ),
            (
                "mysql-8.0.33",
                "innodb_io_capacity=1500\ninnodb_io_capacity_max=2000",
            ),
            ("mysql-8.4", "innodb_read_io_threads=4"),
            (
                "mariadb-10.11",
                "query_cache_size=64M\nquery_cache_type=OFF",
            ),
            ("mariadb-10.11", "query_cache_size=1M"),
            (
                "mysql-8.0.33",
                "innodb_dedicated_server=ON\ninnodb_buffer_pool_size=128M",
            ),
        ] {
            assert_found(&RULE, target, lines, &[]);
        }
        for line in ["log_bin=binlog", "log-bin"] {
            assert_found(&RULE, "mysql-8.0.33", line, &[]);
        }
        let off = "skip_log_bin: equal to the default of version 5.7.22 (OFF)";
        assert_found(&RULE, "mysql-5.7", "skip_log_bin", &[off]);
        // A given type of DEMAND stays, and MySQL does not look at the size.
        for (target, lines) in [
            (
                "mariadb-10.11",
                "query_cache_size=1M\nquery_cache_type=DEMAND",
            ),
            ("mysql-5.6", "query_cache_size=1M"),
        ] {
            let equal = "query_cache_size=1M: equal to the default";
            assert_found(&RULE, target, lines, &[equal]);
        }
    }
}
