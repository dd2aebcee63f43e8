//! The plugins that a file itself loads, whose options no catalogue has.

use crate::entry::Entry;
use crate::family::{Family, Product};
use crate::name::OptionName;
use crate::target::Target;

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

/// A plugin or a component that a product ships and that stays installed from one start to the next (INSTALL PLUGIN), so
/// that a file need not load it.
#[derive(Debug, PartialEq, Eq)]
pub struct ShippedPlugin {
    product: Product,
    /// What its options begin with: the name of a plugin, or that of a component with a dot behind it.
    name: &'static str,
    /// The first version that ships it.
    first: &'static [u32],
    /// The first version that no longer ships it, or that has its options without a plugin.
    end: Option<&'static [u32]>,
}

const fn since(product: Product, name: &'static str, first: &'static [u32]) -> ShippedPlugin {
    ShippedPlugin {
        product,
        name,
        first,
        end: None,
    }
}

/// What each product ships. Percona Server also has the plugins of MySQL. What came within a series whose catalogue is of
/// an older version counts for the whole series: `mysql-5.6` means the newest one.
///
/// Source: MySQL Reference Manual, "Available Server Plugins" and the pages of the plugins, with the release notes of the
/// versions; MariaDB documentation, "List of Plugins"; Percona Server documentation, "List of variables" and the pages of
/// the plugins.
static SHIPPED: [ShippedPlugin; 46] = [
    since(Product::MariaDb, "aws_key_management", &[10, 1]),
    since(Product::MariaDb, "connect", &[10, 0]),
    since(Product::MariaDb, "cracklib_password_check", &[10, 1, 2]),
    since(Product::MariaDb, "file_key_management", &[10, 1, 3]),
    since(Product::MariaDb, "gssapi", &[10, 1, 11]),
    since(Product::MariaDb, "hashicorp_key_management", &[10, 9]),
    since(Product::MariaDb, "mroonga", &[10, 0]),
    since(Product::MariaDb, "pam", &[5, 5]),
    since(Product::MariaDb, "password_reuse_check", &[10, 7]),
    since(Product::MariaDb, "query_response_time", &[10, 0]),
    since(Product::MariaDb, "rocksdb", &[10, 2]),
    since(Product::MariaDb, "rpl_semi_sync_master", &[5, 5]).until(&[10, 3, 3]),
    since(Product::MariaDb, "rpl_semi_sync_slave", &[5, 5]).until(&[10, 3, 3]),
    since(Product::MariaDb, "s3", &[10, 5]),
    since(Product::MariaDb, "server_audit", &[5, 5]),
    since(Product::MariaDb, "simple_password_check", &[10, 1, 2]),
    since(Product::MariaDb, "spider", &[10, 0]),
    since(Product::MariaDb, "tokudb", &[5, 5]).until(&[10, 6]),
    since(Product::MySql, "audit_log", &[5, 5]),
    since(Product::MySql, "authentication_ldap_sasl", &[5, 7, 19]),
    since(Product::MySql, "authentication_ldap_simple", &[5, 7, 19]),
    since(Product::MySql, "clone", &[8, 0, 17]),
    since(Product::MySql, "connection_control", &[5, 6]),
    since(Product::MySql, "dragnet.", &[8]),
    since(Product::MySql, "group_replication", &[5, 7, 17]),
    since(Product::MySql, "keyring_encrypted_file", &[5, 7, 21]).until(&[8, 4]),
    since(Product::MySql, "keyring_file", &[5, 7, 11]).until(&[8, 4]),
    since(Product::MySql, "keyring_okv", &[5, 7, 12]),
    since(Product::MySql, "mysql_firewall", &[5, 6]),
    since(Product::MySql, "mysqlx", &[5, 7, 12]).until(&[8]),
    since(Product::MySql, "rewriter", &[5, 7, 6]),
    since(Product::MySql, "rpl_semi_sync_master", &[5, 5]).until(&[9, 5]),
    since(Product::MySql, "rpl_semi_sync_replica", &[8, 0, 26]),
    since(Product::MySql, "rpl_semi_sync_slave", &[5, 5]).until(&[9, 5]),
    since(Product::MySql, "rpl_semi_sync_source", &[8, 0, 26]),
    since(Product::MySql, "validate_password", &[5, 6]),
    since(Product::MySql, "validate_password.", &[8]),
    since(Product::MySql, "version_tokens", &[5, 7, 8]),
    since(Product::Percona, "audit_log", &[5, 5]),
    since(Product::Percona, "audit_log_filter", &[8]),
    since(Product::Percona, "audit_log_filter.", &[8]),
    since(Product::Percona, "keyring_vault", &[5, 7]),
    since(Product::Percona, "query_response_time", &[5, 6]),
    since(Product::Percona, "rocksdb", &[5, 7]),
    since(Product::Percona, "scalability_metrics", &[5, 6]),
    since(Product::Percona, "tokudb", &[5, 6]).until(&[8, 0, 28]),
];

