//! Files sorted into lines to test and others.

use std::path::Path;

use super::*;

fn file(lines: &str) -> OptionFile {
    let text = format!("[mysqld]\n{lines}\n");
    OptionFile::parse(&text, Path::new("my.cnf")).unwrap()
}

fn candidates(target: &str, lines: &str, base: Option<&str>, declared: &[&[&str]]) -> Candidates {
    let target = Target::parse(target).unwrap();
    let declared = declared
        .iter()
        .map(|set| set.iter().map(|name| (*name).to_owned()).collect());
    let declared: Vec<Vec<String>> = declared.collect();
    let base = base.map(file);
    let wanted = OptionSelection {
        groups: &declared,
        tested: &[],
    };
    Candidates::new(&file(lines), base.as_ref(), &target, &wanted).unwrap()
}

fn groups(candidates: &Candidates) -> Vec<String> {
    let groups = candidates.groups.iter();
    groups.map(|group| group.options.join("+")).collect()
}

#[test]
fn lines_without_possible_effect_are_not_tested() {
    let found = candidates(
        "mariadb-10.11",
        "innodb_buffer_pool_size = 1G\nport = 3307\ninnodb_flush_log_at_trx_commit = 1\nlog_error = x.log\n\
         innodb_file_format = Barracuda\nloose-no_such = 1\nsort_buffer_size = 1M\nsort_buffer_size = 512K",
        None,
        &[],
    );
    assert_eq!(
        groups(&found),
        ["innodb_buffer_pool_size", "sort_buffer_size"]
    );
    assert_eq!(found.groups[1].lines[0].value.as_deref(), Some("512K"));
    let untested: Vec<_> = found
        .untested
        .iter()
        .map(|it| (it.entry.name.base(), it.stays))
        .collect();
    let expected = [
        ("port", true),
        ("innodb_flush_log_at_trx_commit", false),
        ("log_error", true),
        ("innodb_file_format", false),
        ("no_such", true),
    ];
    assert_eq!(untested, expected);
}

/// In MariaDB, a given size of the query cache enables the cache.
#[test]
fn a_default_that_decides_another_option_is_tested() {
    let line = "query_cache_size = 1M";
    let found = candidates("mariadb-10.11", line, None, &[]);
    assert_eq!(groups(&found), ["query_cache_size"]);
    let found = candidates("mariadb-10.11", "", Some(line), &[]);
    assert_eq!(groups(&found), ["query_cache_size"]);
    let found = candidates("mariadb-10.11", line, Some(line), &[]);
    assert!(groups(&found).is_empty());
    let found = candidates("mysql-5.6", line, None, &[]);
    assert!(groups(&found).is_empty());
}

#[test]
fn options_that_need_each_other_are_one_group() {
    let lines = "query_cache_size = 64M\nsync_binlog = 1\nquery_cache_type = 1\ntmp_table_size = 64M\n\
                 long_query_time = 1\nmax_heap_table_size = 64M\nslow_query_log";
    let found = candidates("mariadb-10.11", lines, None, &[]);
    let expected = [
        "sync_binlog",
        "query_cache_size+query_cache_type",
        "tmp_table_size+max_heap_table_size",
        "long_query_time+slow_query_log",
    ];
    assert_eq!(groups(&found), expected);
    let declared: &[&[&str]] = &[&["sync-binlog", "query_cache_type"]];
    let found = candidates("mariadb-10.11", lines, None, declared);
    let joined = "sync_binlog+query_cache_size+query_cache_type".to_owned();
    assert!(groups(&found).contains(&joined), "{:?}", groups(&found));
    let target = Target::parse("mariadb-10.11").unwrap();
    let wrong = [vec![
        "sync_binlog".to_owned(),
        "innodb_io_capacity".to_owned(),
    ]];
    let wrong = OptionSelection {
        groups: &wrong,
        tested: &[],
    };
    let error = Candidates::new(&file(lines), None, &target, &wrong).unwrap_err();
    assert!(error.to_string().contains("innodb_io_capacity"), "{error}");
}

#[test]
fn files_are_put_together_from_lines_of_both() {
    let found = candidates(
        "mysql-8.0.33",
        "innodb_io_capacity = 10000\ninnodb_flush_method = O_DIRECT\nsort_buffer_size = 3M",
        Some("innodb-flush-method = o_direct\nsort_buffer_size = 4M\njoin_buffer_size = 2M"),
        &[],
    );
    let expected = ["innodb_io_capacity", "sort_buffer_size", "join_buffer_size"];
    assert_eq!(groups(&found), expected);
    let text = |present: &[usize]| {
        let present = present.iter().copied().collect();
        found.with(&present).unwrap().to_string()
    };
    let whole = "[mysqld]\ninnodb_flush_method = O_DIRECT\ninnodb_io_capacity = 10000\nsort_buffer_size = 3M\n";
    assert_eq!(text(&[0, 1, 2]), whole);
    let base =
        "[mysqld]\ninnodb_flush_method = O_DIRECT\nsort_buffer_size = 4M\njoin_buffer_size = 2M\n";
    assert_eq!(text(&[]), base);
}

