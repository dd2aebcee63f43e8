//! The authentication plugins of MySQL, and what names them.

use crate::catalogue::Family;
use crate::name::OptionName;
use crate::subject::Subject;

/// The plugins that `authentication_policy` names: `*:sha256_password,auth_socket,`. An asterisk stands for any.
pub(crate) fn plugins_of_policy(policy: &str) -> impl Iterator<Item = &str> {
    let factors = policy.split(',').map(str::trim);
    let plugins = factors.map(|factor| factor.strip_prefix("*:").unwrap_or(factor));
    plugins.filter(|plugin| !plugin.is_empty() && *plugin != "*")
}

/// Whether a server of MySQL has an authentication plugin: it is part of the version, or the file loads it.
/// Source: MySQL Reference Manual, "Authentication Plugins"; 9.0 removed mysql_native_password.
pub(crate) fn has_plugin(subject: &Subject<'_>, plugin: &str) -> bool {
    let is_at_least = |numbers: &[u32]| subject.target.is_at_least(Family::MySql, numbers);
    let is_own = match plugin.to_ascii_lowercase().as_str() {
        "mysql_native_password" => !is_at_least(&[9]),
        "sha256_password" => is_at_least(&[5, 6]),
        "caching_sha2_password" => is_at_least(&[8]),
        _ => false,
    };
    let name = OptionName::new(plugin);
    is_own || subject.plugins.iter().any(|loaded| loaded.has(&name))
}

/// Whether the plugin mysql_native_password is on in MySQL 8.4, where it is off by default.
pub(crate) fn enables_native_password(subject: &Subject<'_>) -> bool {
    subject.is_one_of(
        "mysql_native_password",
        &["ON", "FORCE", "FORCE_PLUS_PERMANENT"],
    )
}

/// Whether the file's `authentication_policy` lets the older `default_authentication_plugin` decide for the first factor.
/// Source: MySQL 8.0 Reference Manual, "Pluggable Authentication", the default plugin.
pub(crate) fn has_open_policy(subject: &Subject<'_>) -> bool {
    let policy = subject.set("authentication_policy");
    let policy = policy.and_then(|line| line.entry.value.as_deref());
    policy.is_some_and(|policy| policy.split(',').next().map(str::trim) == Some("*"))
}
