//! What a move between the families says of fractional seconds.

use std::path::Path;

use mycnf::{OptionFile, Target, migrate};

/// MariaDB cuts surplus digits of fractional seconds off, and MySQL rounds them.
#[test]
fn fractional_seconds_are_noted_once_between_the_families() {
    let notes = |lines: &str, from: &str, to: &str| -> Vec<String> {
        let text = format!("[mysqld]\n{lines}");
        let path = Path::new("my.cnf");
        let file = OptionFile::parse(&text, path).unwrap();
        let [from, to] = [from, to].map(|it| Target::parse(it).unwrap());
        migrate(&file, path, text.as_bytes(), &from, &to, &[]).notes
    };
    for (from, to, expected) in [
        (
            "mariadb-10.11",
            "mysql-8.0.33",
            "surplus digits of fractional seconds: mariadb-10.11 cuts them off, mysql-8.0.33 rounds; to keep the old \
             results, add TIME_TRUNCATE_FRACTIONAL to sql_mode",
        ),
        (
            "mariadb-10.11",
            "mysql-5.7",
            "surplus digits of fractional seconds: mariadb-10.11 cuts them off, mysql-5.7 rounds; mysql-5.7 has no SQL \
             mode for the old results",
        ),
        (
            "mysql-8.0.33",
            "mariadb-10.11",
            "surplus digits of fractional seconds: mysql-8.0.33 rounds, mariadb-10.11 cuts them off; to keep the old \
             results, add TIME_ROUND_FRACTIONAL to sql_mode",
        ),
    ] {
        // Of several instances once.
        let lines = "port=3306\n[mysqld1]\nport=3307\n[mysqld2]\nport=3308\n";
        assert_eq!(notes(lines, from, to), [expected]);
    }
    let none: [String; 0] = [];
    assert_eq!(notes("", "mysql-5.7", "mysql-8.0.33"), none);
    // MySQL 5.5 has no fractional seconds.
    assert_eq!(notes("", "mysql-5.5", "mariadb-10.11"), none);
    // A mode of the file makes both the same.
    let cutting = "sql_mode=STRICT_ALL_TABLES,TIME_TRUNCATE_FRACTIONAL\n";
    assert_eq!(notes(cutting, "mysql-8.0.33", "mariadb-10.11"), none);
    let rounding = "sql_mode=STRICT_ALL_TABLES,time_round_fractional\n";
    assert_eq!(notes(rounding, "mariadb-10.11", "mysql-8.0.33"), none);
}
