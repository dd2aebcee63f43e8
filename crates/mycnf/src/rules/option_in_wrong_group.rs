//! Rule: an option of the server is in a group that the server does not read.

use crate::rule::{Level, Remark, Rule};
use crate::subject::Subject;

pub(super) const RULE: Rule = Rule {
    id: "option-in-wrong-group",
    title: "Option in a wrong group",
    reason: "The server does not read the group; the line sets nothing, and a client with it may refuse to start.",
    source: "MySQL Reference Manual, \"Using Option Files\" and \"mysqld_safe\": it passes over unknown options \
        of its group",
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

/// Names that begin like options of the server and that clients have, too.
const SHARED: [&str; 16] = [
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
    "socket",
    "tls_ciphersuites",
    "tls_version",
    "user",
    "verbose",
];

/// What mysqld_safe itself reads and hands to the server.
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

fn check(subject: &Subject<'_>) -> Vec<Remark> {
    let mut remarks = Vec::new();
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
            SHARED.contains(&option.name)
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
                "an option of the server in [{}], which the server does not read",
                line.entry.group
            );
            remarks.push(Remark::on(line, Level::Warning, what).fix("move the line to [mysqld]"));
        }
    }
    remarks
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

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
                "character-set-server=utf8: an option of the server in [mysqld_safe]",
                "in [client]",
            ],
        );
    }
}
