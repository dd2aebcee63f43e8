//! The name of an option, in all spellings of the same option.
//!
//! Names are compared in small letters, so that a line in any letter case is replaced, kept or masked like any other.
//! `Catalogue::takes_case_of` decides whether a version takes the letter case of a name.

use std::fmt;

/// The prefix of an option that a server may ignore if it is unknown.
const LOOSE: &str = "loose_";

/// The prefixes that modify an option without changing its identity.
const PREFIXES: [&str; 4] = ["loose_", "skip_", "enable_", "disable_"];

/// The name of an option: kept as written, compared by [`OptionName::base`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OptionName {
    written: String,
    folded: String,
    base: String,
}

impl OptionName {
    /// A name as written, with any prefix.
    pub fn new(written: &str) -> Self {
        let folded = written.replace('-', "_").to_ascii_lowercase();
        let mut base = folded.as_str();
        while let Some(rest) = PREFIXES.iter().find_map(|prefix| base.strip_prefix(prefix)) {
            if rest.is_empty() {
                break;
            }
            base = rest;
        }
        let base = base.to_owned();
        let plain = folded.strip_prefix(LOOSE).filter(|name| !name.is_empty());
        Self {
            written: written.to_owned(),
            folded: plain.unwrap_or(&folded).to_owned(),
            base,
        }
    }

    pub fn as_written(&self) -> &str {
        &self.written
    }

    /// The name in small letters with `_`, without `loose-`, `skip-`, `enable-` and `disable-`: names with the same base
    /// set the same option. `Skip-Networking` has the base `networking`.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// The name in small letters with `_`, without `loose-`: the spelling in a server's own lists.
    pub fn folded(&self) -> &str {
        &self.folded
    }

    /// Whether the server may ignore the option if it is unknown.
    pub fn is_loose(&self) -> bool {
        self.folded.len() < self.written.len()
    }

    /// The names under which a server may list this option, the longest first.
    /// `skip-name-resolve` is listed with its prefix, `skip-log-bin` without.
    ///
    /// Source: MySQL Reference Manual, "Program Option Modifiers".
    pub fn spellings(&self) -> Vec<&str> {
        let prefixes = ["skip_", "disable_", "enable_", "maximum_", "autoset_"];
        let mut spellings = vec![self.folded()];
        spellings.extend(
            prefixes
                .iter()
                .find_map(|prefix| self.folded.strip_prefix(prefix)),
        );
        spellings
    }

    /// The name behind `skip-`, `disable-` or `enable-`; `None` without one of them.
    pub(crate) fn switched(&self) -> Option<&str> {
        let prefixes = ["skip_", "disable_", "enable_"];
        let mut prefixes = prefixes.iter();
        prefixes.find_map(|prefix| self.folded.strip_prefix(prefix))
    }

    /// Whether the line disables an option that takes a text: `skip_log_bin` does, except with 0, and `enable_log_bin`
    /// only with 0. `log_bin = 0` is a log named 0.
    ///
    /// Source: my_getopt, OPT_SKIP, OPT_DISABLE and OPT_ENABLE.
    pub(crate) fn disables(&self, value: Option<&str>) -> bool {
        let is_zero = value == Some("0");
        if self.folded.len() > self.base.len() && self.folded.starts_with("enable_") {
            is_zero
        } else {
            self.switches_off() && !is_zero
        }
    }

    /// Whether the name itself disables the option (`skip-ssl`, `disable-log-bin`).
    pub fn switches_off(&self) -> bool {
        let name = &self.folded;
        name.len() > self.base.len() && (name.starts_with("skip_") || name.starts_with("disable_"))
    }
}

impl fmt::Display for OptionName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.written)
    }
}

/// Whether a boolean option is on: no value, `1`, `on` and `true` mean on; a `skip-` name inverts the value. `None` for a value
/// that is not boolean, `yes` and `no` among them: servers warn of it and take it for off.
/// Source: MariaDB 10.11 and MySQL 8.0.33 with `slow_query_log = yes`.
pub fn is_switched_on(name: &OptionName, value: Option<&str>) -> Option<bool> {
    let on = match value.map(str::to_ascii_lowercase).as_deref() {
        None | Some("1" | "on" | "true") => true,
        Some("0" | "off" | "false") => false,
        Some(_) => return None,
    };
    Some(on != name.switches_off())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_option_share_a_base() {
        for (written, base, off) in [
            ("innodb-buffer-pool_size", "innodb_buffer_pool_size", false),
            ("loose-innodb_io_capacity", "innodb_io_capacity", false),
            ("skip-name-resolve", "name_resolve", true),
            ("skip_ssl", "ssl", true),
            ("loose_skip-ssl", "ssl", true),
            ("disable-log-bin", "log_bin", true),
            ("enable_performance-schema", "performance_schema", false),
            ("Skip-Log-Bin", "log_bin", true),
            ("SKIP-LOG-BIN", "log_bin", true),
            ("Loose-Enable_SSL", "ssl", false),
            ("Max_Connections", "max_connections", false),
            ("skip", "skip", false),
            ("skip-", "skip_", false),
            ("skipper", "skipper", false),
        ] {
            let name = OptionName::new(written);
            assert_eq!(
                (name.base(), name.switches_off(), name.as_written()),
                (base, off, written)
            );
        }
    }

    #[test]
    fn booleans_as_the_servers_take_them() {
        for (name, value, on) in [
            ("ssl", None, Some(true)),
            ("ssl", Some("0"), Some(false)),
            ("ssl", Some("ON"), Some(true)),
            ("skip-ssl", None, Some(false)),
            ("skip-ssl", Some("0"), Some(true)),
            ("Skip-SSL", None, Some(false)),
            ("ssl", Some("maybe"), None),
            ("ssl", Some("yes"), None),
        ] {
            assert_eq!(
                is_switched_on(&OptionName::new(name), value),
                on,
                "{name}={value:?}"
            );
        }
    }
}
