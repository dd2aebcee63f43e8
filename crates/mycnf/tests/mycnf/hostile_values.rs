//! Values that no reader expects: every rule and every rewrite takes them, and none ends in a panic.

use std::fmt::Write as _;
use std::path::Path;

use mycnf::{Machine, OptionFile, Side, Target, explained_names, lint, migrate, rewritten_text};

const VALUES: [&str; 10] = [
    "",
    "-1",
    "99999999999999999999999999999999999999",
    "-99999999999999999999999999999999999999",
    "18446744073709551615",
    "16383P",
    "9E",
    "\u{e9}\u{4e2d}",
    ",,,=,",
    "'",
];

/// All explained options with one value, and a line without any.
fn file(value: &str) -> String {
    let mut text = "[mysqld]\n".to_owned();
    for name in explained_names() {
        writeln!(text, "{name} = {value}").unwrap();
    }
    for name in [
        "skip-",
        "loose-",
        "expire_logs_days",
        "log_slow_queries",
        "innodb_redo_log_capacity",
    ] {
        writeln!(text, "{name}\nskip-{name}\n{name} = {value}").unwrap();
    }
    text
}

#[test]
fn extreme_values_are_judged_and_moved() {
    let path = Path::new("my.cnf");
    let machine = Machine {
        memory_bytes: Some(u64::MAX),
        cpus: Some(usize::MAX),
        disk_bytes: Some(1),
        file_system: Some("tmpfs".to_owned()),
    };
    for value in VALUES {
        let text = file(value);
        let file = OptionFile::parse(&text, path).unwrap();
        // The oldest and newest of both families.
        for target in ["mysql-5.5", "mysql-9.7", "mariadb-10.2", "mariadb-11.8"] {
            let target = Target::parse(target).unwrap();
            let found = lint(&file, &target, &machine);
            assert!(!found.advice.is_empty(), "{target}: {value}");
            assert!(!Side::of_file(&file, &target).set.is_empty());
            let from = Target::parse("mysql-5.6").unwrap();
            let moved = migrate(&file, path, text.as_bytes(), &from, &target, &[]);
            let new = rewritten_text(text.as_bytes(), &moved.edits);
            OptionFile::parse(std::str::from_utf8(&new).unwrap(), path).unwrap();
        }
    }
}
