//! Rule: the version does not know the option.

use crate::assignment::Assignment;
use crate::catalogue::{Catalogue, Product};
use crate::fix::Fix;
use crate::other_builds::is_of_other_build;
use crate::plugin_options::{RemovedOption, removed_option};
use crate::plugins::unloaded_plugin;
use crate::rename::{reason_to_leave_out, reason_to_leave_out_unknown, renamed, rewritten};
use crate::rule::{Advice, Level, Rewrite, Rule, RuleFinding, Startup};
use crate::subject::Subject;
use crate::target::Target;
use crate::unknown::{UNKNOWN_TO_THIS_VERSION, explain_unknown};

pub(super) const RULE: Rule = Rule {
    id: "unknown-option",
    title: "Unknown option",
    reason: "A server does not start with an unknown option. If the name is prefixed with `loose-`, the server ignores the line.",
    source: "option lists of 15 versions: 11 read from running servers, 4 taken from documentation",
    check,
};

impl Advice {
    /// Whether the version does not know the option, and does not start with it.
    pub fn refuses_name(&self) -> bool {
        self.rule.is(&RULE) && self.remark.level == Level::Refused
    }
}

fn check(subject: &Subject<'_>) -> Vec<RuleFinding> {
    let remarks = subject.read().filter_map(|line| match line.option {
        None if subject.has_beyond_catalogue(&line.entry.name) => None,
        None => Some(remark(subject, line)),
        Some(_) => removed_since(subject, line),
    });
    remarks.collect()
}

/// A note about an option that the next catalogue of the series no longer has.
fn removed_since(subject: &Subject<'_>, line: &Assignment<'_>) -> Option<RuleFinding> {
    let later = subject.target.later_in_series()?;
    let is_gone = !later.has(&line.entry.name);
    let what = between(subject, &later, "removed");
    is_gone.then(|| uncertain(subject, line, what))
}

/// A note about an option that the version may not know, so that the server may not start.
fn uncertain(subject: &Subject<'_>, line: &Assignment<'_>, what: String) -> RuleFinding {
    let remark = RuleFinding::on(line, Level::Note, what);
    if subject.catalogue.ignores_unknown(&line.entry.name) {
        return remark;
    }
    remark.if_refused(Startup::Uncertain)
}

/// What is known of an option that only one of the two catalogues around the version has.
fn between(subject: &Subject<'_>, later: &Catalogue, change: &str) -> String {
    let nearest = Target::of_catalogue(&subject.catalogue);
    let later = Target::of_base_version(later);
    format!("{change} between {nearest} and {later}: this version may not know it")
}

