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
             plugin_load_add = semisync_{side}.so and rpl_semi_sync_{side}_enabled = ON; also keep these \
             options, with the prefix rpl_semi_sync_{side}_: rpl_semi_sync_master_timeout=500"
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
             in MySQL 8.0, default_table_encryption = ON encrypts new tables (needs a keyring)",
        ),
        (
            "encrypt_binlog=1",
            mariadb,
            mysql,
            "encrypt_binlog=1: left out, although it protects data: mysql-8.0.33 has no such option; \
             in MySQL 8.0, binlog_encryption = ON encrypts binary logs (needs a keyring)",
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
             such option; innodb_force_primary_key = ON refuses InnoDB tables without a primary key",
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
            "cte_max_recursion_depth=5000",
            mysql,
            mariadb,
            "cte_max_recursion_depth=5000: left out, although it changes the results of statements: mariadb-10.11 has no \
             such option; max_recursive_iterations limits the iterations of a recursive query",
        ),
        (
            "innodb_redo_log_encrypt=ON",
            mysql,
            mariadb,
            "innodb_redo_log_encrypt=ON: left out, although it protects data: mariadb-10.11 has no such option; \
             innodb_encrypt_log = ON encrypts the redo log (needs a key management plugin)",
        ),
        (
            "activate_all_roles_on_login=ON",
            mysql,
            mariadb,
            "activate_all_roles_on_login=ON: left out, although it controls access: mariadb-10.11 has no such option; \
             SET DEFAULT ROLE chooses the role that an account has at login",
        ),
        (
            "partial_revokes=ON",
            mysql,
            mariadb,
            "partial_revokes=ON: left out, although it controls access: mariadb-10.11 has no such option",
        ),
        (
            "authentication_policy=caching_sha2_password,,",
            mysql,
            mariadb,
            "authentication_policy=caching_sha2_password,,: left out, although it controls access: mariadb-10.11 has no \
             such option",
        ),
        (
            "password_history=5",
            mysql,
            mariadb,
            "password_history=5: left out, although it controls access: mariadb-10.11 has no such option; in \
             MariaDB 10.7 and later, the plugin password_reuse_check refuses passwords that were used before",
        ),
        (
            "max_password_errors=5",
            mariadb,
            mysql,
            "max_password_errors=5: left out, although it controls access: mysql-8.0.33 has no such option; \
             FAILED_LOGIN_ATTEMPTS of CREATE USER limits the failed logins of an account from MySQL 8.0.19 on",
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
    let abbreviated = text.replace("sql_mode", "sql_mod");
    let (_, open) = moved(&abbreviated, "mariadb-10.11", "mysql-8.0.33");
    assert_eq!(open.len(), 1, "{open:?}");
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

/// A library of MySQL is none of MariaDB: its options are judged as those of a server without the plugin.
#[test]
fn plugins_of_mysql_do_not_move_to_mariadb() {
    let text = "[mysqld]\nserver_id=2\nlog_bin=b\nplugin-load-add=semisync_source.so\n\
                rpl_semi_sync_source_enabled=ON\nrpl_semi_sync_source_timeout=2000\n";
    let (new, open) = moved(text, "mysql-8.0.33", "mariadb-11.4");
    assert!(open.is_empty(), "{open:?}");
    for begin in [
        "# plugin-load-add=semisync_source.so    # left out: semi-synchronous replication is part of MariaDB",
        "rpl_semi_sync_master_enabled = ON    # was",
        "rpl_semi_sync_master_timeout = 2000    # was",
        "rpl_semi_sync_master_wait_point = AFTER_SYNC    # as in",
    ] {
        line(&new, begin);
    }
    let text = "[mysqld]\nplugin-load=validate_password.so;semisync_master.so\nvalidate_password_policy=LOW\n";
    let (new, open) = moved(text, "mysql-5.7", "mariadb-10.11");
    line(&new, "# validate_password_policy=LOW    # left out: ");
    assert_eq!(
        open,
        [
            "plugin-load=validate_password.so;semisync_master.so: left out with its options: mariadb-10.11 does not ship \
             validate_password.so and semisync_master.so",
        ]
    );
}

/// A line that is left out with its plugin is said once.
#[test]
fn a_plugin_line_that_is_left_out_is_not_to_decide() {
    let text = "[mysqld]\nearly-plugin-load=keyring_file.so\nkeyring_file_data=/k\n";
    let (new, open) = moved(text, "mysql-5.7", "mariadb-10.11");
    line(&new, "# early-plugin-load=keyring_file.so    # left out");
    assert_eq!(open.len(), 1, "{open:?}");
    assert!(open[0].starts_with("keyring_file_data=/k: "), "{open:?}");
}

/// TLS that is off stays off, and TLS that is on does not end with its protocols.
#[test]
fn tls_stays_as_it_is() {
    for (text, from, to, begin) in [
        (
            "ssl=0",
            "mysql-8.0.36",
            "mysql-8.4",
            "tls_version = \"\"    # was ssl=0",
        ),
        (
            "skip_ssl",
            "mysql-8.0.36",
            "mysql-9.7",
            "tls_version = \"\"    # was skip_ssl",
        ),
        ("ssl", "mysql-8.0.36", "mysql-8.4", "# ssl    # left out"),
        (
            "tls_version=TLSv1.1,TLSv1.2",
            "mysql-5.7",
            "mysql-8.4",
            "tls_version = TLSv1.2    # was",
        ),
    ] {
        let (new, open) = moved(&format!("[mysqld]\n{text}\n"), from, to);
        line(&new, begin);
        assert!(open.is_empty(), "{open:?}");
    }
    let text = "[mysqld]\nssl=0\ntls_version=TLSv1.2\n";
    let (_, open) = moved(text, "mysql-8.0.36", "mysql-8.4");
    assert_eq!(
        open,
        [
            "ssl=0: left out, although it controls access: mysql-8.4 has no such option; an empty tls_version turns TLS off"
        ]
    );
    let text = "[mysqld]\nrequire_secure_transport=ON\ntls_version=TLSv1,TLSv1.1\n";
    let (new, open) = moved(text, "mysql-5.7", "mysql-8.4");
    line(&new, "tls_version=TLSv1,TLSv1.1");
    assert_eq!(open.len(), 1, "{open:?}");
    assert!(
        open[0].starts_with("tls_version=TLSv1,TLSv1.1: this version has none of these protocols"),
        "{open:?}"
    );
}

/// From 11.5 on, the default collation of each Unicode character set is another one, whatever `collation_server` is.
#[test]
fn character_sets_keep_their_collations() {
    let pin = "character_set_collations = \"\"    # as in";
    let text = "[mysqld]\ncharacter_set_server=utf8mb4\n";
    for from in ["mariadb-10.6", "mariadb-11.4", "mysql-5.7"] {
        line(&moved(text, from, "mariadb-11.8").0, pin);
    }
    for (text, from, to) in [
        (text, "mariadb-10.6", "mariadb-11.4"),
        (text, "mysql-8.0.33", "mariadb-11.8"),
        (
            "[mysqld]\ncharacter_set_collations=utf8mb4=uca1400_ai_ci\n",
            "mariadb-11.4",
            "mariadb-11.8",
        ),
    ] {
        let (new, _) = moved(text, from, to);
        assert!(!new.contains(pin), "{new}");
    }
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
