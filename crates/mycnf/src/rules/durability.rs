//! Rule: with these settings, a crash or a power cut loses commits.

use crate::durability::{DurabilityClass, durability};
use crate::rule::{Level, Rule, RuleFinding};
use crate::subject::Subject;

pub(super) const RULE: Rule = Rule {
    id: "durability-class",
    title: "Durability class",
    reason: "A crash or a power cut can lose commits that the server has acknowledged.",
    source: "our own power-cut tests: if the redo log was flushed at each commit, 0 of 40,902 commits were lost; if it was only written at each commit, 34,299 of 141,314 commits were lost",
    check,
};

fn check(subject: &Subject<'_>) -> Vec<RuleFinding> {
    let durability = durability(subject);
    let lacks = durability.lacks.iter();
    let remarks = lacks.map(|lack| {
        let level = if lack.is_set {
            Level::Risk
        } else {
            Level::Note
        };
        // If the file's class is lower, commits are lost, whatever this option promises.
        let words = match lack.class {
            DurabilityClass::D3 if durability.class < DurabilityClass::D3 => {
                "the binary log may lack commits after a power cut"
            }
            class => class.in_words(),
        };
        let what = format!("durability class {}: {words}", lack.class.name());
        RuleFinding::of(subject, lack.option, level, what).fix(lack.remedy)
    });
    // Other rules judge the doublewrite buffer, methods that do not flush, and nodes of a cluster. A node that
    // forms its own cluster recovers nothing from others.
    let is_galera = subject.is_galera_node() && !subject.forms_new_cluster();
    remarks
        .filter(|remark| {
            let is_of = |name: &str| remark.option.contains(name);
            let has_own = is_of("doublewrite")
                || is_of("flush_method")
                || (is_galera && is_of("flush_log_at_trx_commit"));
            !has_own
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn each_step_down_is_named() {
        assert_found(
            &RULE,
            "mysql-5.7",
            "innodb_flush_log_at_trx_commit=2\nlog_bin=x\nsync_binlog=0",
            &[
                "risk: innodb_flush_log_at_trx_commit=2: durability class D2: the last commits are lost in a power cut",
                "risk: sync_binlog=0: durability class D3: the binary log may lack commits after a power cut",
            ],
        );
        assert_found(
            &RULE,
            "mysql-5.6",
            "log_bin=x",
            &["note: sync_binlog: durability class D3: no commit is lost in a power cut"],
        );
        assert_found(&RULE, "mysql-8.0.33", "", &[]);
        assert_found(
            &RULE,
            "mysql-5.6",
            "innodb_flush_log_at_trx_commit=0",
            &["D1: the last commits are lost in a server crash"],
        );
    }
}
