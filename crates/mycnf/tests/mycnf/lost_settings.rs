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

/// What protects data, limits access or changes results does not go with "0 to decide".
#[test]
fn a_loss_that_is_not_one_of_speed_is_to_decide() {
    let (mysql, mariadb) = ("mysql-8.0.33", "mariadb-10.11");
    for (line, from, to, expected) in [
        (
            "innodb_encrypt_tables=ON",
            mariadb,
            mysql,
            "innodb_encrypt_tables=ON: left out, although it protects data: mysql-8.0.33 has no such option; \
             default_table_encryption = ON of MySQL 8.0 encrypts new tables, with a keyring",
        ),
        (
            "encrypt_binlog=1",
            mariadb,
            mysql,
            "encrypt_binlog=1: left out, although it protects data: mysql-8.0.33 has no such option; \
             binlog_encryption = ON of MySQL 8.0 encrypts binary logs, with a keyring",
        ),
        (
            "max_execution_time=5000",
            mysql,
            mariadb,
            "max_execution_time=5000: left out, although it changes the results of statements: mariadb-10.11 has no such \
             option; max_statement_time limits all statements, in seconds",
        ),
        (
            "sql_require_primary_key=ON",
            mysql,
            mariadb,
            "sql_require_primary_key=ON: left out, although it changes the results of statements: mariadb-10.11 has no \
             such option",
        ),
        (
            "innodb_dedicated_server=ON",
            mysql,
            mariadb,
            "innodb_dedicated_server=ON: left out: mariadb-10.11 has no such option; set innodb_buffer_pool_size and the \
             size of the redo log, which otherwise have their small defaults",
        ),
        // A hint about the other family is none for an older version.
        (
            "binlog_encryption=ON",
            mysql,
            "mysql-5.7",
            "binlog_encryption=ON: left out, although it protects data: mysql-5.7 has no such option",
        ),
        (
            "wsrep_on=ON",
            mariadb,
            mysql,
            "wsrep_on=ON: left out: mysql-8.0.33 has no such option; the server is a node of a Galera cluster, which this \
             product cannot join",
        ),
    ] {
        let (new, open) = moved(&format!("[mysqld]\n{line}\n"), from, to);
        assert_eq!(open, [expected], "{new}");
    }
    for (lines, from, to) in [
        (
            "innodb_encrypt_tables=OFF\nmax_statement_time=0",
            mariadb,
            mysql,
        ),
        (
            "innodb_dedicated_server=ON\ninnodb_buffer_pool_size=8G",
            mysql,
            mariadb,
        ),
        ("userstat=ON\nextra_port=3307", mariadb, mysql),
        ("secure_auth=ON", "mysql-5.7", mysql),
    ] {
        let (_, open) = moved(&format!("[mysqld]\n{lines}\n"), from, to);
        assert!(open.is_empty(), "{lines}: {open:?}");
    }
}

/// The stack that the packages of MySQL 5.7 set is too small for statements of 8.0.
#[test]
fn a_stack_below_a_larger_default_is_to_decide() {
    let text = "[mysqld]\nthread_stack=192K\n";
    let (new, open) = moved(text, "mysql-5.7", "mysql-8.0.33");
    line(&new, "thread_stack=192K");
    assert_eq!(
        open,
        [
            "thread_stack=192K: the default of mysql-8.0.33 is larger (1M): with a smaller stack, statements can fail with \
             error 1436; remove the line"
        ]
    );
    for (text, from, to) in [
        (text, "mysql-5.6", "mysql-5.7"),
        ("[mysqld]\nthread_stack=2M\n", "mysql-5.7", "mysql-8.0.33"),
    ] {
        let (_, open) = moved(text, from, to);
        assert!(open.is_empty(), "{open:?}");
    }
}

/// A changed default that refuses what was accepted before: logins, and changes of rows.
#[test]
fn logins_and_the_isolation_of_innodb_stay() {
    let text = "[mysqld]\nport=3307\n";
    let (new, _) = moved(text, "mysql-8.0.33", "mysql-8.4");
    line(
        &new,
        "mysql_native_password = ON    # accounts with this plugin can log in as in mysql-8.0.33; mysql-8.4 disables it",
    );
    for (from, to) in [
        ("mysql-8.0.33", "mysql-9.7"),
        ("mysql-5.7", "mysql-8.0.33"),
        ("mysql-8.4", "mysql-8.4"),
    ] {
        let (new, _) = moved(text, from, to);
        assert!(!new.contains("mysql_native_password"), "{new}");
    }
    for from in ["mariadb-10.5", "mariadb-11.4", "mysql-8.0.33"] {
        let (new, _) = moved(text, from, "mariadb-11.8");
        line(
            &new,
            &format!(
                "innodb_snapshot_isolation = OFF    # as in {from}; the default of mariadb-11.8 is ON"
            ),
        );
    }
    let (new, _) = moved(text, "mariadb-10.5", "mariadb-11.4");
    assert!(!new.contains("innodb_snapshot_isolation"), "{new}");
}

/// A plugin of MySQL that was installed with a statement is in the data directory, and in no option file.
#[test]
fn options_of_installed_plugins_stay() {
    let text = "[mysqld]\nrpl_semi_sync_master_enabled=1\nvalidate_password_policy=LOW\n";
    // The second version is between two catalogues.
    for to in ["mysql-8.0.33", "mysql-8.0.28"] {
        let (new, open) = moved(text, "mysql-5.7", to);
        line(&new, "rpl_semi_sync_master_enabled=1");
        line(&new, "validate_password_policy=LOW");
        assert!(open.is_empty(), "{to}: {open:?}");
    }
    let text = "[mysqld]\nrpl_semi_sync_source_enabled=1\nrpl_semi_sync_source_timeout=500\n\
                rpl_semi_sync_source_trace_level=16\n";
    let (new, open) = moved(text, "mysql-8.0.33", "mariadb-10.11");
    line(&new, "rpl_semi_sync_master_enabled = 1    # was");
    line(&new, "rpl_semi_sync_master_timeout = 500    # was");
    line(&new, "rpl_semi_sync_master_trace_level = 16    # was");
    // The default of the plugin of MySQL, which MariaDB does not have.
    line(
        &new,
        "rpl_semi_sync_master_wait_point = AFTER_SYNC    # as in mysql-8.0.33; the default of mariadb-10.11 is AFTER_COMMIT",
    );
    assert!(open.is_empty(), "{open:?}");
}

