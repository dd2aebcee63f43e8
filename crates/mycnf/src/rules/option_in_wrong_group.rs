//! Rule: an option of the server is in a group that the server does not read.

use crate::assignment::Assignment;
use crate::rule::{Level, Rule, RuleFinding};
use crate::subject::Subject;

pub(super) const RULE: Rule = Rule {
    id: "option-in-wrong-group",
    title: "Option in the wrong group",
    reason: "If the server does not read the group, the line has no effect. If clients also read the group, a client that does not know the option does not start.",
    source: "MySQL Reference Manual, \"Using Option Files\" and \"mysqld_safe\": mysqld_safe ignores unknown options in its group",
    check,
};

/// The groups of client programs.
const CLIENTS: [&str; 9] = [
    "client",
    "mysql",
    "mysqldump",
    "mysqladmin",
    "mysqlcheck",
    "mysqlimport",
    "client-mariadb",
    "mariadb-client",
    "mariadb-dump",
];

/// Names that look like server options and that clients also have.
const SHARED: [&str; 17] = [
    "character_sets_dir",
    "default_auth",
    "default_authentication_plugin",
    "default_character_set",
    "init_command",
    "local_infile",
    "max_allowed_packet",
    "net_buffer_length",
    "plugin_dir",
    "port",
    "protocol_compression_algorithms",
    "secure_auth",
    "socket",
    "tls_ciphersuites",
    "tls_version",
    "user",
    "verbose",
];

/// Names that only some clients have, with the groups of these clients. Every client reads `[client]`, and most of them
/// do not start with such an option there.
///
/// Source: MySQL Reference Manual, the options of mysql, mysqladmin, mysqlcheck, mysqldump and mysqlimport; MariaDB
/// documentation, the options of mariadb-dump.
const OF_SOME: [(&str, &[&str]); 5] = [
    (
        "bind_address",
        &[
            "mysql",
            "mysqladmin",
            "mysqlcheck",
            "mysqldump",
            "mysqlimport",
        ],
    ),
    (
        "connect_timeout",
        &["mysql", "mariadb-client", "mysqladmin"],
    ),
    ("log_error", &["mysqldump", "mariadb-dump"]),
    ("max_join_size", &["mysql", "mariadb-client"]),
    ("max_statement_time", &["mysqldump", "mariadb-dump"]),
];

/// Options that mysqld_safe itself reads and passes on to the server.
const OF_SAFE: [&str; 9] = [
    "basedir",
    "datadir",
    "log_error",
    "open_files_limit",
    "pid_file",
    "plugin_dir",
    "port",
    "socket",
    "user",
];

/// The group of MariaDB that its server and all of its clients read.
const OF_ALL: &str = "client-server";

/// Options that the server and every client program of MariaDB know, in addition to names that begin with `ssl`.
/// Source: `--help` of the server and of mariadb, -admin, -binlog, -check, -dump, -import, -show and -slap, 10.11.
const OF_ALL_PROGRAMS: [&str; 8] = [
    "character_sets_dir",
    "help",
    "plugin_dir",
    "port",
    "socket",
    "tls_version",
    "user",
    "verbose",
];

/// True for an option in `[client-server]` with which clients do not start. They ignore unknown options with `loose-`.
fn ends_clients(subject: &Subject<'_>, line: &Assignment<'_>) -> bool {
    let name = &line.entry.name;
    let is_known = line.option.is_some();
    subject.is_mariadb()
        && line.entry.group.eq_ignore_ascii_case(OF_ALL)
        && is_known
        && !name.is_loose()
        && !OF_ALL_PROGRAMS.contains(&name.base())
        && !name.base().starts_with("ssl")
}

