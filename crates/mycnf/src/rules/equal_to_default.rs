//! Rule: the line sets what the version has by default.

use crate::assignment::is_same_setting;
use crate::deprecation::deprecation;
use crate::rule::{Level, Remark, Rule};
use crate::subject::Subject;

pub(super) const RULE: Rule = Rule {
    id: "equal-to-default",
    title: "Equal to the default",
    reason: "The line has no effect in this version. It may be needed if the file is also for versions with a different default.",
    source: "default values of 15 versions: 11 read with SHOW GLOBAL VARIABLES from servers without an option file, 4 taken from documentation",
    check,
};

fn check(subject: &Subject<'_>) -> Vec<Remark> {
    let mut remarks = Vec::new();
    for line in subject.read() {
        let name = line.name();
        let value = line.value();
        let default = subject.catalogue.default_value(name);
        let Some((value, default)) = value.zip(default) else {
            continue;
        };
        let is_last = subject
            .set(name)
            .is_some_and(|last| last.entry.origin == line.entry.origin);
        // A path for the binary log does more than switch it on.
        let has_path = name == "log_bin" && line.entry.value.is_some();
        // Another rule already reports an option that should be removed.
        let is_going = deprecation(subject.target, name).is_some();
        if is_last && !has_path && !is_going && is_same_setting(name, &value, default) {
            let shown = if default.is_empty() { "empty" } else { default };
            let what = format!(
                "equal to the default of version {} ({shown})",
                subject.catalogue.version()
            );
            let remark = Remark::on(line, Level::Note, what).fix(
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
        assert_found(&RULE, "mysql-8.0.33", "log_bin=binlog", &[]);
    }
}
