//! What a move does with plugins that only the old product ships: the new server refuses their options.

use crate::migrations::{line, moved};

#[test]
fn options_of_a_foreign_plugin_do_not_stay_active() {
    let text = "[mysqld]\nplugin_load_add=server_audit\nserver_audit_logging=ON\nloose-server_audit_events=QUERY\n";
    let (new, open) = moved(text, "mariadb-10.11", "mysql-8.0.33");
    for begin in [
        "# plugin_load_add=server_audit    # left out: mysql-8.0.33 may not have this plugin",
        "# server_audit_logging=ON    # left out: an option of a plugin that is left out",
        // A server ignores this one.
        "loose-server_audit_events=QUERY",
    ] {
        line(&new, begin);
    }
    assert_eq!(
        open,
        [
            "plugin_load_add=server_audit: left out with its options: mysql-8.0.33 may not have this plugin"
        ]
    );
}

/// INSTALL PLUGIN loads one without a line.
#[test]
fn options_of_an_installed_plugin_do_not_stay_active() {
    for (text, from, to, versions) in [
        (
            "server_audit_logging=ON",
            "mariadb-10.11",
            "mysql-8.0.33",
            "server_audit (MariaDB 5.5 and later)",
        ),
        (
            "group_replication_group_name=x",
            "mysql-8.0.33",
            "mariadb-10.11",
            "group_replication (MySQL 5.7.17 and later)",
        ),
    ] {
        let (new, open) = moved(&format!("[mysqld]\n{text}\n"), from, to);
        let left = format!("an option of the plugin {versions}, which {to} does not ship");
        line(&new, &format!("# {text}    # left out: {left}"));
        assert_eq!(open, [format!("{text}: left out: {left}")]);
    }
}

/// Both products ship it.
#[test]
fn a_plugin_of_both_products_stays() {
    let text = "[mysqld]\nplugin_load_add=semisync_master.so\nrpl_semi_sync_master_enabled=ON\n";
    let (new, open) = moved(text, "mariadb-10.2", "mysql-5.7");
    line(&new, "plugin_load_add=semisync_master.so");
    line(&new, "rpl_semi_sync_master_enabled=ON");
    assert_eq!(
        open,
        ["plugin_load_add=semisync_master.so: check whether mysql-5.7 also has this plugin"]
    );
}
