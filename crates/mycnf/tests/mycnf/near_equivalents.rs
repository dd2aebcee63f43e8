//! What a move writes or leaves to the user where the new version has another option for nearly the same.

use std::path::Path;

use mycnf::{Machine, OptionFile, Target, lint};

use crate::migrations::{line, moved};

/// On MySQL 8.0.33, this file sets `read_only`, too; a replica that accepts writes diverges from its source.
#[test]
fn a_replica_stays_read_only() {
    let replica = "[mysqld]\nsuper_read_only=ON\nserver_id=2\n";
    for (to, privilege) in [
        ("mariadb-10.11", "READ ONLY ADMIN"),
        ("mariadb-10.6", "READ ONLY ADMIN or SUPER"),
        ("mariadb-10.2", "SUPER"),
        ("mysql-5.6", "SUPER"),
    ] {
        let (new, open) = moved(replica, "mysql-8.0.33", to);
        line(
            &new,
            "read_only = ON    # was super_read_only=ON in mysql-8.0.33, where super_read_only turns read_only on",
        );
        let expected = format!(
            "super_read_only=ON: {to} has only read_only, beside which accounts with {privilege} can write; check which \
             accounts have this privilege"
        );
        assert_eq!(open, [expected], "{new}");
    }
    let both = "[mysqld]\nread_only=1\nsuper_read_only=1\n";
    let (new, open) = moved(both, "mysql-8.0.33", "mariadb-10.11");
    line(&new, "read_only=1");
    line(&new, "# super_read_only=1    # left out: ");
    assert_eq!(open.len(), 1, "{open:?}");
    // The line that turns it off has no effect in MySQL, and would have one in MariaDB.
    let contradiction = "[mysqld]\nsuper_read_only=1\nread_only=0\n";
    let (new, open) = moved(contradiction, "mysql-8.0.33", "mariadb-10.11");
    line(&new, "read_only = ON    # was read_only=0 in mysql-8.0.33");
    line(&new, "# super_read_only=1    # left out: ");
    assert_eq!(open.len(), 1, "{open:?}");
    let off = "[mysqld]\nsuper_read_only=OFF\n";
    let (_, open) = moved(off, "mysql-8.0.33", "mariadb-10.11");
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn lint_replaces_super_read_only() {
    let file = OptionFile::parse("[mysqld]\nsuper_read_only=ON\n", Path::new("my.cnf")).unwrap();
    let found = lint(
        &file,
        &Target::parse("mariadb-10.11").unwrap(),
        &Machine::default(),
    );
    let mut all = found.advice.iter().map(|advice| &advice.remark);
    let remark = all.find(|remark| remark.option == "super_read_only=ON");
    let fix = remark.and_then(|remark| remark.fix.as_ref().map(ToString::to_string));
    assert_eq!(
        fix.as_deref(),
        Some(
            "write read_only (accounts with READ ONLY ADMIN, before MariaDB 10.11 also those with SUPER, can still write)"
        )
    );
}

#[test]
fn a_near_equivalent_is_to_decide() {
    let (mysql, mariadb) = ("mysql-8.0.33", "mariadb-10.11");
    for (line, from, to, expected) in [
        (
            "offline_mode=ON",
            mysql,
            mariadb,
            "left out, although it controls who can write or connect: mariadb-10.11 has no such option",
        ),
        // The default of MariaDB, and none of MySQL.
        (
            "unix_socket=ON",
            mariadb,
            mysql,
            "left out, although it controls access: mysql-8.0.33 has no such option; in MySQL, accounts that log in as the \
             user of the operating system need the plugin auth_socket",
        ),
        (
            "innodb_force_primary_key=ON",
            mariadb,
            mysql,
            "left out: mysql-8.0.33 has no such option; sql_require_primary_key = ON refuses tables without a primary key",
        ),
        (
            "slave_run_triggers_for_rbr=YES",
            mariadb,
            mysql,
            "left out: mysql-8.0.33 has no such option; without it, a replica does not run triggers for changes in the row \
             format",
        ),
        (
            "wsrep_replicate_myisam=ON",
            "mariadb-10.6",
            "mariadb-11.4",
            "left out: mariadb-11.4 has no such option; wsrep_mode = REPLICATE_MYISAM replaces it",
        ),
        (
            "max_binlog_files=10",
            "percona-5.7",
            "percona-8.0",
            "left out: percona-8.0 has no such option; binlog_space_limit limits the size of all binary logs, in bytes",
        ),
    ] {
        let (new, open) = moved(&format!("[mysqld]\n{line}\n"), from, to);
        assert_eq!(open, [format!("{line}: {expected}")], "{new}");
    }
    for (text, from, to) in [
        ("unix_socket=OFF", mariadb, mysql),
        ("wsrep_replicate_myisam=OFF", "mariadb-10.6", "mariadb-11.4"),
    ] {
        let (_, open) = moved(&format!("[mysqld]\n{text}\n"), from, to);
        assert!(open.is_empty(), "{text}: {open:?}");
    }
    let (new, _) = moved("[mysqld]\ninit_replica='SET @a=1'\n", mysql, mariadb);
    line(&new, "init_slave = ");
}
