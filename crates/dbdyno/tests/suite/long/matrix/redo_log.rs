//! The disabled redo log: detected, enabled before a stop, and its data loss after a crash reported.

use std::{
    fs,
    os::unix::fs::symlink,
    process::{Command, Output},
};

use server::{Error, Lifetime};

use crate::long::matrix::{results::Cell, subject::Subject};

const SWITCH_OFF: &str = "ALTER INSTANCE DISABLE INNODB REDO_LOG";

/// Kills the server from outside; it is lost for later checks.
fn kill(pid: u32) {
    let status = Command::new("kill")
        .args(["-KILL", &pid.to_string()])
        .status();
    assert!(status.unwrap().success());
}

/// Runs `dbdyno server ACTION` on this server, under a name in a separate directory of names.
fn dbdyno_server(subject: &mut Subject, action: &str) -> Output {
    let home = subject.directory().join("home");
    let servers = home.join("dbdyno/servers");
    if !servers.exists() {
        fs::create_dir_all(&servers).unwrap();
        symlink(subject.server().dir(), servers.join("it")).unwrap();
    }
    let output = Command::new(env!("CARGO_BIN_EXE_dbdyno"))
        .args(["server", action, "it"])
        .env("XDG_DATA_HOME", home)
        .output()
        .unwrap();
    assert!(output.status.success(), "{action}: {output:?}");
    output
}

/// A stop enables a disabled redo log. A server that was killed without it is reported as lost.
pub(crate) fn switched_off(subject: &mut Subject) -> Cell {
    assert!(!subject.server().redo_log_is_off());
    if subject.status("Innodb_redo_log_enabled").is_empty() {
        return Cell::Skipped("the version cannot switch its redo log off".to_owned());
    }
    subject.run(&[SWITCH_OFF]);
    assert!(subject.server().redo_log_is_off());
    let error = subject.server().kill().unwrap_err();
    assert!(matches!(error, Error::RedoLogOff { .. }), "{error}");
    assert!(subject.server().is_running());
    let status = dbdyno_server(subject, "status");
    let status = String::from_utf8_lossy(&status.stdout).into_owned();
    assert!(status.contains("switched off"), "{status}");

    let stopped = dbdyno_server(subject, "stop");
    let told = String::from_utf8_lossy(&stopped.stderr).into_owned();
    assert!(told.contains("it is on now"), "{told}");
    subject.server().start(Lifetime::Owned).unwrap();
    assert!(!subject.server().redo_log_is_off());
    assert_eq!(subject.status("Innodb_redo_log_enabled"), "ON");

    subject.run(&[SWITCH_OFF]);
    kill(subject.server().pid().unwrap());
    let error = subject.server().start(Lifetime::Owned).unwrap_err();
    let hint = error.hint().unwrap_or_default();
    assert!(hint.contains("its data is lost"), "{error}\n{hint}");
    assert!(!subject.server().is_running());
    Cell::Ok
}
