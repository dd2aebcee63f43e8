//! Test of each server generation, from the outside: the behaviour that dbdyno depends on.
//!
//! With `DBDYNO_MATRIX=1` all versions installed by `dbdyno server install` are tested, and their number must suffice;
//! without it one MariaDB and, if installed, one MySQL. `DBDYNO_MATRIX_ONLY=proxy` runs the checks with that text in their
//! names, `DBDYNO_MATRIX_VERSION='mysql 8'` tests the versions with that text in theirs. The test prints a table of checks
//! by versions, which `cargo test -p dbdyno --test suite long::matrix -- --ignored --nocapture` shows.

mod accounts;
mod activity;
mod advise;
mod certificates;
mod checks;
mod compression;
mod config;
mod experiment;
mod life;
mod logins;
mod options;
mod privacy;
mod prove;
mod proxy;
mod redo_log;
mod results;
mod sql_compare;
mod statements;
mod subject;
mod tls;
mod versions;

use std::panic::{self, AssertUnwindSafe};

use subject::Subject;

use self::results::{Cell, Results};

#[test]
#[ignore = "a long round: make test-all"]
fn every_version_does_what_a_benchmark_needs() {
    let full = std::env::var_os("DBDYNO_MATRIX").is_some_and(|value| value == "1");
    let only = std::env::var("DBDYNO_MATRIX_ONLY").ok();
    let only_version = std::env::var("DBDYNO_MATRIX_VERSION").unwrap_or_default();
    let mut results = Results::new(checks::names());
    for version in versions::to_test(full) {
        if !version.label.contains(&only_version) {
            continue;
        }
        let mut cells = Vec::new();
        let label = version.label.clone();
        let made = panic::catch_unwind(|| Subject::start(version));
        match made {
            Err(_) => cells.push(Cell::Failed),
            Ok(mut subject) => {
                for check in checks::ALL {
                    if only.as_ref().is_some_and(|only| !check.name.contains(only)) {
                        cells.push(Cell::Skipped("not asked for".to_owned()));
                        continue;
                    }
                    let run = AssertUnwindSafe(|| (check.run)(&mut subject));
                    let cell = panic::catch_unwind(run).unwrap_or(Cell::Failed);
                    cells.push(cell);
                }
            }
        }
        results.add(label, cells);
    }
    eprintln!("{results}");
    results.must_be_good();
    if full && only.is_none() && only_version.is_empty() {
        versions::must_be_enough(&results.versions());
        results.every_check_must_apply_somewhere();
    }
}