impl ShippedPlugin {
    const fn until(self, end: &'static [u32]) -> Self {
        Self {
            product: self.product,
            name: self.name,
            first: self.first,
            end: Some(end),
        }
    }

    /// Whether some version of the target's product may ship it.
    fn is_made_for(&self, target: &Target) -> bool {
        let makers = [target.product(), Product::from(target.family())];
        makers.contains(&self.product)
    }

    /// Whether a version ships it.
    fn is_in(&self, target: &Target) -> bool {
        let family = self.product.family();
        self.is_made_for(target)
            && target.is_at_least(family, self.first)
            && !self.end.is_some_and(|end| target.is_at_least(family, end))
    }

    /// Whether an option is the plugin's, by the base of its name. The name alone says whether the plugin is on.
    fn has(&self, option: &str) -> bool {
        let rest = option.strip_prefix(self.name);
        let is_component = self.name.ends_with('.');
        rest.is_some_and(|rest| is_component || rest.is_empty() || rest.starts_with('_'))
    }

    /// `plugin` or `component`, and the name without the dot of a component's options.
    fn kind_and_name(&self) -> (&'static str, &'static str) {
        match self.name.strip_suffix('.') {
            Some(name) => ("component", name),
            None => ("plugin", self.name),
        }
    }

    /// The versions that ship it: `MySQL 5.7.17 and later`.
    fn versions(&self) -> String {
        let text = |numbers: &[u32]| {
            let numbers: Vec<String> = numbers.iter().map(u32::to_string).collect();
            numbers.join(".")
        };
        let (product, first) = (self.product.title(), text(self.first));
        match self.end {
            None => format!("{product} {first} and later"),
            Some(end) => format!("{product} from {first}, before {}", text(end)),
        }
    }

    /// What a review says of its options.
    pub fn not_judged(&self) -> String {
        let (kind, name) = self.kind_and_name();
        format!(
            "not judged: an option of the {kind} {name}; the server accepts it only if this {kind} is loaded"
        )
    }
}

/// The plugin that has an option and that the server may have installed: the version ships it, the file does not load it,
/// and the server itself has no such option.
pub fn unloaded_plugin(
    target: &Target,
    loaded: &[LoadedPlugin],
    name: &OptionName,
) -> Option<&'static ShippedPlugin> {
    if loaded.iter().any(|plugin| plugin.has(name)) || target.catalogue().has(name) {
        return None;
    }
    let mut shipped = SHIPPED.iter();
    shipped.rfind(|plugin| plugin.is_in(target) && plugin.has(name.base()))
}

/// The shipped plugin of any product that has an option, with the versions that ship it:
/// `an option of the plugin group_replication (MySQL 5.7.17 and later)`. `None` if no shipped plugin has it.
pub fn plugins_with(name: &OptionName) -> Option<String> {
    let mut shipped = SHIPPED.iter();
    let plugin = shipped.rfind(|plugin| plugin.has(name.base()))?;
    let same = SHIPPED.iter().filter(|one| one.name == plugin.name);
    let versions: Vec<String> = same.map(ShippedPlugin::versions).collect();
    let (kind, name) = plugin.kind_and_name();
    Some(format!(
        "an option of the {kind} {name} ({})",
        versions.join("; ")
    ))
}