fn remark(subject: &Subject<'_>, line: &Assignment<'_>) -> RuleFinding {
    let name = &line.entry.name;
    let level = if subject.catalogue.ignores_unknown(name) {
        Level::Note
    } else {
        Level::Refused
    };
    if let Some(removed) = removed_option(subject.target, name) {
        return removed_from_plugin(subject, line, level, removed);
    }
    if let Some(plugin) = subject.plugins.iter().find(|plugin| plugin.has(name)) {
        let is_missing = plugin.is_missing_in(subject.target);
        let plugin = plugin.name();
        if is_missing {
            let what =
                format!("an option of the plugin {plugin}, which this version does not ship");
            let mut remark = RuleFinding::on(line, level, what);
            // The version may have the same without a plugin, by another name.
            let knows = |name: &str| subject.has(name);
            let unknown = explain_unknown(&subject.catalogue, name, &knows);
            remark.rewrite = renamed(subject, line);
            remark.successor = unknown.successor;
            remark.fix = unknown.hint.filter(|_| remark.rewrite.is_some());
            let other = "use the plugin's replacement, or leave the line out";
            remark.fix = remark.fix.or_else(|| Some(other.into()));
            return remark;
        }
        let what = format!("not judged: an option of the plugin {plugin}, which the file loads");
        return RuleFinding::not_judged(line, what);
    }
    if let Some(plugin) = unloaded_plugin(subject.target, &subject.plugins, name) {
        return RuleFinding::not_judged(line, plugin.not_judged());
    }
    let is_of_cluster = ["wsrep_", "pxc_"]
        .iter()
        .any(|begin| name.base().starts_with(begin));
    if is_of_cluster && subject.target.product() == Product::Percona {
        let what = "not judged: an option of Percona XtraDB Cluster, which Percona Server itself does not have";
        return RuleFinding::not_judged(line, what);
    }
    if is_of_other_build(subject, name) {
        let what = "not judged: whether the server has this option depends on the TLS library with which it was built";
        return RuleFinding::not_judged(line, what);
    }
    let knows = |name: &str| subject.has(name);
    let unknown = explain_unknown(&subject.catalogue, name, &knows);
    if !subject.target.is_covered() {
        let nearest = Target::of_catalogue(&subject.catalogue);
        let why = unknown.what.replace(UNKNOWN_TO_THIS_VERSION, "");
        let what = format!("unknown to the nearest version that dbdyno knows ({nearest}){why}");
        let mut remark = uncertain(subject, line, what);
        remark.fix = unknown.hint.filter(|fix| !matches!(fix, Fix::LeaveOut(_)));
        // A new name that the nearest version has is more likely to be right; no line is removed on a guess.
        remark.rewrite = renamed(subject, line).filter(|rewrite| *rewrite != Rewrite::Remove);
        return remark;
    }
    let later = subject.target.later_in_series();
    if let Some(later) = later.filter(|later| later.has(name)) {
        let mut remark = uncertain(subject, line, between(subject, &later, "added"));
        // The old name is known before and after.
        remark.rewrite = renamed(subject, line).filter(|rewrite| *rewrite != Rewrite::Remove);
        remark.fix = unknown.hint.filter(|_| remark.rewrite.is_some());
        return remark;
    }
    let mut remark = RuleFinding::on(line, level, unknown.what);
    remark.rewrite = renamed(subject, line);
    remark.successor = unknown.successor;
    remark.fix = match &remark.rewrite {
        // The new name without a value would switch the option on or lose its file name.
        Some(Rewrite::Replace(new))
            if name.switches_off() || new.contains('\n') || name.base() == "ssl" =>
        {
            Some(format!("write {}", Rewrite::in_one_line(new)).into())
        }
        Some(Rewrite::Remove) => reason_to_leave_out_unknown(subject, line)
            .map(Fix::leave_out)
            .or(unknown.hint),
        _ => unknown.hint,
    };
    remark
}

