//! Rule: settings that group replication requires of a member.

use crate::catalogue::Family;
use crate::name::is_switched_on;
use crate::rule::{Level, Rule, RuleFinding};
use crate::subject::Subject;

use super::statement_binlog::row_based;

pub(super) const RULE: Rule = Rule {
    id: "group-replication-member",
    title: "Member of a replication group",
    reason: "A member replicates changed rows with GTIDs, and gives them to members that recover. A server that lacks one of these settings starts, but cannot join the group.",
    source: "MySQL Reference Manual, \"Group Replication Requirements\" and \"Configuring an Instance for Group Replication\"",
    check,
};

/// A required value of an option, which versions know by one of several names.
struct Requirement {
    /// The newest name first.
    names: &'static [&'static str],
    value: &'static str,
    /// Other words for the value.
    same: &'static [&'static str],
    /// The first version of MySQL without the requirement.
    end: Option<&'static [u32]>,
}

const fn required(names: &'static [&'static str], value: &'static str) -> Requirement {
    Requirement {
        names,
        value,
        same: &[],
        end: None,
    }
}

static REQUIREMENTS: [Requirement; 8] = [
    required(&["log_replica_updates", "log_slave_updates"], "ON"),
    Requirement {
        same: &["2"],
        ..required(&["binlog_format"], "ROW")
    },
    required(&["gtid_mode"], "ON"),
    required(&["enforce_gtid_consistency"], "ON"),
    Requirement {
        end: Some(&[8, 0, 21]),
        ..required(&["binlog_checksum"], "NONE")
    },
    required(&["master_info_repository"], "TABLE"),
    required(&["relay_log_info_repository"], "TABLE"),
    required(&["transaction_write_set_extraction"], "XXHASH64"),
];

/// The effective value of an option with several names, and the name that has it.
fn value(subject: &Subject<'_>, names: &[&'static str]) -> Option<(&'static str, String)> {
    let name = subject.name_in_effect(names)?;
    Some((name, subject.value(name)?))
}

/// The newest of several names that the version has.
fn newest(subject: &Subject<'_>, names: &[&'static str]) -> &'static str {
    let mut known = names.iter().filter(|name| subject.has(name));
    known.next().copied().unwrap_or(names[0])
}

/// Whether the server is a member: the file loads the plugin, or names its group.
fn is_member(subject: &Subject<'_>) -> bool {
    let is_its = |name: &str| name.starts_with("group_replication_");
    let mut plugins = subject.plugins.iter();
    let mut lines = subject.read();
    subject.target.family() == Family::MySql
        && (plugins.any(|plugin| plugin.name() == "group_replication")
            || lines.any(|line| is_its(line.entry.name.base())))
}

fn check(subject: &Subject<'_>) -> Vec<RuleFinding> {
    if !is_member(subject) {
        return Vec::new();
    }
    let mut remarks = Vec::new();
    let mut lines = subject.read();
    let bootstrap =
        lines.rfind(|line| line.entry.name.base() == "group_replication_bootstrap_group");
    if let Some(line) = bootstrap
        && is_switched_on(&line.entry.name, line.entry.value.as_deref()) == Some(true)
    {
        let what = "at every start, the member forms a new group instead of joining the others, so their data diverges";
        let fix =
            "set it to OFF, and bootstrap the group with SET GLOBAL on the first member alone";
        remarks.push(RuleFinding::on(line, Level::Risk, what).fix(fix));
    }
    if !subject.has_binary_log() {
        let what = "group replication requires the binary log";
        let remark = RuleFinding::of(subject, "log_bin", Level::Warning, what);
        remarks.push(remark.fix("enable log_bin"));
    }
    for requirement in &REQUIREMENTS {
        let is_over = |end| subject.target.is_at_least(Family::MySql, end);
        let Some((name, own)) = value(subject, requirement.names) else {
            continue;
        };
        let mut words = requirement.same.iter().chain([&requirement.value]);
        if words.any(|word| word.eq_ignore_ascii_case(&own)) || requirement.end.is_some_and(is_over)
        {
            continue;
        }
        let needed = requirement.value;
        let what = format!("group replication requires {needed}, and the member has {own}");
        let remark = RuleFinding::of(subject, name, Level::Warning, what);
        remarks.push(remark.fix(match name {
            "binlog_format" => row_based(subject).to_owned(),
            _ => format!("set {} = {needed}", newest(subject, requirement.names)),
        }));
    }
    remarks.extend(order_of_commits(subject));
    remarks
}