/// Whether other versions of the product ship a plugin, and this one does not; in MariaDB also whether only others ship it,
/// because a library that was made for MySQL cannot be loaded there. A plugin that none ships may be anywhere.
pub(crate) fn is_missing(target: &Target, name: &str) -> bool {
    let is_mariadb = target.family() == Family::MariaDb;
    let mut its = SHIPPED
        .iter()
        .filter(|one| one.name == name && (is_mariadb || one.is_made_for(target)))
        .peekable();
    its.peek().is_some() && !its.any(|one| one.is_in(target))
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

    /// Whether it is missing in a version, as in [`is_missing`].
    pub(crate) fn is_missing_in(&self, target: &Target) -> bool {
        is_missing(target, self.name())
    }

    /// Whether a version ships it.
    pub(crate) fn is_shipped_by(&self, target: &Target) -> bool {
        let mut shipped = SHIPPED.iter();
        shipped.any(|one| one.name == self.name() && one.is_in(target))
    }

    /// Whether it is a side of semi-synchronous replication.
    pub(crate) fn is_semi_sync(&self) -> bool {
        self.name().starts_with("rpl_semi_sync_")
    }

    /// Whether some version of some product ships it.
    pub(crate) fn is_shipped(&self) -> bool {
        SHIPPED.iter().any(|one| one.name == self.name())
    }

    /// Whether an option is the plugin's. Its options begin with its name; the name alone says whether it is on.
    pub fn has(&self, name: &OptionName) -> bool {
        let option = name.base();
        let option = option.strip_prefix("plugin_").unwrap_or(option);
        self.names.iter().any(|plugin| {
            let rest = option.strip_prefix(plugin.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['_', '.']))
        })
    }
}

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
    fn a_version_has_the_plugins_that_it_ships() {
        for (target, option, plugin) in [
            ("mysql-8.0.33", "keyring_file_data", Some("keyring_file")),
            ("mysql-8.4", "keyring_file_data", None),
            ("mysql-8.4", "keyring_encrypted_file_data", None),
            ("mysql-8.0.25", "rpl_semi_sync_source_enabled", None),
            (
                "percona-8.0",
                "rpl_semi_sync_source_enabled",
                Some("rpl_semi_sync_source"),
            ),
            ("mysql-8.0.12", "clone_enable_compression", None),
            ("mysql-8.0.33", "clone_enable_compression", Some("clone")),
            ("mysql-5.7", "validate_password.policy", None),
            (
                "mysql-8.0.12",
                "validate_password.policy",
                Some("validate_password."),
            ),
            (
                "mysql-5.6",
                "validate_password_policy",
                Some("validate_password"),
            ),
            ("mysql-5.5", "validate_password_policy", None),
            ("mysql-5.7", "mysqlx_port", Some("mysqlx")),
            ("mysql-8.0.33", "mysqlx_port", None),
            (
                "mysql-8.0.33",
                "dragnet.log_error_filter_rules",
                Some("dragnet."),
            ),
            (
                "mariadb-10.2",
                "rpl_semi_sync_master_enabled",
                Some("rpl_semi_sync_master"),
            ),
            ("mariadb-10.11", "rpl_semi_sync_master_enabled", None),
            ("mariadb-10.11", "connect_work_size", Some("connect")),
            ("mariadb-10.11", "connect_timeout", None),
            ("mariadb-10.2", "s3_region", None),
            ("mariadb-10.11", "s3_region", Some("s3")),
            ("mariadb-10.11", "pam_use_cleartext_plugin", Some("pam")),
            ("mariadb-10.11", "gssapi_keytab_path", Some("gssapi")),
            (
                "mariadb-10.11",
                "password_reuse_check_interval",
                Some("password_reuse_check"),
            ),
        ] {
            let version = Target::parse(target).unwrap();
            let found = unloaded_plugin(&version, &[], &OptionName::new(option));
            let found = found.map(|plugin| plugin.name);
            assert_eq!(found, plugin, "{target} {option}");
        }
        let version = Target::parse("mysql-8.0.33").unwrap();
        let name = OptionName::new("validate_password.policy");
        assert_eq!(
            unloaded_plugin(&version, &[], &name).unwrap().not_judged(),
            "not judged: an option of the component validate_password; the server accepts it only if this component is loaded"
        );
    }

    #[test]
    fn an_option_without_a_catalogue_is_explained_by_its_plugin() {
        for (option, text) in [
            (
                "group_replication_group_name",
                Some("an option of the plugin group_replication (MySQL 5.7.17 and later)"),
            ),
            (
                "loose-group-replication-start-on-boot",
                Some("an option of the plugin group_replication (MySQL 5.7.17 and later)"),
            ),
            (
                "keyring_file_data",
                Some("an option of the plugin keyring_file (MySQL from 5.7.11, before 8.4)"),
            ),
            (
                "validate_password.policy",
                Some("an option of the component validate_password (MySQL 8 and later)"),
            ),
            (
                "rocksdb_block_cache_size",
                Some(
                    "an option of the plugin rocksdb (MariaDB 10.2 and later; Percona Server 5.7 and later)",
                ),
            ),
            ("no_such_option", None),
        ] {
            let found = plugins_with(&OptionName::new(option));
            assert_eq!(found.as_deref(), text, "{option}");
        }
    }

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
        for (target, library, is_missing) in [
            ("mysql-8.0.33", "keyring_file.so", false),
            ("mysql-8.4", "keyring_file.so", true),
            ("percona-8.4", "keyring_file.so", true),
            ("mysql-5.6", "mysql_clone.so", true),
            ("percona-8.0", "audit_log.so", false),
            // MariaDB makes it, and a user of MySQL can have it.
            ("mysql-8.4", "server_audit.so", false),
            ("mysql-8.4", "my_own.so", false),
            // MariaDB loads no library that was made for MySQL.
            ("mariadb-10.11", "validate_password.so", true),
            ("mariadb-11.4", "semisync_source.so", true),
            ("mariadb-10.2", "semisync_master.so", false),
            ("mariadb-10.2", "ha_tokudb.so", false),
            ("mariadb-10.11", "ha_tokudb.so", true),
            ("mariadb-10.11", "server_audit.so", false),
            ("mariadb-10.11", "my_own.so", false),
        ] {
            let version = Target::parse(target).unwrap();
            let plugin = plugins_in(library).next().unwrap();
            let found = plugin.is_missing_in(&version);
            assert_eq!(found, is_missing, "{target} {library}");
        }
        let line = "[mysqld]\nplugin-load=audit=server_audit.so;file_key_management\n";
        let file = OptionFile::parse(line, Path::new("my.cnf")).unwrap();
        let plugins = LoadedPlugin::of(file.entries());
        let libraries: Vec<&str> = plugins.iter().map(|one| one.library.as_str()).collect();
        assert_eq!(libraries, ["server_audit.so", "file_key_management.so"]);
    }
}
