//! The plugins that a file itself loads, whose options no catalogue has.

use crate::assignment::Assignment;
use crate::name::OptionName;
use crate::subject::Subject;

/// The options that load plugins.
const LOADING: [&str; 3] = ["plugin_load", "plugin_load_add", "early_plugin_load"];

/// Libraries whose plugins have other names than the library, `ha_`, `auth_` and `lib` left out.
/// Source: the plugins' own declarations, MySQL 8.0 and MariaDB 10.11.
const PLUGINS_OF: [(&str, &str); 8] = [
    ("firewall", "mysql_firewall"),
    ("memcached", "daemon_memcached"),
    ("mysql_clone", "clone"),
    ("pluginmecab", "mecab"),
    ("semisync_master", "rpl_semi_sync_master"),
    ("semisync_replica", "rpl_semi_sync_replica"),
    ("semisync_slave", "rpl_semi_sync_slave"),
    ("semisync_source", "rpl_semi_sync_source"),
];

/// The lines that load plugins.
pub(crate) fn plugin_lines<'a, 's>(
    subject: &'s Subject<'a>,
) -> impl Iterator<Item = &'s Assignment<'a>> {
    let loads = |line: &&Assignment<'_>| LOADING.contains(&line.entry.name.base());
    subject.read().filter(loads)
}

/// The plugin to which an option belongs, of those that the file loads. The options of a plugin begin with its name; the
/// name alone says whether it is on.
pub(crate) fn plugin_of<'s>(subject: &'s Subject<'_>, name: &OptionName) -> Option<&'s str> {
    let option = name.base().to_ascii_lowercase();
    let option = option.strip_prefix("plugin_").unwrap_or(&option);
    let is_its = |plugin: &str| {
        let rest = option.strip_prefix(plugin);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['_', '.']))
    };
    let mut plugins = subject.plugins.iter();
    plugins.find(|plugin| is_its(plugin)).map(String::as_str)
}

/// The names of the plugins that a value of `plugin_load` loads: `audit=server_audit.so;file_key_management`.
pub(crate) fn names_in(value: &str) -> Vec<String> {
    let mut names = Vec::new();
    for one in value.split([';', ',']).map(str::trim) {
        let (name, library) = one.split_once('=').unwrap_or(("", one));
        let library = library.trim().rsplit('/').next().unwrap_or_default();
        let stem = library
            .split('.')
            .next()
            .unwrap_or_default()
            .to_ascii_lowercase();
        let mut short = stem.as_str();
        for prefix in ["lib", "ha_", "auth_"] {
            short = short.strip_prefix(prefix).unwrap_or(short);
        }
        let renamed = PLUGINS_OF.iter().find(|(library, _)| *library == short);
        let known = renamed.map_or(short, |(_, plugin)| plugin);
        for name in [
            name.trim().to_ascii_lowercase(),
            stem.clone(),
            known.to_owned(),
        ] {
            if !name.is_empty() && !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Machine, OptionFile, Target};
    use std::path::Path;

    #[test]
    fn options_belong_to_the_plugins_that_the_file_loads() {
        for (line, option, is_its) in [
            (
                "plugin_load_add = server_audit",
                "server_audit_logging",
                true,
            ),
            ("plugin_load_add = server_audit", "server_audit", true),
            ("plugin_load_add = server_audit", "server_auditing", false),
            (
                "plugin-load-add=server_audit.so",
                "SERVER_AUDIT_EVENTS",
                true,
            ),
            (
                "plugin-load=audit=audit_log.so;pam=auth_pam.so",
                "audit_log_format",
                true,
            ),
            (
                "plugin-load=a=audit_log.so;pam=auth_pam.so",
                "pam_use_cleartext_plugin",
                true,
            ),
            (
                "early-plugin-load=keyring_file.so",
                "keyring_file_data",
                true,
            ),
            (
                "plugin_load_add=semisync_master.so",
                "rpl_semi_sync_master_enabled",
                true,
            ),
            ("plugin_load=ha_rocksdb", "skip-rocksdb", true),
            ("plugin_load=ha_rocksdb", "rocksdb_block_cache_size", true),
            ("plugin_load=mysql_clone.so", "clone_max_concurrency", true),
            (
                "loose-plugin_load_add=simple_password_check",
                "plugin-simple-password-check",
                true,
            ),
            ("max_connections=5", "server_audit_logging", false),
        ] {
            let text = format!("[mysqld]\n{line}\n");
            let file = OptionFile::parse(&text, Path::new("my.cnf")).unwrap();
            let (target, machine) = (Target::parse("mariadb-10.11").unwrap(), Machine::default());
            let subject = Subject::new(&file, &target, &machine);
            let plugin = plugin_of(&subject, &OptionName::new(option));
            assert_eq!(plugin.is_some(), is_its, "{line}: {option}");
        }
    }
}