/// In MariaDB, a size of the query cache enables the cache, and in MySQL 5.7 it does not.
#[test]
fn a_query_cache_that_was_off_stays_off() {
    let sized = "[mysqld]\nquery_cache_size=64M\n";
    let off = "[mysqld]\nquery_cache_size=64M\nquery_cache_type=0\n";
    for text in [sized, off] {
        let (new, _) = moved(text, "mysql-5.7", "mariadb-10.11");
        line(
            &new,
            "query_cache_size = 0    # was query_cache_size=64M in mysql-5.7, where query_cache_type was OFF; in mariadb-10.11, a \
             size enables the cache",
        );
    }
    let on = "[mysqld]\nquery_cache_size=64M\nquery_cache_type=1\n";
    for (text, from) in [
        (sized, "mysql-5.5"),
        (off, "mariadb-10.5"),
        (on, "mysql-5.7"),
    ] {
        let (new, _) = moved(text, from, "mariadb-10.11");
        line(&new, "query_cache_size=64M");
        assert!(!new.contains("query_cache_size = 0"), "{from}: {new}");
    }
}

/// The parts of a combined mode that MySQL 8 has are kept; what else the mode does is lost.
#[test]
fn a_combined_mode_becomes_its_parts() {
    let text = "[mysqld]\nsql_mode=ORACLE,STRICT_ALL_TABLES\n";
    let parts = "sql_mode = PIPES_AS_CONCAT,ANSI_QUOTES,IGNORE_SPACE,STRICT_ALL_TABLES    # was";
    for (from, lost) in [("mariadb-10.11", true), ("mysql-5.7", false)] {
        let (new, open) = moved(text, from, "mysql-8.0.33");
        line(&new, parts);
        assert_eq!(!open.is_empty(), lost, "{from}: {open:?}");
        if lost {
            line(
                &new,
                "# to decide: mysql-8.0.33 has no mode ORACLE, with which stored programs are written in PL/SQL",
            );
        }
    }
    // MySQL 5.7 knows the word, but no PL/SQL.
    for (from, lost) in [("mariadb-10.11", 1), ("mariadb-10.2", 0), ("mysql-5.6", 0)] {
        let (new, open) = moved(text, from, "mysql-5.7");
        line(&new, "sql_mode=ORACLE,STRICT_ALL_TABLES");
        let modes = open
            .iter()
            .filter(|one| one.contains("no mode ORACLE, with which"));
        assert_eq!(modes.count(), lost, "{from}: {open:?}");
    }
    let text = "[mysqld]\nsql_mode=STRICT_ALL_TABLES,EMPTY_STRING_IS_NULL,ANSI\n";
    let (new, open) = moved(text, "mariadb-10.11", "mysql-8.0.33");
    line(&new, "sql_mode = STRICT_ALL_TABLES,ANSI    # was");
    assert_eq!(open.len(), 1, "{open:?}");
    let (_, open) = moved(text, "mariadb-10.11", "mariadb-11.8");
    assert!(open.is_empty(), "{open:?}");
}

/// MySQL 8.4 has no keyring plugins.
#[test]
fn a_plugin_that_the_new_version_does_not_ship_is_to_decide() {
    let text = "[mysqld]\nearly-plugin-load=keyring_file.so\nkeyring_file_data=/var/lib/keyring\n";
    let (new, open) = moved(text, "mysql-8.0.33", "mysql-8.4");
    line(&new, "# to decide: mysql-8.4 does not ship keyring_file.so");
    assert_eq!(open.len(), 2, "{open:?}");
    let (_, open) = moved(text, "mysql-5.7", "mysql-8.0.33");
    assert!(open.is_empty(), "{open:?}");
}

/// MariaDB uses 1 in the place of a server id of 0; MySQL keeps 0, and refuses replicas.
#[test]
fn a_server_id_of_0_becomes_1() {
    let text = "[mysqld]\nserver_id=0\nlog_bin=b\n";
    let (new, open) = moved(text, "mariadb-10.11", "mysql-8.0.33");
    line(
        &new,
        "server_id = 1    # was server_id=0 in mariadb-10.11, which uses 1 instead",
    );
    assert!(open.is_empty(), "{open:?}");
    let (kept, _) = moved(text, "mysql-5.7", "mysql-8.0.33");
    line(&kept, "server_id=0");
}

/// A replica of MySQL 8.0 writes replicated changes to its binary log by default, and one of MariaDB does not.
#[test]
fn a_replica_still_logs_what_it_replicates() {
    let pin = "log_slave_updates = ON    # as in mysql-8.0.33; the default of mariadb-10.11 is OFF";
    let (new, _) = moved("[mysqld]\nserver_id=7\n", "mysql-8.0.33", "mariadb-10.11");
    line(&new, pin);
    for text in [
        "[mysqld]\nlog_replica_updates=OFF\n",
        "[mysqld]\nskip_log_bin\n",
    ] {
        let (new, _) = moved(text, "mysql-8.0.33", "mariadb-10.11");
        assert!(!new.contains("log_slave_updates = ON"), "{new}");
    }
}
