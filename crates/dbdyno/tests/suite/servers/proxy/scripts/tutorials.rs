//! The tutorials, `tutorial-*.lua`.

use std::{process::Command, time::Duration};

use protocol::{Address, Connection, Endpoint, Value};

use super::{
    super::{ask, backend, client, free_port, listens, text_of},
    Stage, path_of, prints, quiet,
};
use crate::mariadb::PASSWORD;

/// A script, questions with their answers, and what it prints.
type Case = (
    &'static str,
    &'static [(&'static str, &'static str)],
    &'static [&'static str],
);

#[test]
fn tutorials() {
    let stage = Stage::new();
    let cases: [Case; 11] = [
        ("basic", &[("select 1", "1")], &["query: select 1\n"]),
        (
            "constants",
            &[("select 1", "1")],
            &["proxy.COM_QUERY = 3\n", "proxy.MYSQL_TYPE_STRING = 254\n"],
        ),
        (
            "rewrite",
            &[
                ("ls", "accounts"),
                ("slect 1 + 1", "2"),
                ("select 'slect'", "slect"),
            ],
            &[],
        ),
        (
            "inject",
            &[("select 5", "5"), ("set @a = 1", "")],
            &["before: 20", "after: 20"],
        ),
        ("query-time", &[("select 1", "1")], &[" us: select 1\n"]),
        (
            "monitor",
            &[("select count(*) from accounts", "3")],
            &["select count(*) from accounts\n", "  Handler_read_"],
        ),
        (
            "tokenize",
            &[("select id from accounts where id = 1", "1")],
            &[
                "1: TK_SQL_SELECT select\n",
                "normalized: SELECT `id` FROM `accounts` WHERE `id` = ? \n",
            ],
        ),
        (
            "union",
            &[
                (
                    "both select 1 as a, null",
                    "first\t1\tNULL\nsecond\t1\tNULL",
                ),
                ("select 2", "2"),
            ],
            &[],
        ),
        (
            "warnings",
            &[("select 1/0; select 1", "NULL\n1")],
            &["Warning 1365: Division by 0\n"],
        ),
        (
            "packets",
            &[("select 1", "1")],
            &["command, 9 bytes: 03 73 65", "result, 1 bytes: 01 |.|\n"],
        ),
        (
            "resultset",
            &[
                ("hello", "hello trial\t1\nwelcome\tNULL"),
                ("select 7 as a, null as b", "7\tNULL"),
                ("update accounts set balance = balance + 0", ""),
            ],
            &[
                "column 1: a, type 3\n",
                "row: 7, nil\n",
                "affected rows 0, insert id 0\n",
            ],
        ),
    ];
    for (name, questions, expected) in cases {
        let script = format!("tutorial-{name}");
        stage.dialogue(&script, questions, expected);
    }
    // The second session ends after the first one has been left.
    let expected = [
        "connect_server: client 127.0.0.1:",
        "read_handshake: version 10",
        "read_auth: user trial, database test, by mysql_native_password\n",
        "read_auth_result: first byte 0\n",
        "read_query: command 3\n",
        "read_query_result: of command 3\n",
        "disconnect_client\n",
    ];
    let questions = [("select 1", "1"), ("select 2", "2")];
    stage.dialogue("tutorial-states", &questions, &expected);
    // A session finds what an earlier one has left, once that is ready for it.
    let (mut running, port) = stage.start("tutorial-keepalive", &[]);
    let finds = running.prints("an idle connection to backend 1\n");
    running.wait_until("a session takes an idle connection", || {
        assert_eq!(ask(&stage.scene, port, "select 1"), "1");
        finds()
    });
    prints(running, &["a new connection\n"]);
}

#[test]
fn tutorials_of_logins_and_statements() {
    let stage = Stage::new();
    let by_tcp = format!("127.0.0.1:{}", stage.server.port());
    let (running, port) = stage.start(
        "tutorial-routing",
        &[format!("--proxy-backend-addresses={by_tcp}")],
    );
    for _ in 0..2 {
        assert_eq!(ask(&stage.scene, port, "select 1"), "1");
    }
    let second = format!(": backend 2, {by_tcp}\n");
    prints(running, &[": backend 1, ", &second]);

    let (running, port) = stage.start("tutorial-prep-stmts", &[]);
    let host = "127.0.0.1".to_owned();
    let address = Address::Tcp { host, port };
    let mut endpoint = Endpoint::plain(address, "trial", Duration::from_secs(20));
    endpoint.password = Some(PASSWORD.into());
    let rows = reactor::block_on(async {
        let mut connection = Connection::open(&endpoint).await?;
        let statement = connection.prepare("select ?, ?").await?;
        let values = [Value::Int(7), Value::Bytes(b"word")];
        let outcome = connection.execute(&statement, &values).await?;
        connection.close().await?;
        Ok::<_, protocol::Error>(outcome.rows)
    });
    assert_eq!(rows.unwrap().unwrap(), 1);
    let expected = [
        "prepare: select ?, ?, 2 parameters\n",
        "execute: select ?, ? (7, word)\n",
    ];
    prints(running, &expected);

    let port = free_port();
    let mut command = Command::new(env!("CARGO_BIN_EXE_dbdyno"));
    command
        .env("TUTORIAL_USER", "trial")
        .env("TUTORIAL_PASSWORD", PASSWORD);
    let script = path_of("tutorial-scramble");
    let words = [
        "proxy".to_owned(),
        backend(&stage.server),
        format!("--proxy-address=127.0.0.1:{port}"),
        format!("--proxy-lua-script={}", script.display()),
    ];
    let mut running = stage.scene.launch(command, words);
    running.wait_until("it listens", || listens(port));
    let as_app = client(
        &stage.scene,
        port,
        &["-uapp", "test", "-e", "select current_user()"],
    )
    .env("MYSQL_PWD", "app")
    .output();
    assert_eq!(text_of(as_app.unwrap()), "trial@%");
    let refused = stage.error(port, "select 1");
    assert!(refused.contains("ERROR 1045"), "{refused}");
    let finished = quiet(running);
    assert!(!finished.stderr.contains(PASSWORD));
}