/// Workers that apply transactions in parallel have to commit them in the order of the group.
fn order_of_commits(subject: &Subject<'_>) -> Option<RuleFinding> {
    let (_, workers) = value(
        subject,
        &["replica_parallel_workers", "slave_parallel_workers"],
    )?;
    let names = [
        "replica_preserve_commit_order",
        "slave_preserve_commit_order",
    ];
    let (name, order) = value(subject, &names)?;
    let is_parallel = workers.parse::<u32>().is_ok_and(|workers| workers > 0);
    (is_parallel && order == "OFF").then(|| {
        let what =
            format!("group replication with {workers} workers requires the order of commits");
        let remark = RuleFinding::of(subject, name, Level::Warning, what);
        remark.fix(format!("set {} = ON", newest(subject, &names)))
    })
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    const MEMBER: &str = "plugin_load_add=group_replication.so\nserver_id=1\n";

    #[test]
    fn a_member_has_what_the_group_requires() {
        let lines = |more: &str| format!("{MEMBER}{more}");
        let gtid = "gtid_mode=ON\nenforce_gtid_consistency=ON\n";
        for version in ["mysql-8.0.36", "mysql-8.4", "mysql-9.7", "percona-8.0"] {
            assert_found(&RULE, version, &lines(gtid), &[]);
        }
        let wrong = format!(
            "{gtid}log_replica_updates=OFF\nbinlog_format=STATEMENT\nreplica_preserve_commit_order=OFF\nskip_log_bin"
        );
        assert_found(
            &RULE,
            "mysql-8.0.36",
            &lines(&wrong),
            &[
                "warning: skip_log_bin: group replication requires the binary log; enable log_bin",
                "warning: log_replica_updates=OFF: group replication requires ON, and the member has OFF; set",
                "warning: binlog_format=STATEMENT: group replication requires ROW, and the member has STATEMENT; remove binlog_format: ROW is the default",
                "warning: replica_preserve_commit_order=OFF: group replication with 4 workers requires",
            ],
        );
        let old = format!(
            "{gtid}slave_preserve_commit_order=OFF\nslave_parallel_workers=8\nlog_slave_updates=OFF"
        );
        assert_found(
            &RULE,
            "mysql-8.0.36",
            &lines(&old),
            &[
                "warning: log_slave_updates=OFF: group replication requires ON, and the member has OFF; set log_replica_updates = ON",
                "warning: slave_preserve_commit_order=OFF: group replication with 8 workers requires the order of commits; set replica_preserve_commit_order = ON",
            ],
        );
        let defaults = [
            "warning: log_bin",
            "warning: log_slave_updates: group replication requires ON, and the member has OFF",
            "warning: gtid_mode",
            "warning: enforce_gtid_consistency",
            "warning: binlog_checksum",
            "warning: master_info_repository: group replication requires TABLE",
            "warning: relay_log_info_repository",
            "warning: transaction_write_set_extraction: group replication requires XXHASH64",
        ];
        assert_found(&RULE, "mysql-5.7", MEMBER, &defaults);
        assert_found(&RULE, "mysql-8.0.36", "log_replica_updates=OFF", &[]);
    }

    #[test]
    fn a_member_does_not_form_a_group_at_every_start() {
        for (line, count) in [
            ("group_replication_bootstrap_group=ON", 1),
            ("loose-group_replication_bootstrap_group=1", 1),
            ("group_replication_bootstrap_group", 1),
            ("skip_group_replication_bootstrap_group=0", 1),
            ("group_replication_bootstrap_group=OFF", 0),
            ("skip_group_replication_bootstrap_group", 0),
        ] {
            let lines = format!("gtid_mode=ON\nenforce_gtid_consistency=ON\n{line}");
            let part = "at every start, the member forms a new group";
            assert_found(&RULE, "mysql-8.0.36", &lines, &[part][..count]);
        }
    }
}
