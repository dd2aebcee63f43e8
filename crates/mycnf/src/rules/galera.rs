//! Rule: settings that Galera requires of a node, and settings that are customary in a cluster.

use crate::rule::{Level, Rule, RuleFinding};
use crate::subject::Subject;

use super::statement_binlog::row_based;

pub(super) const RULE: Rule = Rule {
    id: "galera-node",
    title: "Node of a Galera cluster",
    reason: "Galera replicates changed rows of InnoDB tables, and each node applies them in parallel. Settings that do not allow this lead to rejected writes, deadlocks or different data on the nodes.",
    source: "MariaDB documentation, \"Configuring MariaDB Galera Cluster\" (mandatory and performance-related options); \
        Galera Cluster documentation, \"Replication Configuration\"",
    check,
};

fn check(subject: &Subject<'_>) -> Vec<RuleFinding> {
    if !subject.is_galera_node() {
        return Vec::new();
    }
    let mut remarks = Vec::new();
    if subject.forms_new_cluster() {
        let is_explicit = subject.is_on("wsrep_new_cluster") == Some(true);
        let (name, fix) = if is_explicit {
            (
                "wsrep_new_cluster",
                "remove the line, and bootstrap only the first node with galera_new_cluster",
            )
        } else {
            (
                "wsrep_cluster_address",
                "name all nodes (gcomm://A,B,C), and bootstrap only the first node with galera_new_cluster",
            )
        };
        let what = "at every start, the node forms a new cluster instead of joining the other nodes, so their data diverges";
        remarks.push(RuleFinding::of(subject, name, Level::Risk, what).fix(fix));
    }
    let forced = "wsrep_forced_binlog_format";
    if subject.is_one_of(forced, &["STATEMENT", "MIXED"]) {
        let what = "Galera requires the format ROW, and this option overrides binlog_format";
        let remark = RuleFinding::of(subject, forced, Level::Warning, what);
        remarks.push(remark.fix("remove the line"));
    }
    if !subject.is_one_of("binlog_format", &["ROW", "2"]) {
        let what = "Galera requires the format ROW, even if the binary log is disabled";
        let remark = RuleFinding::of(subject, "binlog_format", Level::Warning, what);
        remarks.push(remark.fix(row_based(subject)));
    }
    let mode = "innodb_autoinc_lock_mode";
    if subject.number(mode).is_some_and(|number| number != 2) {
        let what = "inserts with AUTO_INCREMENT can fail or deadlock, because nodes apply rows in parallel";
        let remark = RuleFinding::of(subject, mode, Level::Warning, what);
        remarks.push(remark.fix("set innodb_autoinc_lock_mode = 2"));
    }
    let engine = "default_storage_engine";
    if subject.set(engine).is_some() && !subject.is_one_of(engine, &["InnoDB"]) {
        let what = "new tables with an engine other than InnoDB are not replicated";
        let remark = RuleFinding::of(subject, engine, Level::Warning, what);
        remarks.push(remark.fix("set default_storage_engine = InnoDB"));
    }
    let flush = "innodb_flush_log_at_trx_commit";
    if matches!(subject.number(flush), Some(0 | 2)) && !subject.forms_new_cluster() {
        // The durability class of the node does not change.
        let what = "common in a cluster: a node recovers lost commits from the other nodes; commits are lost only if all nodes lose power at the same time";
        remarks.push(RuleFinding::of(subject, flush, Level::Note, what));
    }
    remarks
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    const CLUSTER: &str = "wsrep_on=ON\nwsrep_provider=/usr/lib/galera/libgalera_smm.so\n\
                           wsrep_cluster_address=gcomm://10.0.0.1,10.0.0.2\n";

    #[test]
    fn a_node_has_rows_innodb_and_interleaved_values() {
        let lines = |more: &str| format!("{CLUSTER}{more}");
        assert_found(
            &RULE,
            "mariadb-10.11",
            &lines(""),
            &[
                "warning: binlog_format: Galera requires the format ROW, even if the binary log is disabled; set binlog_format = ROW",
                "warning: innodb_autoinc_lock_mode: inserts with AUTO_INCREMENT can fail",
            ],
        );
        let right =
            "binlog_format=row\ninnodb_autoinc_lock_mode=2\ndefault-storage-engine=innodb\n";
        assert_found(&RULE, "mariadb-10.6", &lines(right), &[]);
        let wrong =
            "binlog_format=MIXED\ninnodb_autoinc_lock_mode=1\ndefault_storage_engine=MyISAM\n";
        assert_found(
            &RULE,
            "mariadb-10.6",
            &lines(wrong),
            &[
                "warning: binlog_format=MIXED",
                "warning: innodb_autoinc_lock_mode=1",
                "warning: default_storage_engine=MyISAM",
            ],
        );
        assert_found(&RULE, "mariadb-10.6", wrong, &[]);
        let mode = "warning: innodb_autoinc_lock_mode";
        assert_found(&RULE, "percona-5.7", &lines("binlog_format=ROW"), &[mode]);
        assert_found(
            &RULE,
            "mariadb-10.6",
            "wsrep_on=OFF\nwsrep_provider=none",
            &[],
        );
    }

    #[test]
    fn a_node_that_names_no_other_node_forms_a_cluster_of_its_own() {
        let right =
            "wsrep_on=ON\nwsrep_provider=/x.so\nbinlog_format=ROW\ninnodb_autoinc_lock_mode=2\n";
        for lines in [
            "wsrep_cluster_address=gcomm://",
            "wsrep_cluster_address='gcomm://?pc.wait_prim=no'",
            "wsrep_cluster_address=gcomm://10.0.0.1,10.0.0.2\nwsrep_new_cluster",
        ] {
            let lines = format!("{right}{lines}\ninnodb_flush_log_at_trx_commit=0");
            let part =
                ": at every start, the node forms a new cluster instead of joining the other nodes";
            // No other node has the commits that this one loses.
            assert_found(&RULE, "mariadb-10.6", &lines, &[part]);
            let durability = &super::super::durability::RULE;
            let part = "risk: innodb_flush_log_at_trx_commit=0";
            assert_found(durability, "mariadb-10.6", &lines, &[part]);
        }
        let lines = format!("{right}wsrep_cluster_address=gcomm://a:4567?gmcast.segment=1");
        assert_found(&RULE, "mariadb-10.6", &lines, &[]);
    }

    #[test]
    fn a_forced_format_other_than_rows_is_not_replicated() {
        for (format, count) in [("STATEMENT", 1), ("MIXED", 1), ("ROW", 0), ("NONE", 0)] {
            let lines = format!(
                "{CLUSTER}binlog_format=ROW\ninnodb_autoinc_lock_mode=2\nwsrep_forced_binlog_format={format}"
            );
            let part = "warning: wsrep_forced_binlog_format=";
            assert_found(&RULE, "mariadb-10.6", &lines, &[part][..count]);
        }
    }

    #[test]
    fn lazy_flushing_is_customary() {
        for value in [0, 2] {
            let lines = format!(
                "{CLUSTER}binlog_format=ROW\ninnodb_autoinc_lock_mode=2\ninnodb_flush_log_at_trx_commit={value}"
            );
            let part = format!("note: innodb_flush_log_at_trx_commit={value}: common in a cluster");
            assert_found(&RULE, "mariadb-11.4", &lines, &[&part]);
            assert_found(&super::super::durability::RULE, "mariadb-11.4", &lines, &[]);
        }
        let alone = "innodb_flush_log_at_trx_commit=2";
        assert_found(
            &super::super::durability::RULE,
            "mariadb-11.4",
            alone,
            &["risk"],
        );
    }
}