#[test]
fn data_is_shared_unless_its_form_is_tested() {
    let shapes = |target: &str, lines: &str| {
        candidates(target, lines, None, &[]).shape_data(&Target::parse(target).unwrap())
    };
    assert!(!shapes(
        "mariadb-10.11",
        "innodb_buffer_pool_size = 1G\ninnodb_log_file_size = 1G"
    ));
    assert!(shapes("mariadb-10.11", "innodb_file_per_table = 0"));
    assert!(shapes("mysql-5.5", "innodb_log_file_size = 1G"));
    assert!(shapes("mysql-5.7", "default_storage_engine = MyISAM"));
}

#[test]
fn lines_about_something_else_than_speed_stay_untested_beside_what_is_tested() {
    let kept = [
        "sql_mode = ANSI",
        "log_bin = /var/log/mysql/bin",
        "log_slave_updates = 1",
        "server_id = 7",
        "binlog_format = ROW",
        "expire_logs_days = 3",
        "transaction_isolation = READ-COMMITTED",
        "character_set_server = utf8mb3",
        "collation_server = utf8mb3_bin",
        "default_time_zone = +00:00",
        "max_connections = 500",
        "max_allowed_packet = 64M",
        "event_scheduler = ON",
        "skip_name_resolve",
        "wait_timeout = 600",
        "interactive_timeout = 600",
        "lock_wait_timeout = 60",
        "net_read_timeout = 40",
    ];
    let unmeasured = [
        "read_only = 1",
        "lower_case_table_names = 1",
        "local_infile = 0",
        "secure_file_priv = /tmp",
        "loose_audit_thing = 1",
    ];
    let lines = [&kept[..], &unmeasured, &["sort_buffer_size = 1M"]].concat();
    for target in ["mariadb-10.11", "mysql-5.7"] {
        let found = candidates(target, &lines.join("\n"), None, &[]);
        assert_eq!(groups(&found), ["sort_buffer_size"], "{target}");
        assert_eq!(found.untested.len(), lines.len() - 1);
        assert!(
            found.untested.iter().all(|it| it.stays),
            "{target}: {found:?}"
        );
        // The base has them too, so that only what is tested differs.
        let base = found.with(&BTreeSet::new()).unwrap().to_string();
        for line in kept {
            assert!(base.contains(line), "{target}: {line}: {base}");
        }
        for line in unmeasured {
            assert!(!base.contains(line), "{target}: {line}: {base}");
        }
    }
}

#[test]
fn a_line_about_something_else_is_tested_where_it_is_asked_for() {
    let target = Target::parse("mariadb-10.11").unwrap();
    let ask = |name: &str, lines: &str| {
        let tested = [name.to_owned()];
        let wanted = OptionSelection {
            groups: &[],
            tested: &tested,
        };
        Candidates::new(&file(lines), None, &target, &wanted)
    };
    let lines = "max_connections = 500\nwait_timeout = 600\nport = 3307";
    assert_eq!(
        groups(&ask("max-connections", lines).unwrap()),
        ["max_connections"]
    );
    assert!(ask("port", lines).is_err());
    assert!(ask("sql_mode", lines).is_err());
}

#[test]
fn gtids_and_their_log_are_in_every_measured_file() {
    let lines = "log_bin = binlog\nserver_id = 7\nbinlog_format = ROW\ngtid_mode = ON\nenforce_gtid_consistency = ON\n\
                 log_slave_updates = 1\nsort_buffer_size = 3M";
    let mut found = candidates("mysql-5.6", lines, None, &[]);
    found
        .join_dependent(&Target::parse("mysql-5.6").unwrap())
        .unwrap();
    assert_eq!(groups(&found), ["sort_buffer_size"]);
    let base = found.with(&BTreeSet::new()).unwrap().to_string();
    assert!(
        base.contains("gtid_mode = ON") && base.contains("log_bin = binlog"),
        "{base}"
    );
}

#[test]
fn what_the_server_refuses_alone_is_joined() {
    let lines = "log_bin = binlog\nserver_id = 7\ngtid_mode = ON\nenforce_gtid_consistency = ON\n\
                 log_slave_updates = 1\nsort_buffer_size = 3M";
    let tested = ["gtid_mode", "log_bin", "log_slave_updates"].map(str::to_owned);
    let wanted = OptionSelection {
        groups: &[],
        tested: &tested,
    };
    let target = Target::parse("mysql-5.6").unwrap();
    let mut found = Candidates::new(&file(lines), None, &target, &wanted).unwrap();
    found.join_dependent(&target).unwrap();
    let groups = groups(&found);
    let of_gtid = groups
        .iter()
        .find(|group| group.contains("gtid_mode"))
        .unwrap();
    assert!(of_gtid.contains("log_bin"), "{groups:?}");
    assert!(
        groups.contains(&"sort_buffer_size".to_owned()),
        "{groups:?}"
    );
}
