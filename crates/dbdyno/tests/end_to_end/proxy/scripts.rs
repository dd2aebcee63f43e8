//! The scripts in `crates/proxy/scripts/`, each with a real client and a real server.

use std::{
    fs,
    path::PathBuf,
    process::{Command, Stdio},
    time::Duration,
};

use protocol::{Address, Connection, Endpoint, Value};
use rustix::process::Signal;

use super::{ask, backend, client, end, free_port, listens, proxy, text_of};
use crate::{
    mariadb::{MariaDb, PASSWORD},
    scene::{Finished, Running, Scene, first_child},
};

/// A server with a table, for one script after the other.
struct Stage {
    scene: Scene,
    server: MariaDb,
}

/// A script, questions with their answers, and what it prints.
type Case = (
    &'static str,
    &'static [(&'static str, &'static str)],
    &'static [&'static str],
);

fn path_of(script: &str) -> PathBuf {
    let scripts = concat!(env!("CARGO_MANIFEST_DIR"), "/../proxy/scripts");
    PathBuf::from(scripts).join(format!("{script}.lua"))
}

/// Ends a proxy whose script must not have made a mistake; what it printed.
#[track_caller]
fn printed(running: Running) -> String {
    quiet(running).text()
}

#[track_caller]
fn quiet(running: Running) -> Finished {
    running.signal(Signal::TERM);
    let finished = running.finish();
    assert_eq!(finished.status.code(), Some(0), "{}", finished.stderr);
    assert!(
        !finished.stderr.contains("(critical)"),
        "{}",
        finished.stderr
    );
    finished
}

#[track_caller]
fn contains(printed: &str, parts: &[&str]) {
    for part in parts {
        assert!(printed.contains(part), "no {part} in:\n{printed}");
    }
}

impl Stage {
    fn new() -> Self {
        let scene = Scene::new();
        let server = MariaDb::start(&scene, &[("innodb_lock_wait_timeout", "1")]);
        for sql in [
            "create table test.accounts (id int primary key, city char(9), balance int)",
            "insert into test.accounts values (1, 'Oslo', 10), (2, 'Rome', 20), (3, 'Oslo', 30)",
        ] {
            server.rows(sql);
        }
        Self { scene, server }
    }

    /// A proxy with a script in front of the server.
    #[track_caller]
    fn start(&self, script: &str, more: &[String]) -> (Running, u16) {
        let mut words = vec![
            backend(&self.server),
            format!("--proxy-lua-script={}", path_of(script).display()),
        ];
        words.extend_from_slice(more);
        proxy(&self.scene, &words)
    }

    /// Asks through a script; what the script printed. Each question comes with its answer.
    #[track_caller]
    fn dialogue(&self, script: &str, questions: &[(&str, &str)]) -> String {
        let (running, port) = self.start(script, &[]);
        for (sql, answer) in questions {
            assert_eq!(ask(&self.scene, port, sql), *answer, "{script}: {sql}");
        }
        printed(running)
    }

