//! Options that the plugin group_replication lost in some version, although MySQL still ships the plugin.

use crate::catalogue::Family;
use crate::name::OptionName;
use crate::target::Target;

/// An option that the plugin no longer has.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RemovedOption {
    name: &'static str,
    /// The first series without it, from its first version on.
    removed: [u32; 2],
    /// The option to write instead, if there is one.
    pub(crate) successor: Option<&'static str>,
}

/// Source: MySQL Server Version Reference, "Option and Variable Changes" for MySQL 8.3, 8.4 and 9.5.
static REMOVED: [RemovedOption; 3] = [
    RemovedOption {
        name: "group_replication_allow_local_lower_version_join",
        removed: [9, 5],
        successor: None,
    },
    RemovedOption {
        name: "group_replication_ip_whitelist",
        removed: [8, 3],
        successor: Some("group_replication_ip_allowlist"),
    },
    RemovedOption {
        name: "group_replication_recovery_complete_at",
        removed: [8, 4],
        successor: None,
    },
];

/// The option of this name, if the version's plugin no longer has it.
pub(crate) fn removed_option(target: &Target, name: &OptionName) -> Option<&'static RemovedOption> {
    let mut all = REMOVED.iter();
    all.find(|one| one.name == name.base() && target.is_at_least(Family::MySql, &one.removed))
}

impl RemovedOption {
    /// What a review says of it.
    pub(crate) fn what(&self) -> String {
        let [major, minor] = self.removed;
        format!("the plugin group_replication has no such option from MySQL {major}.{minor}.0 on")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Machine, OptionFile, Rewrite, RuleFinding, lint};
    use std::path::Path;

    #[test]
    fn a_list_that_the_file_has_under_its_new_name_is_left_out() {
        let (old, new) = (
            "group_replication_ip_whitelist=10.0.0.0/8",
            "group_replication_ip_allowlist=10.1.0.0/16",
        );
        let renamed = |name: &str| {
            (
                Rewrite::Replace(format!("{name} = 10.0.0.0/8")),
                "write group_replication_ip_allowlist".to_owned(),
            )
        };
        let left_out = |line: u32| {
            (
                Rewrite::Remove,
                format!("leave it out: {new} is also set, in my.cnf line {line}"),
            )
        };
        for (lines, (rewrite, fix)) in [
            (old.to_owned(), renamed("group_replication_ip_allowlist")),
            (
                format!("loose-{old}"),
                renamed("loose_group_replication_ip_allowlist"),
            ),
            (format!("{old}\n{new}"), left_out(3)),
            (format!("{new}\n{old}"), left_out(2)),
        ] {
            let text = format!("[mysqld]\n{lines}\n");
            let file = OptionFile::parse(&text, Path::new("my.cnf")).unwrap();
            let target = Target::parse("mysql-8.4").unwrap();
            let found = lint(&file, &target, &Machine::default()).advice;
            let mut remarks = found.iter().map(|advice| &advice.remark);
            let of_old = remarks.find(|remark| remark.option.ends_with(old));
            let shown = |remark: &RuleFinding| remark.fix.as_ref().map(ToString::to_string);
            let of_old = of_old.map(|remark| (remark.rewrite.clone(), shown(remark)));
            assert_eq!(of_old, Some((Some(rewrite), Some(fix))), "{lines}");
        }
    }
}
