//! The plugins that a file itself loads, whose options no catalogue has.

use crate::entry::Entry;
use crate::family::Product;
use crate::name::OptionName;

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

/// Plugins and components that a product ships and that stay installed from one start to the next (INSTALL PLUGIN), so
/// that a file need not load them. Percona Server also has those of MySQL.
///
/// Source: MySQL Reference Manual, "Available Server Plugins" and the pages of the plugins; MariaDB documentation, "List of
/// Plugins"; Percona Server documentation, "List of variables" and the pages of the plugins.
const SHIPPED: [(Product, &str); 34] = [
    (Product::MariaDb, "aws_key_management"),
    (Product::MariaDb, "cracklib_password_check"),
    (Product::MariaDb, "file_key_management"),
    (Product::MariaDb, "hashicorp_key_management"),
    (Product::MariaDb, "mroonga"),
    (Product::MariaDb, "query_response_time"),
    (Product::MariaDb, "rocksdb"),
    (Product::MariaDb, "server_audit"),
    (Product::MariaDb, "simple_password_check"),
    (Product::MariaDb, "spider"),
    (Product::MySql, "audit_log"),
    (Product::MySql, "authentication_ldap_sasl"),
    (Product::MySql, "authentication_ldap_simple"),
    (Product::MySql, "clone"),
    (Product::MySql, "connection_control"),
    (Product::MySql, "group_replication"),
    (Product::MySql, "keyring_encrypted_file"),
    (Product::MySql, "keyring_file"),
    (Product::MySql, "keyring_okv"),
    (Product::MySql, "mysql_firewall"),
    (Product::MySql, "rewriter"),
    (Product::MySql, "rpl_semi_sync_master"),
    (Product::MySql, "rpl_semi_sync_replica"),
    (Product::MySql, "rpl_semi_sync_slave"),
    (Product::MySql, "rpl_semi_sync_source"),
    (Product::MySql, "validate_password"),
    (Product::MySql, "version_tokens"),
    (Product::Percona, "audit_log"),
    (Product::Percona, "audit_log_filter"),
    (Product::Percona, "keyring_vault"),
    (Product::Percona, "query_response_time"),
    (Product::Percona, "rocksdb"),
    (Product::Percona, "scalability_metrics"),
    (Product::Percona, "tokudb"),
];

/// The plugin of a product that has an option of this name; a component has a dot behind its name.
pub fn shipped_plugin(product: Product, name: &OptionName) -> Option<&'static str> {
    let option = name.base().to_ascii_lowercase();
    let is_its = |plugin: &str| {
        let rest = option.strip_prefix(plugin);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['_', '.']))
    };
    let makers = [product, Product::from(product.family())];
    let of_product = SHIPPED.iter().filter(|(of, _)| makers.contains(of));
    of_product
        .map(|(_, plugin)| *plugin)
        .rfind(|plugin| is_its(plugin))
}

/// A plugin that a file loads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadedPlugin {
    /// The names that it may have: the one that the line gives it, that of its library, and that of the library's plugin.
    names: Vec<String>,
    /// The file of its library: `server_audit.so`.
    pub library: String,
}

impl LoadedPlugin {
    /// The plugins that the options load.
    pub fn of<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Vec<Self> {
        let loading = entries
            .into_iter()
            .filter(|entry| loads_plugins(&entry.name));
        let values = loading.filter_map(|entry| entry.value.as_deref());
        values.flat_map(plugins_in).collect()
    }

    /// The name by which a reader knows it.
    pub(crate) fn name(&self) -> &str {
        self.names.last().map_or("", String::as_str)
    }

    /// Whether an option is the plugin's. Its options begin with its name; the name alone says whether it is on.
    pub fn has(&self, name: &OptionName) -> bool {
        let option = name.base().to_ascii_lowercase();
        let option = option.strip_prefix("plugin_").unwrap_or(&option);
        self.names.iter().any(|plugin| {
            let rest = option.strip_prefix(plugin.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['_', '.']))
        })
    }
}

/// Whether an option loads plugins.
pub fn loads_plugins(name: &OptionName) -> bool {
    LOADING.contains(&name.base())
}

/// Whether an option loads a plugin whose library `has_library` does not know.
pub fn loads_without_library(entry: &Entry, has_library: &dyn Fn(&str) -> bool) -> bool {
    let plugins = LoadedPlugin::of([entry]);
    plugins.iter().any(|plugin| !has_library(&plugin.library))
}

/// The plugins in a value of `plugin_load`: `audit=server_audit.so;file_key_management`.
fn plugins_in(value: &str) -> impl Iterator<Item = LoadedPlugin> {
    let parts = value.split([';', ',']).map(str::trim);
    parts.filter(|part| !part.is_empty()).map(|part| {
        let (name, library) = part.split_once('=').unwrap_or(("", part));
        let library = library.trim().rsplit('/').next().unwrap_or_default();
        let stem = library.split('.').next().unwrap_or_default();
        let stem = stem.to_ascii_lowercase();
        let mut short = stem.as_str();
        for prefix in ["lib", "ha_", "auth_"] {
            short = short.strip_prefix(prefix).unwrap_or(short);
        }
        let renamed = PLUGINS_OF.iter().find(|(library, _)| *library == short);
        let known = renamed.map_or(short, |(_, plugin)| plugin).to_owned();
        let mut names = vec![name.trim().to_ascii_lowercase(), stem, known];
        names.retain(|name| !name.is_empty());
        let suffix = if library.contains('.') { "" } else { ".so" };
        LoadedPlugin {
            names,
            library: format!("{library}{suffix}"),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OptionFile;
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
            let plugins = LoadedPlugin::of(file.entries());
            let plugin = plugins
                .iter()
                .find(|plugin| plugin.has(&OptionName::new(option)));
            assert_eq!(plugin.is_some(), is_its, "{line}: {option}");
        }
        let line = "[mysqld]\nplugin-load=audit=server_audit.so;file_key_management\n";
        let file = OptionFile::parse(line, Path::new("my.cnf")).unwrap();
        let plugins = LoadedPlugin::of(file.entries());
        let libraries: Vec<&str> = plugins.iter().map(|one| one.library.as_str()).collect();
        assert_eq!(libraries, ["server_audit.so", "file_key_management.so"]);
    }
}
