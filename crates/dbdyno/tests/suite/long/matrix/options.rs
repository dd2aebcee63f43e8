//! A my.cnf that the version would refuse: every wrong line is reported before a server is created.

use std::fs;

use crate::long::matrix::{
    results::Cell,
    subject::{Subject, dbdyno},
};

/// An option of the family that this version no longer has.
fn removed(subject: &Subject) -> &'static str {
    let numbers = subject.numbers();
    match (subject.is_mariadb(), numbers.as_slice()) {
        (true, _) | (false, [5, 7, ..]) => "innodb_additional_mem_pool_size=20M",
        (false, [5, 6, ..]) => "table_cache=512",
        (false, [5, ..]) => "bdb_cache_size=8M",
        (false, _) => "query_cache_size=64M",
    }
}

/// Checks that the text contains each wrong line with its number, and no valid line.
#[track_caller]
fn names_all(text: &[u8], removed: &str) {
    let text = String::from_utf8_lossy(text);
    for (line, option) in [
        (3, "no_such_option=1"),
        (4, "sort_buffer_size=2X"),
        (5, removed),
    ] {
        let named = format!("wrong.cnf line {line}: {option}: ");
        assert!(text.contains(&named), "no {named:?} in {text}");
    }
    assert!(!text.contains("max_connections"), "{text}");
}

/// `dbdyno server check` and `dbdyno run` refuse a wrong name, a wrong unit and a removed option, all at once; valid
/// options pass.
pub(crate) fn refused(subject: &mut Subject) -> Cell {
    let directory = subject.directory();
    let (name, removed) = (subject.version.name.as_str(), removed(subject));
    let right = "[mysqld]\nmax_connections=100\n";
    let wrong = format!("{right}no_such_option=1\nsort_buffer_size=2X\n{removed}\n");
    fs::write(directory.join("right.cnf"), right).unwrap();
    fs::write(directory.join("wrong.cnf"), wrong).unwrap();

    let dbdyno = |arguments: &[&str]| dbdyno(directory).args(arguments).output().unwrap();
    let check = |cnf| dbdyno(&["server", "check", "--run", name, "--cnf", cnf]);
    let passed = check("right.cnf");
    assert!(passed.status.success(), "{passed:?}");
    let refused = check("wrong.cnf");
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    names_all(&refused.stdout, removed);

    let text = format!(
        "format = 1\nseed = 3\n[server]\nrun = \"{name}\"\ncnf = [\"wrong.cnf\"]\n\
         [load]\nsmack = \"hp-sizing.smack\"\nmix = \"1:1\"\nconnections = 1\nduration = \"2s\"\n"
    );
    fs::write(directory.join("wrong.toml"), text).unwrap();
    fs::write(
        directory.join("hp-sizing.smack"),
        crate::long::matrix::experiment::SMACK,
    )
    .unwrap();
    let refused = dbdyno(&["run", "wrong.toml", "--results", "wrong"]);
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    names_all(&refused.stderr, removed);
    Cell::Ok
}
