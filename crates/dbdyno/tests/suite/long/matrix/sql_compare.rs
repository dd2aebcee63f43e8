//! `dbdyno sql compare` of two versions, on new servers with the data of a file.

use serde_json::Value;

use crate::long::matrix::{
    results::Cell,
    subject::{Subject, dbdyno},
};

const SETUP: &str = "create table item (id int primary key auto_increment, price int not null, kind int not null) engine=InnoDB;\n\
                     insert into item (price, kind) values (1, 1), (2, 1), (3, 2), (4, 2), (5, 3), (6, 3), (7, 4), (8, 4);\n\
                     insert into item (price, kind) select a.price + b.price, a.kind from item a, item b, item c;\n";
const STATEMENTS: &str = "select /* Q1 */ count(*) from item where price = 7;\n\
                          select /* Q2 */ kind, sum(price) from item group by kind order by kind;\n\
                          update /* U1 */ item set price = price + 1 where id < 50;\n";
/// The version that each is compared with.
const BASELINE: &str = "mariadb";

/// Both give the same results, and what versions count differently is no reason.
pub(crate) fn versions(subject: &mut Subject) -> Cell {
    let name = subject.version.name.clone();
    if name == BASELINE {
        return Cell::Skipped("compared with itself".to_owned());
    }
    for (file, text) in [("setup.sql", SETUP), ("q.sql", STATEMENTS)] {
        std::fs::write(subject.directory().join(file), text).unwrap();
    }
    let run = format!("{BASELINE},{name}");
    let arguments = [
        "sql",
        "compare",
        "q.sql",
        "--setup",
        "setup.sql",
        "--database",
        "shop",
    ];
    let output = dbdyno(subject.directory())
        .args(arguments)
        .args([
            "--run", &run, "--runs", "3", "--budget", "20s", "--format", "json",
        ])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let versions = &found["server_versions"];
    assert!(versions[BASELINE] != versions[&name], "{versions}");
    let comparisons = found["comparisons"].as_array().unwrap();
    assert_eq!(comparisons.len(), 3);
    for comparison in comparisons {
        assert_eq!(comparison["result"], "same", "{comparison}");
        assert!(comparison["ratio"].as_f64() > Some(0.0), "{comparison}");
        let reason = comparison["reason"].as_str().unwrap();
        assert!(!reason.contains("pages looked up"), "{reason}");
        let changes = comparison["plan_changes_in_words"].to_string();
        assert!(
            !changes.contains("new: ") && !changes.contains("gone: "),
            "{changes}"
        );
    }
    let servers = subject.directory().join("data/dbdyno/servers");
    let left = std::fs::read_dir(servers).map_or(0, Iterator::count);
    assert_eq!(left, 0, "no server is left");
    Cell::Ok
}
