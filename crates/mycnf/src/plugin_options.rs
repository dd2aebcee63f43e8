//! Options that a plugin lost in some version, although the product still ships the plugin.

use crate::catalogue::Family;
use crate::name::OptionName;
use crate::target::Target;

/// An option of a plugin of MySQL.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RemovedOption {
    plugin: &'static str,
    name: &'static str,
    /// The first version without it.
    removed: [u32; 3],
    /// The option to write instead, if there is one.
    pub(crate) successor: Option<&'static str>,
}

/// Source: MySQL Server Version Reference, "Option and Variable Changes" for MySQL 8.3, 8.4 and 9.5.
static REMOVED: [RemovedOption; 3] = [
    RemovedOption {
        plugin: "group_replication",
        name: "group_replication_allow_local_lower_version_join",
        removed: [9, 5, 0],
        successor: None,
    },
    RemovedOption {
        plugin: "group_replication",
        name: "group_replication_ip_whitelist",
        removed: [8, 3, 0],
        successor: Some("group_replication_ip_allowlist"),
    },
    RemovedOption {
        plugin: "group_replication",
        name: "group_replication_recovery_complete_at",
        removed: [8, 4, 0],
        successor: None,
    },
];

/// The option of this name, if the version's plugin no longer has it.
pub(crate) fn removed_option(target: &Target, name: &OptionName) -> Option<&'static RemovedOption> {
    let option = name.base().to_ascii_lowercase();
    let mut all = REMOVED.iter();
    all.find(|one| {
        let [major, minor, _] = one.removed;
        one.name == option && target.is_at_least(Family::MySql, &[major, minor])
    })
}

impl RemovedOption {
    /// What a review says of it.
    pub(crate) fn what(&self) -> String {
        let [major, minor, patch] = self.removed;
        format!(
            "the plugin {} has no such option from MySQL {major}.{minor}.{patch} on",
            self.plugin
        )
    }
}
