//! What a move says of accounts, defaults and options of plugins that the new version treats in another way.

use std::path::Path;

use mycnf::{Migration, Move, OptionFile, Target, migrate};

use crate::migrations::{line, moved};

fn migration(text: &str, from: &str, to: &str) -> Migration {
    let path = Path::new("my.cnf");
    let file = OptionFile::parse(text, path).unwrap();
    let (from, to) = (Target::parse(from).unwrap(), Target::parse(to).unwrap());
    migrate(&file, path, text.as_bytes(), &from, &to, &[])
}

/// What is left to decide, also about options that the file does not set.
fn to_decide(text: &str, from: &str, to: &str) -> Vec<String> {
    let moves = migration(text, from, to).moves.into_iter();
    let open = moves.filter_map(|one| match one {
        Move::Open { option, what, .. } => Some(format!("{option}: {what}")),
        _ => None,
    });
    open.collect()
}

/// The name, and both values.
type Change = (&'static str, &'static str, &'static str);

fn changed(text: &str, from: &str, to: &str) -> Vec<Change> {
    migration(text, from, to).changed_defaults
}

/// MySQL 9.0 has no plugin for these accounts, whatever the file sets.
#[test]
fn accounts_that_can_no_longer_log_in_are_to_decide() {
    let what = "accounts with this plugin cannot log in: MySQL 9.0 removed it; before the move, switch them to \
                caching_sha2_password";
    for (text, from, to, option) in [
        (
            "mysql_native_password=ON\n",
            "mysql-8.4",
            "mysql-9.7",
            "mysql_native_password=ON",
        ),
        (
            "server_id=3\nskip_log_bin\n",
            "mysql-8.0.33",
            "mysql-9.7",
            "mysql_native_password",
        ),
        (
            "server_id=3\n",
            "mysql-5.7",
            "mysql-9.7",
            "mysql_native_password",
        ),
        (
            "server_id=3\n",
            "percona-8.0",
            "mysql-9.7",
            "mysql_native_password",
        ),
        (
            "max_connections=100\n",
            "mariadb-10.11",
            "mysql-9.7",
            "mysql_native_password",
        ),
    ] {
        let open = to_decide(&format!("[mysqld]\n{text}"), from, to);
        let found: Vec<&String> = open.iter().filter(|one| one.contains(what)).collect();
        assert!(
            found.len() == 1 && found[0].starts_with(&format!("{option}: ")),
            "{from}: {open:?}"
        );
    }
    let text =
        "[mysqld]\nmysql_native_password=ON\nauthentication_policy=mysql_native_password,,\n";
    let (new, _) = moved(text, "mysql-8.4", "mysql-9.7");
    line(&new, "# to decide: accounts with this plugin cannot log in");
    line(
        &new,
        "# mysql_native_password=ON    # left out: unknown to this version",
    );
    // Without the option, 8.4 has no such logins either.
    for (from, to) in [
        ("mysql-8.4", "mysql-9.7"),
        ("mysql-9.7", "mysql-9.7"),
        ("mysql-5.7", "mysql-8.4"),
    ] {
        let open = to_decide("[mysqld]\nserver_id=3\nlog_bin=x\n", from, to);
        assert!(
            open.iter().all(|one| !one.contains(what)),
            "{from}: {open:?}"
        );
    }
}

/// MySQL 5.7 has no hashes from before MySQL 4.1; MariaDB and MySQL 5.6 still have them.
#[test]
fn accounts_with_old_hashes_are_to_decide() {
    for (line, from, to, is_open) in [
        ("old_passwords=1", "mysql-5.5", "mysql-5.7", true),
        ("old_passwords=ON", "mysql-5.1", "mysql-8.0.33", true),
        ("secure_auth=0", "mysql-5.6", "mysql-8.0.33", true),
        ("old_passwords=0", "mysql-5.5", "mysql-8.0.33", false),
        ("secure_auth=1", "mysql-5.5", "mysql-8.0.33", false),
        ("old_passwords=1", "mysql-5.5", "mysql-5.6", false),
        ("old_passwords=1", "mysql-5.6", "mariadb-10.11", false),
    ] {
        let open = to_decide(&format!("[mysqld]\n{line}\n"), from, to);
        let mut all = open.iter();
        let found = all.any(|one| one.contains("cannot log in: MySQL 5.7 removed these hashes"));
        assert_eq!(found, is_open, "{line} {from} {to}: {open:?}");
    }
}

#[test]
fn an_option_that_a_plugin_no_longer_has_does_not_stay() {
    let text = "[mysqld]\nplugin_load_add=group_replication.so\ngroup_replication_ip_whitelist=10.0.0.0/8\n\
                group_replication_recovery_complete_at=TRANSACTIONS_APPLIED\n";
    let (new, open) = moved(text, "mysql-8.0.36", "mysql-8.4");
    line(
        &new,
        "group_replication_ip_allowlist = 10.0.0.0/8    # was group_replication_ip_whitelist=10.0.0.0/8",
    );
    line(
        &new,
        "# group_replication_recovery_complete_at=TRANSACTIONS_APPLIED    # left out",
    );
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn a_feature_that_a_series_lost_does_not_stay() {
    let text = "[mysqld]\ninnodb_track_changed_pages=ON\ninnodb_log_file_size=4G\n";
    let (new, _) = moved(text, "percona-5.7", "percona-8.0");
    line(
        &new,
        "# innodb_track_changed_pages=ON    # left out: unknown to this version, last seen in Percona Server 5.7",
    );
    line(&new, "innodb_redo_log_capacity = 8G");
}

/// An old name is replaced in a version between two catalogues, too.
#[test]
fn a_version_between_two_catalogues_gets_the_names_that_it_has() {
    let text = "[mysqld]\nslave_parallel_workers=16\ninnodb_log_file_size=2G\n";
    let (new, open) = moved(text, "mysql-5.7", "mysql-8.0.30");
    line(
        &new,
        "replica_parallel_workers = 16    # was slave_parallel_workers=16",
    );
    line(
        &new,
        "innodb_redo_log_capacity = 4G    # was innodb_log_file_size=2G",
    );
    assert!(open.is_empty(), "{open:?}");
    let (new, open) = moved(text, "mysql-5.7", "mysql-8.0.25");
    line(&new, "slave_parallel_workers=16");
    line(&new, "innodb_log_file_size=2G");
    assert!(open.is_empty(), "{open:?}");
}

/// Also those of options without an explanation of dbdyno's.
#[test]
fn every_default_that_changes_is_reported() {
    let replica = "[mysqld]\nslave_parallel_workers=8\nserver_id=4\nlog_bin=x\n";
    let upgrade = changed(replica, "mysql-5.7", "mysql-8.0.33");
    for change in [
        ("slave_preserve_commit_order", "OFF", "ON"),
        ("max_error_count", "64", "1024"),
        ("transaction_write_set_extraction", "OFF", "XXHASH64"),
    ] {
        assert!(upgrade.contains(&change), "{change:?} {upgrade:?}");
    }
    assert!(
        upgrade.iter().all(|one| one.0 != "slave_parallel_workers"),
        "{upgrade:?}"
    );
    let upgrade = changed("[mysqld]\n", "mariadb-10.6", "mariadb-11.8");
    assert!(
        upgrade.contains(&("optimizer_prune_level", "1", "2")),
        "{upgrade:?}"
    );
    // The versions of a server and of its parts are no settings.
    assert!(
        upgrade.iter().all(|one| !one.0.contains("version")),
        "{upgrade:?}"
    );
}

/// A dump of the old version may have them.
#[test]
fn foreign_keys_on_other_keys_stay_possible() {
    let (new, _) = moved("[mysqld]\nmax_connections=5\n", "mysql-8.0.33", "mysql-8.4");
    line(
        &new,
        "restrict_fk_on_non_standard_key = OFF    # as in mysql-8.0.33",
    );
    let (new, _) = moved("[mysqld]\nmax_connections=5\n", "mysql-8.4", "mysql-9.7");
    assert!(!new.contains("restrict_fk"), "{new}");
}

/// MariaDB has two names for the number of these threads.
#[test]
fn a_default_that_a_second_name_overrides_does_not_change() {
    let text = "[mysqld]\nreplica_parallel_workers=8\n";
    let changes = changed(text, "mysql-8.0.33", "mariadb-10.11");
    assert!(
        changes
            .iter()
            .all(|one| !one.0.starts_with("slave_parallel_") || one.0.ends_with("mode")),
        "{changes:?}"
    );
}
