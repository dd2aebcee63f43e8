//! The scripts in `crates/proxy/scripts/`, each with a real client and a real server.

use std::{fs, path::PathBuf, process::Stdio};

use rustix::process::Signal;

use super::{ask, backend, client, end, free_port, listens, proxy, text_of};
use crate::{
    mariadb::{MariaDb, PASSWORD},
    scene::{Finished, Running, Scene, first_child, wait_until},
};

mod tutorials;

/// A server with a table, for one script after the other.
struct Stage {
    scene: Scene,
    server: MariaDb,
}

fn path_of(script: &str) -> PathBuf {
    let scripts = concat!(env!("CARGO_MANIFEST_DIR"), "/../proxy/scripts");
    PathBuf::from(scripts).join(format!("{script}.lua"))
}

/// Ends a proxy once its script has printed all of this: what a script does about an answer comes after the client has it.
#[track_caller]
fn prints(mut running: Running, parts: &[&str]) {
    for part in parts {
        running.wait_until_it_prints(part);
    }
    quiet(running);
}

/// Ends a proxy whose script must not have made a mistake.
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
        let scene = Scene::for_servers();
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

    /// Asks through a script, which prints this. Each question comes with its answer.
    #[track_caller]
    fn dialogue(&self, script: &str, questions: &[(&str, &str)], expected: &[&str]) {
        let (running, port) = self.start(script, &[]);
        for (sql, answer) in questions {
            assert_eq!(ask(&self.scene, port, sql), *answer, "{script}: {sql}");
        }
        prints(running, expected);
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
fn scripts_that_watch() {
    let stage = Stage::new();
    stage.dialogue(
        "auditing",
        &[("select 1", "1")],
        &[
            "trial [login accepted] ",
            "[command] [COM_QUERY] select 1\n",
        ],
    );
    stage.dialogue(
        "active-queries",
        &[("select 1", "1")],
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
        &[],
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
    prints(running, &expected);

    let (running, port) = stage.start("active-transactions", &[]);
    let hold = "begin; update accounts set balance = 0 where id = 1; select sleep(60)";
    let mut holder = client(&stage.scene, port, &["test", "-e", hold])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_until("a row is locked", || {
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
    prints(running, &expected);
}

#[test]
fn scripts_that_change() {
    let stage = Stage::new();
    let crosstab = "1\t10\tNULL\t10\n2\tNULL\t20\t20\n3\t30\tNULL\t30";
    let questions = [("xtab accounts id city sum balance", crosstab)];
    stage.dialogue("xtab", &questions, &[]);

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
    quiet(running);

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
    prints(running, &["affected rows 0, insert id 0\n"]);

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
    quiet(running);
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
        quiet(running);
    }
    // The server is no replica.
    let (running, port) = stage.start("ro-balance", &reader);
    contains(&stage.error(port, "select 1"), &["slave-state is noslave"]);
    assert_eq!(ask(&stage.scene, port, "select 1"), "1");
    prints(running, &["replica 2: noslave\n"]);
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
    wait_until("the script runs", || {
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
    let backends = || {
        let asked = ["-e", "SELECT * FROM backends"];
        text_of(client(&stage.scene, admin, &asked).output().unwrap())
    };
    let socket = stage.server.socket().display().to_string();
    let expected = format!("1\t{socket}\tup\trw\tNULL\t0");
    wait_until("the client has left", || backends() == expected);
    let help = client(&stage.scene, admin, &["-e", "select * from help;"]).output();
    contains(&text_of(help.unwrap()), &["SELECT * FROM backends\tlists"]);
    let other = stage.error(admin, "select 1");
    contains(
        &other,
        &["use 'SELECT * FROM help' to see the supported commands"],
    );
    end(running);
}