    /// The error of a statement.
    #[track_caller]
    fn error(&self, port: u16, sql: &str) -> String {
        let output = client(&self.scene, port, &["test", "-e", sql]).output();
        let output = output.unwrap();
        assert!(!output.status.success(), "{sql}: {output:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    }
}

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
        contains(&stage.dialogue(&script, questions), expected);
    }
    // The second session ends after the first one has been left.
    let said = stage.dialogue("tutorial-states", &[("select 1", "1"), ("select 2", "2")]);
    let expected = [
        "connect_server: client 127.0.0.1:",
        "read_handshake: version 10",
        "read_auth: user trial, database test, by mysql_native_password\n",
        "read_auth_result: first byte 0\n",
        "read_query: command 3\n",
        "read_query_result: of command 3\n",
        "disconnect_client\n",
    ];
    contains(&said, &expected);
    // One of the sessions at least finds what an earlier one has left.
    let said = stage.dialogue("tutorial-keepalive", &[("select 1", "1"); 5]);
    contains(
        &said,
        &["a new connection\n", "an idle connection to backend 1\n"],
    );
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
    contains(&printed(running), &[": backend 1, ", &second]);

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
    contains(&printed(running), &expected);

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

#[test]
fn scripts_that_watch() {
    let stage = Stage::new();
    let said = stage.dialogue("auditing", &[("select 1", "1")]);
    contains(
        &said,
        &[
            "trial [login accepted] ",
            "[command] [COM_QUERY] select 1\n",
        ],
    );
    let said = stage.dialogue("active-queries", &[("select 1", "1")]);
    contains(
        &said,
        &["1 running, 0 idle\n", " trial test: [COM_QUERY] select 1\n"],
    );
    let counted = "test.accounts\t2\t0";
    stage.dialogue(
        "histogram",
        &[
            ("select id from accounts where id = 1", "1"),
            ("select id from accounts where id = 2", "2"),
            ("select * from histogram.tables", counted),
        ],
    );

    let options = [
        "min_queries = 6",
        "min_query_time = 0",
        "auto_explain = true",
        "auto_processlist = true",
    ];
    let mut questions: Vec<String> = options
        .iter()
        .map(|option| format!("proxy set global analyze_query.{option}"))
        .collect();
    questions.extend(vec!["select 1".to_owned(); 8]);
    // Its explanation comes before the next answer.
    questions.extend(["select 1 + sleep(0.5)", "select 1"].map(str::to_owned));
    let (running, port) = stage.start("analyze-query", &[]);
    ask(&stage.scene, port, &questions.join("; "));
    let shapes = ask(&stage.scene, port, "select * from histogram.queries");
    contains(&shapes, &["SELECT ? \t9\t"]);
    let expected = [
        "outlier: ",
        ": select 1 + sleep(0.5)\n",
        "explained\n  id=1 ",
        "connections\n  Id=",
    ];
    contains(&printed(running), &expected);

    let (running, port) = stage.start("active-transactions", &[]);
    let hold = "begin; update accounts set balance = 0 where id = 1; select sleep(60)";
    let mut holder = client(&stage.scene, port, &["test", "-e", hold])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    stage.scene.wait_until("a row is locked", || {
        let sleeping =
            "select count(*) from information_schema.processlist where info = 'select sleep(60)'";
        stage.server.rows(sleeping) == [["1"]]
    });
    let waited = stage.error(port, "begin; update accounts set balance = 9 where id = 1");
    assert!(waited.contains("ERROR 1205"), "{waited}");
    holder.kill().unwrap();
    holder.wait().unwrap();
    let expected = [
        "error 1205 in connection ",
        ": [COM_QUERY] update accounts set balance = 9 where id = 1\n",
        ", user trial\n    [COM_QUERY] begin\n    [COM_QUERY] update accounts set balance = 0 where id = 1\n",
    ];
    contains(&printed(running), &expected);
}

#[test]
fn scripts_that_change() {
    let stage = Stage::new();
    let crosstab = "1\t10\tNULL\t10\n2\tNULL\t20\t20\n3\t30\tNULL\t30";
    stage.dialogue("xtab", &[("xtab accounts id city sum balance", crosstab)]);

    let (running, port) = stage.start("commit-obfuscator", &[]);
    let change = "begin; insert into accounts values (4, 'Bern', 0); commit";
    ask(
        &stage.scene,
        port,
        "proxy set global commit_obfuscator.percent = 100",
    );
    let lost = stage.error(port, change);
    contains(
        &lost,
        &[
            "ERROR 1205 (HY000)",
            "Lock wait timeout exceeded; try restarting transaction",
        ],
    );
    ask(
        &stage.scene,
        port,
        "proxy set global commit_obfuscator.percent = 0",
    );
    ask(&stage.scene, port, change);
    assert_eq!(
        ask(&stage.scene, port, "select count(*) from accounts"),
        "4"
    );
    printed(running);

    let (running, port) = stage.start("load-multi", &[]);
    let path = path_of("tutorial-rewrite").display().to_string();
    let loaded = ask(
        &stage.scene,
        port,
        "pload tutorial-rewrite; slect 1; pload_help",
    );
    contains(
        &loaded,
        &[
            &format!("{path} loaded\n1\n"),
            &format!("\n{path} is loaded"),
        ],
    );
    assert_eq!(ask(&stage.scene, port, "slect 2"), "2");
    ask(
        &stage.scene,
        port,
        "pload tutorial-resultset; punload 'tutorial-rewrite'",
    );
    contains(&ask(&stage.scene, port, "hello"), &["hello trial"]);
    for (sql, error) in [
        ("slect 2", "ERROR 1064"),
        ("pload none", "no script none"),
        (
            "punload tutorial-rewrite",
            "script tutorial-rewrite is not loaded",
        ),
    ] {
        contains(&stage.error(port, sql), &[error]);
    }
    contains(&printed(running), &["affected rows 0, insert id 0\n"]);

    let (running, port) = stage.start("admin-sql", &[]);
    contains(&ask(&stage.scene, port, "statistics"), &["Uptime: "]);
    contains(&ask(&stage.scene, port, "procinfo"), &["trial"]);
    contains(
        &ask(&stage.scene, port, "admin help"),
        &["PING\tasks whether"],
    );
    assert_eq!(
        ask(
            &stage.scene,
            port,
            "ping; debug; setoption 0; refresh 4; select 1"
        ),
        "1"
    );
    assert_eq!(
        ask(&stage.scene, port, "initdb mysql; select database()"),
        "mysql"
    );
    contains(&stage.error(port, "time"), &["ERROR 1047"]);
    contains(&stage.error(port, "ping pong"), &["ERROR 1064"]);
    printed(running);
}

#[test]
fn scripts_that_choose_backends() {
    let stage = Stage::new();
    let reader = [format!(
        "--proxy-read-only-backend-addresses=127.0.0.1:{}",
        stage.server.port()
    )];
    for script in ["rw-splitting", "ro-pooling"] {
        let (running, port) = stage.start(script, &reader);
        for round in 1..=12 {
            let sql = "begin; update accounts set balance = balance + 1 where id = 1; commit; \
                       select max(balance) >= 30, database() from accounts";
            assert_eq!(
                ask(&stage.scene, port, sql),
                "1\ttest",
                "{script} in round {round}"
            );
        }
        printed(running);
    }
    // The server is no replica.
    let (running, port) = stage.start("ro-balance", &reader);
    contains(&stage.error(port, "select 1"), &["slave-state is noslave"]);
    assert_eq!(ask(&stage.scene, port, "select 1"), "1");
    contains(&printed(running), &["replica 2: noslave\n"]);
}

#[test]
fn a_script_that_never_returns_does_not_keep_a_guarded_proxy_alive() {
    let stage = Stage::new();
    let script = stage
        .scene
        .file("loop.lua", "function read_query() while true do end end");
    let words = [
        backend(&stage.server),
        format!("--proxy-lua-script={}", script.display()),
        "--lua-instruction-limit=0".to_owned(),
        "--keepalive".to_owned(),
    ];
    let (running, port) = proxy(&stage.scene, &words);
    let worker = first_child(running.pid());
    let mut waiting = client(&stage.scene, port, &["-e", "select 1"])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    stage.scene.wait_until("the script runs", || {
        // Its time in user mode, in hundredths of a second.
        let stat = fs::read_to_string(format!("/proc/{}/stat", worker.unwrap()));
        let stat = stat.unwrap_or_default();
        let ticks = stat
            .rsplit(") ")
            .next()
            .and_then(|rest| rest.split(' ').nth(11));
        ticks.is_some_and(|ticks| ticks.parse::<u64>().unwrap() > 50)
    });
    running.signal(Signal::TERM);
    let finished = running.finish();
    assert!(
        finished.stderr.contains("did not end within 5 s"),
        "{}",
        finished.stderr
    );
    assert!(!listens(port));
    waiting.wait().unwrap();
}

#[test]
fn the_admin_interface_has_a_script() {
    let stage = Stage::new();
    let admin = free_port();
    let (running, port) = proxy(
        &stage.scene,
        &[
            backend(&stage.server),
            "--plugins=proxy".to_owned(),
            "--plugins=admin".to_owned(),
            format!("--admin-address=127.0.0.1:{admin}"),
            "--admin-username=trial".to_owned(),
            format!("--admin-password={PASSWORD}"),
            format!("--admin-lua-script={}", path_of("admin").display()),
        ],
    );
    assert_eq!(ask(&stage.scene, port, "select 1"), "1");
    let backends = text_of(
        client(&stage.scene, admin, &["-e", "SELECT * FROM backends"])
            .output()
            .unwrap(),
    );
    let socket = stage.server.socket().display().to_string();
    assert_eq!(backends, format!("1\t{socket}\tup\trw\tNULL\t0"));
    let help = client(&stage.scene, admin, &["-e", "select * from help;"]).output();
    contains(&text_of(help.unwrap()), &["SELECT * FROM backends\tlists"]);
    let other = stage.error(admin, "select 1");
    contains(
        &other,
        &["use 'SELECT * FROM help' to see the supported commands"],
    );
    end(running);
}
