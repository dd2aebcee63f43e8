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
    Candidates::new(&file(lines), base.as_ref(), &target, &declared).unwrap()
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
         innodb_file_format = Barracuda\nloose-no_such = 1\nmax_connections = 10\nmax_connections = 500",
        None,
        &[],
    );
    assert_eq!(
        groups(&found),
        ["innodb_buffer_pool_size", "max_connections"]
    );
    assert_eq!(found.groups[1].lines[0].value.as_deref(), Some("500"));
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
        ("no_such", false),
    ];
    assert_eq!(untested, expected);
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
    let error = Candidates::new(&file(lines), None, &target, &wrong).unwrap_err();
    assert!(error.to_string().contains("innodb_io_capacity"), "{error}");
}

#[test]
fn files_are_put_together_from_lines_of_both() {
    let found = candidates(
        "mysql-8.0.33",
        "innodb_io_capacity = 10000\ninnodb_flush_method = O_DIRECT\nmax_connections = 300",
        Some("innodb-flush-method = o_direct\nmax_connections = 200\nsort_buffer_size = 2M"),
        &[],
    );
    let expected = ["innodb_io_capacity", "max_connections", "sort_buffer_size"];
    assert_eq!(groups(&found), expected);
    let text = |present: &[usize]| {
        let present = present.iter().copied().collect();
        found.with(&present).unwrap().to_string()
    };
    let whole = "[mysqld]\ninnodb_flush_method = O_DIRECT\ninnodb_io_capacity = 10000\nmax_connections = 300\n";
    assert_eq!(text(&[0, 1, 2]), whole);
    let base =
        "[mysqld]\ninnodb_flush_method = O_DIRECT\nmax_connections = 200\nsort_buffer_size = 2M\n";
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
    assert!(shapes("mysql-5.7", "character_set_server = utf8mb4"));
}

#[test]
fn what_the_server_refuses_alone_is_joined() {
    let lines = "log_bin = binlog\nserver_id = 7\nbinlog_format = ROW\ngtid_mode = ON\nenforce_gtid_consistency = ON\n\
                 log_slave_updates = 1\nmax_connections = 300";
    let mut found = candidates("mysql-5.6", lines, None, &[]);
    found
        .join_dependent(&Target::parse("mysql-5.6").unwrap())
        .unwrap();
    let groups = groups(&found);
    let of_gtid = groups
        .iter()
        .find(|group| group.contains("gtid_mode"))
        .unwrap();
    assert!(of_gtid.contains("log_bin"), "{groups:?}");
    assert!(groups.contains(&"max_connections".to_owned()), "{groups:?}");
}