/// A remark on an option of a plugin that the version's plugin no longer has.
fn removed_from_plugin(
    subject: &Subject<'_>,
    line: &Assignment<'_>,
    level: Level,
    removed: &RemovedOption,
) -> RuleFinding {
    let mut remark = RuleFinding::on(line, level, removed.what());
    let Some(successor) = removed.successor else {
        return remark.fix(Fix::LeaveOut(None)).rewrite(Rewrite::Remove);
    };
    remark.rewrite = rewritten(subject, line, line.entry.name.base(), successor);
    remark.successor = Some(successor);
    remark.fix(match reason_to_leave_out(subject, line, successor) {
        Some(reason) => Fix::leave_out(reason),
        None => format!("write {successor}").into(),
    })
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn options_of_plugins_that_may_be_installed_are_not_judged() {
        for (target, lines, part) in [
            (
                "mysql-5.7",
                "validate_password_policy=LOW",
                "note: validate_password_policy=LOW: not judged: an option of the plugin validate_password",
            ),
            ("mysql-8.0.33", "validate_password.policy=LOW", "note: "),
            ("mysql-8.0.33", "rpl_semi_sync_source_enabled=1", "note: "),
            ("mysql-5.7", "rpl_semi_sync_source_enabled=1", "refused: "),
            (
                "mysql-8.4",
                "keyring_file_data=/var/lib/keyring",
                "refused: ",
            ),
            (
                "mysql-8.4",
                "early-plugin-load=keyring_file.so\nkeyring_file_data=/var/lib/keyring",
                "refused: keyring_file_data=/var/lib/keyring: an option of the plugin keyring_file, which this version \
                 does not ship",
            ),
            (
                "mysql-8.0.33",
                "early-plugin-load=keyring_file.so\nkeyring_file_data=/var/lib/keyring",
                "note: ",
            ),
            (
                "percona-8.0",
                "connection_control_min_connection_delay=2000",
                "note: ",
            ),
            ("mariadb-10.11", "server_audit_logging=ON", "note: "),
            ("mariadb-10.11", "validate_password_policy=LOW", "refused: "),
            (
                "mariadb-10.11",
                "plugin_load_add=validate_password.so\nvalidate_password_policy=LOW",
                "refused: validate_password_policy=LOW: an option of the plugin validate_password, which this version",
            ),
            (
                "mariadb-11.4",
                "plugin_load_add=semisync_source.so\nrpl_semi_sync_source_enabled=ON",
                "which this version does not ship; write rpl_semi_sync_master_enabled",
            ),
            ("mysql-8.0.33", "validate_passwords=LOW", "refused: "),
        ] {
            assert_found(&RULE, target, lines, &[part]);
        }
    }

    #[test]
    fn a_build_with_another_tls_library_has_more_options() {
        for (target, lines, part) in [
            ("mysql-5.5", "ssl-ca=/etc/mysql/ca.pem", "note: "),
            ("mysql-5.5", "skip-ssl", "note: "),
            ("mysql-5.7", "auto_generate_certs=ON", "note: "),
            ("mysql-5.5", "ssl_crl=/etc/mysql/crl.pem", "refused: "),
            ("mysql-5.5.9", "skip-ssl", "refused: "),
        ] {
            assert_found(&RULE, target, lines, &[part]);
        }
        assert_found(&RULE, "mysql-5.6", "ssl-ca=/etc/mysql/ca.pem", &[]);
    }

    #[test]
    fn a_version_between_two_catalogues_may_have_what_one_of_them_has() {
        assert_found(
            &RULE,
            "mysql-8.0.28",
            "sql_require_primary_key=ON\nlog_syslog=1\nno_such_option=1",
            &[
                "note: sql_require_primary_key=ON: added between",
                "note: log_syslog=1: removed between",
                "refused: no_such_option=1",
            ],
        );
        let old = "sql_require_primary_key=ON";
        assert_found(&RULE, "mysql-8.0.12", old, &["refused: "]);
        assert_found(&RULE, "mysql-8.0.40", old, &[]);
    }

    #[test]
    fn a_version_has_the_successor_of_what_it_deprecates() {
        let lines =
            "replica_parallel_workers=4\nskip-log-replica-updates\ninnodb_redo_log_capacity=1G";
        let note = "note: innodb_redo_log_capacity=1G: added between mysql-8.0.12 and mysql-8.0.33";
        assert_found(&RULE, "mysql-8.0.28", lines, &[note]);
        assert_found(&RULE, "mysql-8.0.30", lines, &[]);
    }

    #[test]
    fn a_successor_in_the_file_is_the_reason_to_leave_a_line_out() {
        let policy = "default_authentication_plugin=mysql_native_password\nmysql_native_password=ON\n\
                      authentication_policy=caching_sha2_password,,";
        let found = "leave it out: authentication_policy=caching_sha2_password,, is also set, in my.cnf line 4";
        assert_found(&RULE, "mysql-8.4", policy, &[found]);
        let expiry = "expire_logs_days=7\nbinlog_expire_logs_seconds=3600";
        let found = "leave it out: binlog_expire_logs_seconds=3600 is also set, in my.cnf line 3";
        assert_found(&RULE, "mysql-9.7", expiry, &[found]);
    }

    /// Its removal is known, so that it is refused even if the file loads the plugin.
    #[test]
    fn an_option_that_a_plugin_no_longer_has_is_refused() {
        let plugin = "plugin_load_add=group_replication.so\n";
        let old = "group_replication_ip_whitelist=10.0.0.0/8";
        let found = "refused: group_replication_ip_whitelist=10.0.0.0/8: the plugin group_replication has no such option \
                     from MySQL 8.3.0 on; write group_replication_ip_allowlist";
        for target in ["mysql-8.4", "mysql-9.7", "percona-8.4"] {
            assert_found(&RULE, target, old, &[found]);
            assert_found(&RULE, target, &format!("{plugin}{old}"), &[found]);
        }
        assert_found(&RULE, "mysql-8.0.33", old, &["note: "]);
        let loose = format!("loose-{old}");
        assert_found(&RULE, "mysql-8.4", &loose, &["note: loose-"]);
        let gone = "group_replication_recovery_complete_at=TRANSACTIONS_APPLIED";
        assert_found(
            &RULE,
            "mysql-8.4",
            gone,
            &[
                "refused: group_replication_recovery_complete_at=TRANSACTIONS_APPLIED: the plugin group_replication has no \
               such option from MySQL 8.4.0 on; leave it out",
            ],
        );
        let old_plugin = "plugin_load_add=semisync_master.so\nrpl_semi_sync_master_enabled=ON";
        assert_found(&RULE, "mysql-8.4", old_plugin, &["note: "]);
        assert_found(
            &RULE,
            "mysql-9.7",
            old_plugin,
            &[
                "refused: rpl_semi_sync_master_enabled=ON: an option of the plugin rpl_semi_sync_master, which this version",
            ],
        );
    }

    #[test]
    fn an_option_that_came_or_went_within_a_series_is_known_by_its_version() {
        let pages = "innodb_track_changed_pages=ON\ninnodb_max_bitmap_file_size=100M";
        for target in ["percona-5.7", "percona-8.0.28"] {
            assert_found(&RULE, target, pages, &[]);
        }
        for target in ["percona-8.0", "percona-8.0.30"] {
            let found = "last seen in Percona Server 5.7; leave it out: Percona Server 8.0.30 removed changed page tracking";
            assert_found(&RULE, target, pages, &[found, found]);
        }
        let added = "check_table_functions=WARN";
        for target in [
            "mysql-8.0.42",
            "mysql-8.0.45",
            "percona-8.0.42",
            "mysql-8.4",
        ] {
            assert_found(&RULE, target, added, &[]);
        }
        for target in [
            "mysql-8.0.33",
            "mysql-8.0.41",
            "percona-8.0.28",
            "percona-8.0.41",
        ] {
            assert_found(&RULE, target, added, &["refused: "]);
        }
    }

    #[test]
    fn the_letter_case_of_a_name_counts_where_the_version_compares_it() {
        let lines = "Skip-Log-Bin\nMax_Connections=5\nLoose-Back_Log=9\nloose-Back_Log=9";
        let small =
            "unknown to this version, which takes option names in small letters only; write";
        let found = [
            format!("refused: Skip-Log-Bin: {small} skip-log-bin"),
            format!("refused: Max_Connections=5: {small} max_connections"),
            format!("refused: Loose-Back_Log=9: {small} loose-back_log"),
            format!("note: loose-Back_Log=9: {small} loose-back_log"),
        ];
        let found: Vec<&str> = found.iter().map(String::as_str).collect();
        for target in ["mysql-5.7", "mysql-8.0.33", "percona-8.0", "mariadb-11.4.5"] {
            assert_found(&RULE, target, lines, &found);
        }
        for target in ["mariadb-10.11", "mariadb-10.11.19", "mariadb-11.8"] {
            assert_found(&RULE, target, lines, &[]);
        }
        let unknown = "Loose-No_Such_Option=1";
        assert_found(&RULE, "mariadb-10.11", unknown, &["note: "]);
        assert_found(&RULE, "mysql-8.0.33", unknown, &["refused: "]);
    }

    #[test]
    fn the_whole_name_of_an_option_is_no_abbreviation() {
        for (target, line) in [
            ("mysql-8.4", "old=1"),
            ("mysql-8.0.33", "mysql_native_password=ON"),
        ] {
            let found = remarks(&RULE, &crate::Machine::default(), target, line);
            assert!(
                found.len() == 1 && !found[0].contains("in full"),
                "{found:?}"
            );
        }
    }

    #[test]
    fn names_are_unknown_with_history_and_successor() {
        let cases: [(&str, &str, &[&str]); 17] = [
            (
                "mysql-9.7",
                "default_authentication_plugin=mysql_native_password",
                &["leave it out: this version has no plugin mysql_native_password"],
            ),
            (
                "mariadb-10.11",
                "plugin_load_add=server_audit\nserver_audit_logging=ON\nserver_adit_events=QUERY",
                &[
                    "note: server_audit_logging=ON: not judged: an option of the plugin server_audit",
                    "refused: server_adit_events",
                ],
            ),
            (
                "mysql-8.0.33",
                "query_cache_size=0",
                &[
                    "refused: query_cache_size=0: unknown to this version, last seen in 5.7.22; leave it out",
                ],
            ),
            (
                "mysql-9.7",
                "innodb_log_file_size=1G",
                &["write innodb_redo_log_capacity"],
            ),
            (
                "mysql-9.7",
                "skip-host-cache",
                &["last seen in 8.0.33; write host_cache_size = 0"],
            ),
            (
                "mysql-5.5",
                "host_cache_size=100",
                &["new in 5.6.24 or shortly before"],
            ),
            (
                "mariadb-10.11",
                "gtid_mode=ON",
                &["an option of MySQL; leave it out"],
            ),
            (
                "mysql-5.6",
                "loose-gtid_mood=ON",
                &["note: loose-gtid_mood=ON"],
            ),
            (
                "mysql-5.7",
                "max_conections=5",
                &["is max_connections meant?"],
            ),
            (
                "mysql-5.6",
                "max_connections=5\nskip-name-resolve\ntx_isolation=x",
                &["write transaction_isolation"],
            ),
            ("mysql-5.6", "[client]\nno_such_option=1\n", &[]),
            (
                "percona-5.7",
                "userstat=ON\nextra_port=3307\nthread_handling=pool-of-threads\nlog_slow_verbosity=full\n\
                 innodb_track_changed_pages=1\nslow_query_log_use_global_control=all\nno_such_option=1",
                &["refused: no_such_option=1: unknown to this version"],
            ),
            (
                "percona-8.0",
                "extra_port=3307\naudit_log_policy=ALL\nwsrep_on=ON\nquery_cache_size=0\nmax_slowlog_size=1G\n\
                 innodb_kill_idle_transaction=60",
                &[
                    "refused: extra_port=3307: unknown to this version, last seen in Percona Server 5.7; leave it out: \
                     admin_port",
                    "note: audit_log_policy=ALL: not judged: an option of the plugin audit_log",
                    "note: wsrep_on=ON: not judged: an option of Percona XtraDB Cluster",
                    "refused: query_cache_size=0: unknown to this version, last seen in 5.7.22; leave it out",
                    "refused: innodb_kill_idle_transaction=60: unknown to this version, last seen in Percona Server 5.7; \
                     write kill_idle_transaction",
                ],
            ),
            (
                "mysql-8.0",
                "thread_pool_size=8\nutility_user=x",
                &[
                    "refused: thread_pool_size=8: unknown to this version, an option of MariaDB and Percona Server",
                    "refused: utility_user=x: unknown to this version, an option of Percona Server",
                ],
            ),
            (
                "mysql-8.4",
                "mysql_native_password=ON\nexpire_logs_days=3\ndefault_authentication_plugin=caching_sha2_password\n\
                 innodb_log_file_size=1G",
                &[
                    "refused: expire_logs_days=3: unknown to this version, last seen in 8.0.33; write \
                     binlog_expire_logs_seconds",
                    "refused: default_authentication_plugin=caching_sha2_password",
                ],
            ),
            (
                "mariadb-10.6",
                "binlog_expire_logs_seconds=86400\ninnodb_numa_interleave=1\ninnodb_checksums=0\nwsrep_mode=STRICT_REPLICATION",
                &["refused: innodb_checksums=0"],
            ),
            // The nearest catalogue does not refuse what it does not know.
            (
                "percona-5.6",
                "innodb_fake_changes=1\nno_such_option=1\nlog_replica_updates=1",
                &[
                    "note: innodb_fake_changes=1: unknown to the nearest version that dbdyno knows (mysql-5.6.24)",
                    "note: no_such_option=1: unknown to the nearest version that dbdyno knows (mysql-5.6.24)",
                    "note: log_replica_updates=1: unknown to the nearest version that dbdyno knows (mysql-5.6.24), new in 8.0.33 or \
                     shortly before; this version calls it log_slave_updates",
                ],
            ),
        ];
        for (target, lines, parts) in cases {
            assert_found(&RULE, target, lines, parts);
        }
    }
}