fn check(subject: &Subject<'_>) -> Vec<RuleFinding> {
    let shared = subject.read().filter(|line| ends_clients(subject, line));
    let mut remarks: Vec<RuleFinding> = shared
        .map(|line| {
            let what = "clients also read [client-server], and a client that does not know this option does not start (error: unknown variable)";
            RuleFinding::on(line, Level::Risk, what).fix("move the line to [mysqld]")
        })
        .collect();
    for line in subject.assignments.iter().filter(|line| !line.is_read) {
        let group = line.entry.group.to_ascii_lowercase();
        let Some(option) = line.option else { continue };
        let is_safe = matches!(
            group.as_str(),
            "mysqld_safe" | "safe_mysqld" | "mariadbd-safe" | "mariadb_safe"
        );
        let is_client = CLIENTS.contains(&group.as_str());
        let is_theirs = if is_safe {
            OF_SAFE.contains(&option.name)
        } else {
            let is_of_program = |(name, groups): &(&str, &[&str])| {
                *name == option.name && groups.contains(&group.as_str())
            };
            SHARED.contains(&option.name)
                || OF_SOME.iter().any(is_of_program)
                || [
                    "ssl",
                    "compress",
                    "password",
                    "help",
                    "skip_ssl",
                    "comments",
                    "general_log",
                    "host",
                ]
                .iter()
                .any(|begin| option.name.starts_with(begin))
        };
        // Short names belong to many programs.
        let is_servers = option.name.contains('_');
        if (is_safe || is_client) && !is_theirs && is_servers {
            let what = format!(
                "this is a server option, but the server does not read [{}]",
                line.entry.group
            );
            remarks
                .push(RuleFinding::on(line, Level::Warning, what).fix("move the line to [mysqld]"));
        }
    }
    remarks
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn no_client_starts_with_an_option_of_the_server() {
        let file = "[client-server]\nport=3306\nsocket=/run/my.sock\nssl-ca=ca.pem\nmax_connections=500\n\
                    loose-max_connections=500\nskip-name-resolve\nmax_allowed_packet=64M\nno_such_option=1\n";
        assert_found(
            &RULE,
            "mariadb-10.11",
            file,
            &[
                "risk: max_connections=500: clients also read [client-server]",
                "risk: skip-name-resolve: ",
                "risk: max_allowed_packet=64M: ",
            ],
        );
        // Nothing of MySQL reads the group.
        assert_found(&RULE, "mysql-8.0.33", file, &[]);
    }

    #[test]
    fn the_servers_options_belong_to_its_groups() {
        // As Red Hat shipped it, with a line that a reader of document 000 added.
        let file = "[mysqld]\ncharacter-set-server=utf8\n[mysqld_safe]\nlog-error=/var/log/mysqld.log\n\
                    character-set-server=utf8\n[mysql]\ndefault-character-set=utf8\n[client]\nport=3306\nuser=x\n\
                    innodb_buffer_pool_size=1G\n";
        assert_found(
            &RULE,
            "mysql-5.5",
            file,
            &[
                "character-set-server=utf8: this is a server option, but the server does not read [mysqld_safe]",
                "the server does not read [client]",
            ],
        );
        let clients = "[client]\nsecure_auth=0\n[mysql]\nconnect_timeout=2\nmax_join_size=1M\n\
                       [mysqldump]\nlog-error=/tmp/dump.log\nmax_allowed_packet=1G\n";
        assert_found(&RULE, "mysql-5.6", clients, &[]);
        let others = "[mysql]\nlog-error=/tmp/mysql.log\n[client]\nlog_error=/tmp/client.log\nmax_join_size=1M\n\
                      connect_timeout=2\n[mysqladmin]\nmax_join_size=1M\n";
        assert_found(
            &RULE,
            "mysql-5.6",
            others,
            &[
                "does not read [mysql]",
                "warning: log_error=/tmp/client.log: ",
                "warning: max_join_size=1M: ",
                "warning: connect_timeout=2: ",
                "does not read [mysqladmin]",
            ],
        );
        let limit = "[client]\nmax_statement_time=5\n";
        assert_found(&RULE, "mariadb-10.11", limit, &["does not read [client]"]);
    }
}
