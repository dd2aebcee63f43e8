//! What a moved file keeps: switches that are off, durability, lists, and options of clients.

use std::path::Path;

use mycnf::{Move, OptionFile, Target, migrate, rewritten_text};

/// The moved text, and what is left to decide: `option: what`.
fn moved(text: &str, from: &str, to: &str) -> (String, Vec<String>) {
    let path = Path::new("my.cnf");
    let file = OptionFile::parse(text, path).unwrap();
    let (from, to) = (Target::parse(from).unwrap(), Target::parse(to).unwrap());
    let migration = migrate(&file, path, text.as_bytes(), &from, &to);
    let open = migration.moves.iter().filter_map(|one| match one {
        Move::Open { option, what, .. } => Some(format!("{option}: {what}")),
        _ => None,
    });
    let open = open.collect();
    let text = rewritten_text(text.as_bytes(), &migration.edits);
    (String::from_utf8(text).unwrap(), open)
}

/// The line of a text that begins so.
#[track_caller]
fn line<'a>(text: &'a str, begin: &str) -> &'a str {
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
            "thread_handling=pool-of-threads: the value is none of the allowed words; \
             allowed: one-thread-per-connection, no-threads, loaded-dynamically",
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
