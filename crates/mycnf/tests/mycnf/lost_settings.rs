//! What a move says of settings that the new version does not have, or has under another name.

use crate::migrations::{line, moved};

/// A lower isolation is not the same: transactions would read other rows, and a statement-based log refuses writes.
#[test]
fn fewer_locks_are_to_decide() {
    let text = "[mysqld]\nserver_id=1\nlog_bin=b\nbinlog_format=STATEMENT\n\
                transaction_isolation=SERIALIZABLE\ninnodb_locks_unsafe_for_binlog=1\n";
    let (new, open) = moved(text, "mysql-5.7", "mysql-8.0.33");
    let sets = new
        .lines()
        .filter(|line| line.starts_with("transaction_isolation"));
    assert_eq!(
        sets.collect::<Vec<_>>(),
        ["transaction_isolation=SERIALIZABLE"]
    );
    line(
        &new,
        "# to decide: without it, InnoDB locks more rows; transaction_isolation = READ-COMMITTED locks as few, but",
    );
    line(
        &new,
        "# innodb_locks_unsafe_for_binlog=1    # left out: unknown to this version",
    );
    assert_eq!(open.len(), 1, "{open:?}");
    assert!(
        open[0].ends_with(
            "; the file itself sets transaction_isolation=SERIALIZABLE; with binlog_format = STATEMENT, all writes to \
             InnoDB tables would then fail (error 1665)"
        ),
        "{open:?}"
    );
    let alone = "[mysqld]\ninnodb_locks_unsafe_for_binlog\n";
    for (from, to, count) in [
        ("mysql-5.7", "mysql-8.0.33", 1),
        ("mariadb-10.2", "mariadb-10.11", 1),
        ("mysql-5.6", "mysql-5.7", 0),
    ] {
        let (new, open) = moved(alone, from, to);
        assert_eq!(open.len(), count, "{from} to {to}: {open:?}");
        let mut lines = new.lines();
        assert!(
            lines.all(|line| !line.starts_with("transaction_isolation")),
            "{new}"
        );
    }
    let low = "[mysqld]\ntransaction_isolation=READ-COMMITTED\ninnodb_locks_unsafe_for_binlog=1\n";
    let (_, open) = moved(low, "mysql-5.7", "mysql-8.0.33");
    assert!(open.is_empty(), "{open:?}");
}

/// MariaDB has second names for the slow log, and semi-synchronous replication without a plugin.
#[test]
fn names_of_mariadb_alone_become_those_of_mysql() {
    let text = "[mysqld]\nlog_slow_query=ON\nlog_slow_query_file=/var/log/slow.log\nlog_slow_query_time=2\n\
                log_slow_min_examined_row_limit=100\nslave_parallel_threads=8\nrpl_semi_sync_master_enabled=ON\n\
                rpl_semi_sync_master_timeout=500\nrpl_semi_sync_slave_enabled=OFF\n";
    for (to, workers, side) in [
        ("mysql-8.0.33", "replica_parallel_workers", "source"),
        ("mysql-5.7", "slave_parallel_workers", "master"),
    ] {
        let (new, open) = moved(text, "mariadb-10.11", to);
        for begin in [
            "slow_query_log = ON    # was log_slow_query=ON",
            "slow_query_log_file = /var/log/slow.log    # was",
            "long_query_time = 2    # was",
            "min_examined_row_limit = 100    # was",
            "# rpl_semi_sync_master_timeout=500    # left out",
            "# rpl_semi_sync_slave_enabled=OFF    # left out",
        ] {
            line(&new, begin);
        }
        line(&new, &format!("{workers} = 8    # was"));
        let expected = format!(
            "rpl_semi_sync_master_enabled=ON: semi-synchronous replication is a plugin in MySQL: to keep it, add \
             plugin_load_add = semisync_{side}.so and rpl_semi_sync_{side}_enabled = ON; and carry over, with \
             rpl_semi_sync_{side}_ in their names: rpl_semi_sync_master_timeout=500"
        );
        assert_eq!(open, [expected], "{to}");
    }
}
