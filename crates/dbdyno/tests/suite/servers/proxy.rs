//! `mysql-proxy`: what its tests share.

use std::{
    net::{TcpListener, TcpStream},
    process::{Command, Output},
};

use rustix::process::Signal;

use crate::{
    mariadb::{MariaDb, PASSWORD},
    scene::{PATIENCE, Running, Scene},
};

mod account;
mod contest;
mod experiment;
mod program;
mod relayed;
mod rewrite;
mod scripts;
mod secure;

/// Passes until every query has met the query cache: one that waits 50 ms for its lock, as on a busy machine, continues
/// without it.
const PASSES_AT_MOST: usize = 10;

/// A port that was free just now.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

fn listens(port: u16) -> bool {
    TcpStream::connect(("127.0.0.1", port)).is_ok()
}

/// A proxy that listens; the arguments complete the address.
pub(super) fn proxy(scene: &Scene, arguments: &[String]) -> (Running, u16) {
    let port = free_port();
    let mut words = vec![
        "proxy".to_owned(),
        format!("--proxy-address=127.0.0.1:{port}"),
        "--log-level=message".to_owned(),
    ];
    words.extend_from_slice(arguments);
    let mut running = scene.start(words);
    running.wait_until("it listens", || listens(port));
    (running, port)
}

pub(super) fn backend(server: &MariaDb) -> String {
    format!("--proxy-backend-addresses={}", server.socket().display())
}

/// The command line client, logged in through the proxy.
fn client(scene: &Scene, port: u16, arguments: &[&str]) -> Command {
    let mut command = Command::new("mariadb");
    command
        .args([
            "--no-defaults",
            "--skip-ssl",
            "-h127.0.0.1",
            "-utrial",
            "-N",
        ])
        // Its own limit is 10 s.
        .arg(format!("--connect-timeout={}", PATIENCE.as_secs()))
        .arg(format!("-P{port}"))
        .args(arguments)
        .env("MYSQL_PWD", PASSWORD)
        .current_dir(scene.path());
    command
}

#[track_caller]
fn text_of(output: Output) -> String {
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{error}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

#[track_caller]
fn ask(scene: &Scene, port: u16, sql: &str) -> String {
    text_of(client(scene, port, &["test", "-e", sql]).output().unwrap())
}

/// Ends a proxy as a user does.
#[track_caller]
pub(super) fn end(running: Running) {
    running.signal(Signal::TERM);
    let finished = running.finish();
    assert_eq!(finished.status.code(), Some(0), "{}", finished.stderr);
}
