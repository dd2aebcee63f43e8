//! Option files that `dbdyno config` moves and makes: the version accepts them, and starts.

use std::fs;
use std::process::Output;

use crate::long::matrix::{
    results::Cell,
    subject::{Subject, dbdyno},
};

const DOCUMENTS: [(&str, &str, &str); 3] = [
    (
        "000",
        "mysql-5.6",
        include_str!("../../../../../mycnf/fixtures/document_000.cnf"),
    ),
    (
        "004-full",
        "mysql-5.5",
        include_str!("../../../../../mycnf/fixtures/document_004_full.cnf"),
    ),
    (
        "004-simple",
        "mysql-5.5",
        include_str!("../../../../../mycnf/fixtures/document_004_simple.cnf"),
    ),
];

/// Runs dbdyno in the directory of the subject; it must succeed.
#[track_caller]
fn succeed(subject: &Subject, arguments: &[&str]) -> Output {
    let output = dbdyno(subject.directory())
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    output
}

/// The name of the version in `--for` and `--to`.
fn target(subject: &Subject) -> String {
    let family = if subject.is_mariadb() {
        "mariadb"
    } else {
        "mysql"
    };
    format!("{family}-{}", subject.number())
}

/// Creates and starts a server with an option file. Buffer pools of production do not fit here.
#[track_caller]
fn starts(subject: &Subject, cnf: &str) {
    let version = subject.version.name.clone();
    let create = ["server", "create", "moved", "--run", &version, "--cnf", cnf];
    succeed(
        subject,
        &[&create[..], &["--set", "innodb_buffer_pool_size=64M"]].concat(),
    );
    succeed(subject, &["server", "destroy", "moved"]);
}

/// The files of documents 000 and 004, moved to this version, start on it.
pub(crate) fn moved(subject: &mut Subject) -> Cell {
    for (name, from, text) in DOCUMENTS {
        let (old, new) = (format!("{name}.cnf"), format!("{name}-new.cnf"));
        fs::write(subject.directory().join(&old), text).unwrap();
        let to = target(subject);
        let moved = succeed(
            subject,
            &[
                "config", "migrate", &old, "--from", from, "--to", &to, "--output", &new,
            ],
        );
        let said = String::from_utf8_lossy(&moved.stdout);
        assert!(said.contains(", started here"), "{said}");
        starts(subject, &new);
    }
    Cell::Ok
}

/// A made file has no finding, neither by the catalogue nor by the version's own validator, and starts.
pub(crate) fn made(subject: &mut Subject) -> Cell {
    let to = target(subject);
    let wish = [
        "--memory",
        "2G",
        "--disk-iops",
        "3000",
        "--workload",
        "mixed",
        "--connections",
        "100",
    ];
    let generate = ["config", "generate", "--for", &to, "--output", "made.cnf"];
    succeed(subject, &[&generate[..], &wish].concat());
    succeed(
        subject,
        &[
            "config",
            "lint",
            "made.cnf",
            "--for",
            &to,
            "--memory",
            "2G",
            "--fail-if",
            "note",
        ],
    );
    starts(subject, "made.cnf");
    Cell::Ok
}
