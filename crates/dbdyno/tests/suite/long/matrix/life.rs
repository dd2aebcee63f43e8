//! The life of a server, from the greeting to its removal.

use std::path::Path;

use protocol::SslMode;
use server::Lifetime;

use crate::long::matrix::{
    results::Cell,
    subject::{Subject, on, rows},
};

/// The greeting contains the version, and the bench account can log in over socket and TCP.
pub(crate) fn greeting(subject: &mut Subject) -> Cell {
    for endpoint in [subject.by_socket(), subject.by_tcp(SslMode::Disabled)] {
        let (greeted, answered) = on(&endpoint, async |connection| {
            let greeted = connection.server_version().to_owned();
            let mut sets = connection.rows("SELECT VERSION()").await?;
            let answered = sets.remove(0).rows.remove(0).remove(0).unwrap();
            Ok((greeted, String::from_utf8(answered).unwrap()))
        })
        .unwrap();
        assert_eq!(greeted, answered);
        let number = subject.number();
        assert!(greeted.starts_with(number), "{greeted} is no {number}");
    }
    Cell::Ok
}

/// A host without any permitted account gets an error in place of the greeting.
pub(crate) fn refusal(subject: &mut Subject) -> Cell {
    let tcp = subject.by_tcp(SslMode::Preferred);
    let rename = |from, to| {
        let rename = format!("RENAME USER bench@{from} TO bench@{to}");
        // Otherwise the server would still allow every host from its cache.
        subject.run(&[&rename, "FLUSH PRIVILEGES"]);
    };
    rename("'%'", "localhost");
    let refused = rows(&tcp, "SELECT 1");
    rename("localhost", "'%'");
    let error = refused.unwrap_err();
    assert_eq!(error.server_number(), Some(1130), "{error}");
    assert!(error.hint().is_some(), "{error}");
    assert!(rows(&tcp, "SELECT 1").is_ok());
    Cell::Ok
}

/// Rows survive a stop and a crash.
pub(crate) fn restart_stop_kill(subject: &mut Subject) -> Cell {
    subject.run(&[
        "CREATE TABLE test.kept (n INT) ENGINE=InnoDB",
        "INSERT INTO test.kept VALUES (7)",
    ]);
    let first = subject.server().pid().unwrap();
    subject.server().stop().unwrap();
    assert!(!subject.server().is_running());
    assert!(rows(&subject.by_socket(), "SELECT 1").is_err());
    subject.server().start(Lifetime::Owned).unwrap();
    assert_ne!(subject.server().pid(), Some(first));
    assert_eq!(subject.rows("SELECT n FROM test.kept"), [["7"]]);

    subject.server().kill().unwrap();
    assert!(!subject.server().is_running());
    subject.server().start(Lifetime::Owned).unwrap();
    assert_eq!(subject.rows("SELECT n FROM test.kept"), [["7"]]);
    Cell::Ok
}

/// A destroyed server leaves no files, whether it was running or not.
pub(crate) fn destroy(subject: &mut Subject) -> Cell {
    let server = subject.server.take().expect("it was not destroyed yet");
    let (pid, directory) = (server.pid(), server.dir().to_owned());
    server.destroy().unwrap();
    assert!(!directory.exists());
    if let Some(pid) = pid {
        assert!(!Path::new(&format!("/proc/{pid}")).exists());
    }
    Cell::Ok
}
