//! What a moved file keeps: switches that are off, durability, lists, and options of clients.

use std::path::Path;

use mycnf::{Move, OptionFile, Target, migrate, rewritten_text};

/// The moved text, and what is left to decide about its lines: `option: what`.
pub(crate) fn moved(text: &str, from: &str, to: &str) -> (String, Vec<String>) {
    let path = Path::new("my.cnf");
    let file = OptionFile::parse(text, path).unwrap();
    let (from, to) = (Target::parse(from).unwrap(), Target::parse(to).unwrap());
    let migration = migrate(&file, path, text.as_bytes(), &from, &to, &[]);
    let open = migration.moves.iter().filter_map(|one| match one {
        Move::Open {
            at: Some(_),
            option,
            what,
        } => Some(format!("{option}: {what}")),
        _ => None,
    });
    let open = open.collect();
    let text = rewritten_text(text.as_bytes(), &migration.edits);
    (String::from_utf8(text).unwrap(), open)
}

/// The line of a text that begins so.
#[track_caller]
pub(crate) fn line<'a>(text: &'a str, begin: &str) -> &'a str {
    let line = text.lines().find(|line| line.starts_with(begin));
    line.unwrap_or_else(|| panic!("no line {begin}\n{text}"))
}

#[test]
fn a_switch_that_is_off_stays_off() {
    let text = "[mysqld]\nskip-log-slave-updates\nskip-host-cache\n";
    let (text, open) = moved(text, "mysql-5.7", "mysql-9.7");
    line(
        &text,
        "log_replica_updates = 0    # was skip-log-slave-updates in mysql-5.7",
    );
    line(
        &text,
        "host_cache_size = 0    # was skip-host-cache in mysql-5.7",
    );
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn characters_of_four_bytes_stay_possible() {
    let text = "[mysqld]\nold_mode=\ncharacter_set_server=utf8\n";
    let (mysql, _) = moved(text, "mariadb-10.11", "mysql-8.0.33");
    line(
        &mysql,
        "character_set_server = utf8mb4    # was character_set_server=utf8 in mariadb-10.11, where utf8 is utf8mb4",
    );
    let (kept, _) = moved(text, "mariadb-10.11", "mariadb-11.4");
    line(&kept, "character_set_server=utf8");
}

#[test]
fn a_flush_at_each_commit_stays_one() {
    let text = "[mysqld]\ninnodb_flush_log_at_trx_commit=3\n";
    let (mysql, open) = moved(text, "mariadb-10.11", "mysql-8.0.33");
    line(
        &mysql,
        "innodb_flush_log_at_trx_commit = 1    # was innodb_flush_log_at_trx_commit=3",
    );
    assert!(open.is_empty(), "{open:?}");
    let (mariadb, open) = moved(text, "mariadb-10.5", "mariadb-11.4");
    line(&mariadb, "innodb_flush_log_at_trx_commit=3");
    assert!(open.is_empty(), "{open:?}");
    let lower = "[mysqld]\ninnodb_flush_log_at_trx_commit=2\n";
    let (lower, _) = moved(lower, "mariadb-10.11", "mysql-8.0.33");
    line(&lower, "innodb_flush_log_at_trx_commit=2");
}

/// MySQL 8 writes a binary log by default and flushes it, and MariaDB does neither.
#[test]
fn a_binary_log_that_was_on_by_default_stays_on() {
    let text = "[mysqld]\nserver_id=5\n";
    let (mariadb, _) = moved(text, "mysql-8.0.33", "mariadb-10.11");
    line(&mariadb, "log_bin = binlog    # as in mysql-8.0.33");
    line(&mariadb, "sync_binlog = 1    # as in mysql-8.0.33");
    line(&mariadb, "binlog_format = ROW    # as in mysql-8.0.33");
    let (older, _) = moved("[mysqld]\nport=3307\n", "mysql-8.0.33", "mysql-5.7");
    line(&older, "log_bin = binlog    # as in mysql-8.0.33");
    line(
        &older,
        "server_id = 1    # with a binary log, mysql-5.7 does not start",
    );
    for file in ["skip-log-bin", "disable_log_bin", "disable-log-bin=1"] {
        let text = format!("[mysqld]\n{file}\n");
        let (off, _) = moved(&text, "mysql-8.0.33", "mariadb-10.11");
        for pin in ["log_bin = ", "sync_binlog", "binlog_format"] {
            assert!(off.lines().all(|line| !line.starts_with(pin)), "{off}");
        }
    }
}

/// Which of two lines counts is a matter of the old version.
#[test]
fn binary_logs_are_kept_as_long_as_before() {
    let seconds_first = "[mysqld]\nbinlog_expire_logs_seconds=86400\nexpire_logs_days=7\n";
    let days_first = "[mysqld]\nexpire_logs_days=7\nbinlog_expire_logs_seconds=86400\n";
    let by_default = "[mysqld]\nlog_bin=x\n";
    let no_purge =
        "[mysqld]\nbinlog_expire_logs_auto_purge=OFF\nbinlog_expire_logs_seconds=86400\n";
    let zero = "[mysqld]\nbinlog_expire_logs_seconds=0\nexpire_logs_days=7\n";
    let (mysql, mariadb) = ("mysql-8.0.33", "mariadb-10.11");
    for (text, from, to, expected) in [
        (
            seconds_first,
            mariadb,
            mysql,
            "binlog_expire_logs_seconds = 604800",
        ),
        (
            days_first,
            mariadb,
            mysql,
            "binlog_expire_logs_seconds=86400",
        ),
        (seconds_first, mariadb, "mariadb-11.8", "expire_logs_days=7"),
        (
            seconds_first,
            mysql,
            mariadb,
            "binlog_expire_logs_seconds=86400",
        ),
        (
            days_first,
            mysql,
            mariadb,
            "binlog_expire_logs_seconds=86400",
        ),
        (seconds_first, mysql, "mysql-5.7", "expire_logs_days = 1"),
        (zero, mysql, mariadb, "expire_logs_days=7"),
        (
            zero,
            mysql,
            "mysql-9.7",
            "binlog_expire_logs_seconds = 604800",
        ),
        (
            by_default,
            mysql,
            mariadb,
            "binlog_expire_logs_seconds = 2592000",
        ),
        (by_default, mysql, "mysql-5.7", "expire_logs_days = 30"),
        (
            by_default,
            "mysql-5.7",
            mysql,
            "binlog_expire_logs_seconds = 0",
        ),
        (by_default, mariadb, mysql, "binlog_expire_logs_seconds = 0"),
        (no_purge, mysql, mariadb, "binlog_expire_logs_seconds = 0"),
    ] {
        let (new, open) = moved(text, from, to);
        let sets: Vec<&str> = new
            .lines()
            .filter(|line| {
                line.starts_with("binlog_expire_logs") || line.starts_with("expire_logs")
            })
            .map(|line| line.split("    #").next().unwrap_or_default())
            .collect();
        assert_eq!(sets, [expected], "{from} to {to}: {text}{new}");
        assert!(open.is_empty(), "{open:?}");
    }
    let (new, _) = moved(seconds_first, mariadb, mysql);
    line(
        &new,
        "# binlog_expire_logs_seconds=86400    # left out: without effect in mariadb-10.11 beside \
         expire_logs_days=7",
    );
    let (same, _) = moved("[mysqld]\nskip_log_bin\n", mysql, mariadb);
    assert!(!same.contains("expire"), "{same}");
}

/// One instance may use a line that another one overrides.
#[test]
fn a_line_that_one_instance_uses_is_kept() {
    let text = "[mysqld_multi]\nuser=operator\n[mysqld]\nexpire_logs_days=7\n[mysqld1]\nport=3307\n\
                binlog_expire_logs_seconds=86400\n[mysqld2]\nport=3308\n";
    let (new, _) = moved(text, "mariadb-10.11", "mariadb-11.8");
    line(&new, "expire_logs_days=7");
    line(&new, "binlog_expire_logs_seconds=86400");
}

/// A pin adds an option, and never changes a line of the file.
#[test]
fn a_collation_of_another_character_set_in_the_file_is_to_decide() {
    let text = "[mysqld]\ncharacter_set_server=utf8mb4\ncollation_server=latin1_swedish_ci\n";
    let (new, open) = moved(text, "mysql-5.7", "mysql-8.0.33");
    line(
        &new,
        "# to decide: this collation does not belong to the character set utf8mb4",
    );
    assert_eq!(open.len(), 1, "{open:?}");
}

/// The new value may be out of range, too, where the old one was not.
#[test]
fn a_rewritten_value_that_the_new_version_changes_is_to_decide() {
    let text = "[mysqld]\ninnodb_log_file_size=256G\ninnodb_log_files_in_group=3\n";
    let (new, open) = moved(text, "mysql-5.7", "mysql-8.0.33");
    line(&new, "innodb_redo_log_capacity = 768G    # was");
    line(
        &new,
        "# to decide: becomes 128G; allowed: 8388608 to 137438953472",
    );
    assert!(
        open.iter().any(|one| one.contains("becomes 128G")),
        "{open:?}"
    );
}

/// MariaDB has one redo log file from 10.5 on, and ignores the number in the file.
#[test]
fn redo_log_files_that_mariadb_ignores_are_not_counted() {
    let text = "[mysqld]\ninnodb_log_file_size=2G\ninnodb_log_files_in_group=2\n";
    for (from, expected) in [
        ("mariadb-10.2", "innodb_redo_log_capacity = 4G    # was"),
        ("mariadb-10.5", "innodb_redo_log_capacity = 2G    # was"),
        ("mariadb-10.11", "innodb_redo_log_capacity = 2G    # was"),
    ] {
        let (new, _) = moved(text, from, "mysql-8.0.33");
        line(&new, expected);
    }
}

/// GROUP_CONCAT cuts its results with a warning alone.
#[test]
fn a_limit_on_results_that_shrinks_is_kept() {
    let text = "[mysqld]\nport=3307\n";
    let (new, _) = moved(text, "mariadb-10.11", "mysql-8.0.33");
    line(
        &new,
        "group_concat_max_len = 1M    # as in mariadb-10.11; the default of mysql-8.0.33 is 1K",
    );
    let (new, _) = moved(text, "mysql-8.0.33", "mariadb-10.11");
    assert!(!new.contains("group_concat_max_len"), "{new}");
}

/// Beside the capacity, the size of the files does nothing in MySQL 8.0.30 and later.
#[test]
fn the_capacity_of_the_redo_log_is_carried_over() {
    let text = "[mysqld]\ninnodb_log_file_size=512M\ninnodb_log_files_in_group=4\n\
                innodb_redo_log_capacity=256M\n";
    for (to, expected) in [
        ("mariadb-10.11", "innodb_log_file_size = 256M    # was"),
        ("mysql-5.7", "innodb_log_file_size = 128M    # was"),
        ("mysql-9.7", "innodb_redo_log_capacity=256M"),
    ] {
        let (new, open) = moved(text, "mysql-8.0.33", to);
        line(&new, expected);
        line(
            &new,
            "# innodb_log_file_size=512M    # left out: without effect in mysql-8.0.33 beside",
        );
        line(&new, "# innodb_log_files_in_group=4    # left out");
        assert!(open.is_empty(), "{open:?}");
    }
}

/// MariaDB 10.11 does not start with a collation of MySQL 8.0.
#[test]
fn a_collation_that_the_new_version_does_not_have_is_to_decide() {
    let text = "[mysqld]\ncollation_server=utf8mb4_0900_ai_ci\n";
    let (new, open) = moved(text, "mysql-8.0.33", "mariadb-10.11");
    line(
        &new,
        "# to decide: this version does not have this collation; write collation_server = ",
    );
    line(
        &new,
        "character_set_server = utf8mb4    # as in mysql-8.0.33",
    );
    assert_eq!(open.len(), 1, "{open:?}");
    let (_, open) = moved(text, "mysql-8.0.33", "mariadb-11.8");
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn a_value_that_the_new_version_changes_or_refuses_is_to_decide() {
    let text = "[mysqld]\nmax_connections=0\nslave_net_timeout=0\nthread_handling=pool-of-threads\n\
                old_passwords=1\nsort_buffer_size=1\nsort_buffer_size=2M\n";
    let (text, open) = moved(text, "mariadb-10.11", "mysql-8.0.33");
    assert_eq!(
        open,
        [
            "max_connections=0: becomes 1; allowed: 1 to 100000",
            "slave_net_timeout=0: becomes 1; allowed: 1 to 31536000",
            "thread_handling=pool-of-threads: the value is not one of the allowed words; \
             allowed: one-thread-per-connection, no-threads, loaded-dynamically",
            "old_passwords=1: accounts with password hashes from before MySQL 4.1 cannot log in: MySQL 5.7 removed \
             these hashes; before the move, set new passwords for such accounts",
        ]
    );
    line(&text, "max_connections=0");
    line(&text, "replica_net_timeout = 0");
    line(&text, "thread_handling=pool-of-threads");
    line(&text, "# old_passwords=1    # left out");
    line(&text, "# sort_buffer_size=1    # left out");
}

#[test]
fn a_list_loses_only_the_words_that_the_new_version_refuses() {
    let text = "[mysqld]\nsql_mode=STRICT_ALL_TABLES,NO_ZERO_DATE,TIME_TRUNCATE_FRACTIONAL\n\
                optimizer_switch='derived_merge=off,hypergraph_optimizer=off'\n";
    let (text, open) = moved(text, "mysql-8.0.33", "mariadb-10.11");
    line(&text, "sql_mode = STRICT_ALL_TABLES,NO_ZERO_DATE    # was");
    line(&text, "optimizer_switch = derived_merge=off    # was");
    assert!(open.is_empty(), "{open:?}");
    // Without any word left the line is the user's to decide: an empty mode would accept wrong values.
    let text = "[mysqld]\nsql_mode=TIME_TRUNCATE_FRACTIONAL\n";
    let (text, open) = moved(text, "mysql-8.0.33", "mariadb-10.11");
    line(&text, "sql_mode=TIME_TRUNCATE_FRACTIONAL");
    assert_eq!(open.len(), 1, "{open:?}");
}

/// Clients of MariaDB read `[client-server]`, too, and do not start with an option of the server there.
#[test]
fn pins_are_in_a_group_that_only_servers_read() {
    let place =
        |text: &str, part: &str| text.find(part).unwrap_or_else(|| panic!("{part}\n{text}"));
    let text = "[mysqld]\nport=3307\n[client-server]\nsocket=/run/x.sock\n[galera]\nwsrep_on=0\n";
    let (text, _) = moved(text, "mysql-5.6", "mariadb-10.11");
    assert!(place(&text, "\nsql_mode = ") < place(&text, "[client-server]"));
    let text = "[client-server]\nsocket=/run/x.sock\n";
    let (text, _) = moved(text, "mysql-5.6", "mariadb-10.11");
    assert!(place(&text, "socket") < place(&text, "\n[mysqld]\n"));
    assert!(place(&text, "\n[mysqld]\n") < place(&text, "\nsql_mode = "));
}

/// No version lists the options of plugins, or of other makers' servers.
#[test]
fn what_no_catalogue_has_is_kept() {
    let text = "[mysqld]\nplugin_load_add = server_audit\nserver_audit_logging = ON\nmy_vendors_option = 1\n\
                aria_pagecache_buffer_size = 64M\n";
    let (same, open) = moved(text, "mariadb-10.11", "mariadb-11.8");
    line(&same, "server_audit_logging = ON");
    line(&same, "my_vendors_option = 1");
    line(
        &same,
        "# to decide: unknown to this version, and not in any catalogue: kept",
    );
    assert_eq!(
        open,
        ["my_vendors_option=1: unknown to this version, and not in any catalogue: kept"]
    );
    let (again, _) = moved(&same, "mariadb-11.8", "mariadb-11.8");
    assert_eq!(again, same);
    // A library of one family is none of the other's.
    let (mysql, open) = moved(text, "mariadb-10.11", "mysql-8.0.33");
    line(&mysql, "# server_audit_logging = ON    # left out: ");
    line(&mysql, "# aria_pagecache_buffer_size = 64M    # left out");
    assert_eq!(
        open[0],
        "plugin_load_add=server_audit: left out with its options: mysql-8.0.33 may not have this plugin"
    );
}

#[test]
fn an_old_log_keeps_its_file() {
    let text = "[mysqld]\r\nlog-slow-queries = /var/log/mysql/slow.log\r\nlong_query_time = 2\r\n";
    let (text, open) = moved(text, "mysql-5.5", "mysql-8.0.33");
    assert!(
        text.contains(
            "\r\nslow_query_log = 1    # was log-slow-queries=/var/log/mysql/slow.log in mysql-5.5\r\n\
             slow_query_log_file = /var/log/mysql/slow.log\r\nlong_query_time = 2\r\n"
        ),
        "{text}"
    );
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn no_pin_overrides_what_the_file_sets_under_an_old_name() {
    let text = "[mysqld]\ndefault-character-set = utf8\ndefault-collation = utf8_unicode_ci\n";
    for to in ["mysql-8.0.33", "mysql-9.7", "mariadb-11.8"] {
        let (text, _) = moved(text, "mysql-5.5", to);
        line(&text, "character_set_server = utf8");
        line(&text, "collation_server = utf8");
        let sets = text
            .lines()
            .filter(|line| line.starts_with("character_set_server"));
        assert_eq!(sets.count(), 1, "{to}\n{text}");
    }
    // The value is that of the new version, too.
    let (text, open) = moved(text, "mysql-5.5", "mysql-9.7");
    line(&text, "character_set_server = utf8mb3    # was");
    line(&text, "collation_server = utf8mb3_unicode_ci    # was");
    assert!(open.is_empty(), "{open:?}");
}

/// The instances of mysqld_multi read `[mysqld]`, too: their own lines come last and decide.
#[test]
fn instances_are_moved_and_no_pin_overrides_them() {
    let text = "[mysqld_multi]\nuser = operator\n[mysqld1]\nport = 3307\nquery_cache_size = 8M\nsql_mode = ANSI\n\
                [mysqld2]\nport = 3308\nquery_cache_size = 8M\n";
    let (text, open) = moved(text, "mysql-5.6", "mysql-8.0.33");
    assert_eq!(
        text.matches("\n# query_cache_size = 8M    # left out")
            .count(),
        2
    );
    assert!(open.is_empty(), "{open:?}");
    let place =
        |text: &str, part: &str| text.find(part).unwrap_or_else(|| panic!("{part}\n{text}"));
    assert!(place(&text, "operator") < place(&text, "\n[mysqld]\n"));
    assert!(place(&text, "\nsql_mode = NO_ENGINE_SUBSTITUTION") < place(&text, "\n[mysqld1]"));
}

/// 9.0 removed the plugin: a policy that names it keeps the server from starting.
#[test]
fn a_plugin_that_is_gone_is_in_no_policy() {
    let text = "[mysqld]\ndefault_authentication_plugin = mysql_native_password\n";
    let (new, _) = moved(text, "mysql-8.0.33", "mysql-9.7");
    line(
        &new,
        "# default_authentication_plugin = mysql_native_password    # left out: unknown to this version, last seen in \
         8.0.33: this version has no plugin mysql_native_password, so accounts that use it cannot log in",
    );
    let (same, _) = moved(text, "mysql-5.7", "mysql-8.0.33");
    line(&same, "authentication_policy = mysql_native_password,,");
    let policy = "[mysqld]\nauthentication_policy = mysql_native_password,,\n";
    let (new, _) = moved(policy, "mysql-8.0.33", "mysql-9.7");
    line(&new, "authentication_policy = *,,    # was");
}

/// A server knows its own names, whatever the catalogue of its series says.
#[test]
fn what_the_new_server_takes_stays() {
    let path = Path::new("my.cnf");
    let text = "[mysqld]\nquery_cache_size = 8M\nquery_cache_type = 1\n";
    let file = OptionFile::parse(text, path).unwrap();
    let target = |name: &str| Target::parse(name).unwrap();
    let (from, to) = (target("mysql-5.7"), target("mysql-8.0.33"));
    let taken = [file.entries()[0].origin.clone()];
    let migration = migrate(&file, path, text.as_bytes(), &from, &to, &taken);
    let dropped = migration.moves.iter().filter_map(|one| match one {
        Move::Dropped { was, .. } => Some(was.as_str()),
        _ => None,
    });
    assert_eq!(dropped.collect::<Vec<_>>(), ["query_cache_type=1"]);
}

/// Only the version's own catalogue takes a line out.
#[test]
fn a_near_catalogue_leaves_what_it_does_not_know() {
    let text = "[mysqld]\nuserstat=ON\nno_such_option=1\nlog_slave_updates=ON\nloose_query_cache_size=0\n\
                innodb_flush_method=ALL_O_DIRECT\n";
    let (near, open) = moved(text, "percona-5.6", "percona-8.4");
    assert_eq!(
        open,
        [
            "userstat=ON: unknown to the nearest version that dbdyno knows (mysql-8.4), an option of MariaDB and Percona Server: kept",
            "no_such_option=1: unknown to the nearest version that dbdyno knows (mysql-8.4): kept",
            "innodb_flush_method=ALL_O_DIRECT: the value is not one of the allowed words (according to mysql-8.4, the nearest version that dbdyno knows): \
             kept",
        ]
    );
    for begin in ["userstat=ON", "no_such_option=1", "innodb_flush_method=ALL"] {
        line(&near, begin);
    }
    line(
        &near,
        "log_replica_updates = ON    # was log_slave_updates=ON",
    );
    let (own, open) = moved(text, "percona-5.7", "percona-8.0");
    line(&own, "userstat=ON");
    line(&own, "log_replica_updates = ON");
    assert!(
        open.iter().all(|one| !one.starts_with("userstat")),
        "{open:?}"
    );
}

/// What the old server computed for itself is neither a setting nor a default.
#[test]
fn values_that_a_server_computes_are_neither_pinned_nor_reported() {
    let path = Path::new("my.cnf");
    let text = "[mysqld]\nmax_connections=1000\nback_log=300\n";
    let file = OptionFile::parse(text, path).unwrap();
    let target = |name: &str| Target::parse(name).unwrap();
    let (from, to) = (target("mysql-5.7"), target("mysql-8.0.33"));
    let migration = migrate(&file, path, text.as_bytes(), &from, &to, &[]);
    let defaults = migration.changed_defaults.iter();
    let defaults: Vec<&str> = defaults.map(|(name, ..)| *name).collect();
    assert!(defaults.contains(&"table_open_cache"), "{defaults:?}");
    let new = rewritten_text(text.as_bytes(), &migration.edits);
    let new = String::from_utf8(new).unwrap();
    line(&new, "back_log=300");
    for name in ["innodb_open_files", "table_definition_cache"] {
        assert!(!defaults.contains(&name), "{defaults:?}");
        assert!(!new.contains(name), "{new}");
    }
}
