//! `--rewrite` and `--metrics-address`: each rule seen by the command line client, and what the proxy counted.

use std::{
    fs,
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    process::Output,
    time::Duration,
};

use serde_json::Value;

use super::{ask, backend, client, end, free_port, proxy, text_of};
use crate::{
    mariadb::{MariaDb, PASSWORD},
    scene::{Running, Scene, wait_until},
};

/// The body at a path.
#[track_caller]
fn fetch(port: u16, path: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: localhost\r\nAccept: application/openmetrics-text\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    let (head, body) = response.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200"), "{response}");
    body.to_owned()
}

fn counts(port: u16) -> Value {
    serde_json::from_str(&fetch(port, "/metrics.json")).unwrap()
}

/// The figure of an entry of a list, found by the values of its fields; 0 without the entry.
fn figure(counts: &Value, list: &str, fields: &[(&str, &str)], name: &str) -> u64 {
    let entries = counts[list].as_array().unwrap();
    let is = |entry: &&Value| fields.iter().all(|(key, value)| entry[*key] == *value);
    let entry = entries.iter().find(is);
    entry.map_or(0, |entry| entry[name].as_u64().unwrap())
}

/// A proxy with rules and metrics: itself, its port, that of the metrics.
fn rewriting(scene: &Scene, server: &MariaDb, rules: &str, more: &[&str]) -> (Running, u16, u16) {
    let file = scene.file("rules.toml", rules);
    let metrics = free_port();
    let mut words = vec![
        backend(server),
        format!("--rewrite={}", file.display()),
        format!("--metrics-address=:{metrics}"),
    ];
    words.extend(more.iter().map(|it| (*it).to_owned()));
    let (running, port) = proxy(scene, &words);
    (running, port, metrics)
}

/// The error of a statement.
#[track_caller]
fn error_of(output: Output) -> String {
    assert!(!output.status.success());
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn each_action_is_seen_by_a_client() {
    let scene = Scene::for_servers();
    let server = MariaDb::start(&scene, &[]);
    let rules = r#"
        [[rule]]
        name = "year"
        digest = "SELECT 'what year'"
        pattern = "'what (\\w+)'"
        replace = "'the $1'"

        [[rule]]
        name = "transaction"
        pattern = '^SELECT @@in_transaction'
        before = ["START TRANSACTION"]

        [[rule]]
        name = "no such table"
        pattern = '^SELECT before'
        before = ["SELECT * FROM nowhere"]

        [[rule]]
        name = "no drops"
        pattern = '(?i)^drop\b'
        block = "drops are for migrations"

        [[rule]]
        name = "deadlock"
        digest = "UPDATE t SET a = 1"
        fail = { errno = 1213 }

        [[rule]]
        name = "slow"
        pattern = '^SELECT SLOW'
        replace = "SELECT"
        delay = "300ms"

        [[rule]]
        name = "canned rows"
        pattern = '^SELECT canned'
        answer = { columns = ["a", "b"], rows = [["1", { null = true }], ["zwei ü", 2]] }

        [[rule]]
        name = "canned counts"
        pattern = '^INSERT INTO audit'
        answer = { affected_rows = 3, insert_id = 17 }

        [[rule]]
        name = "logged"
        pattern = 'secret'
        log = true
        continue = true

        [[rule]]
        name = "prepared"
        command = "prepare"
        pattern = '^SELECT old'
        replace = "SELECT 'new'"

        [[rule]]
        name = "others"
        user = "someone else"
        block = "not seen"
    "#;
    let log = scene.path().join("proxy.log");
    let log_file = format!("--log-file={}", log.display());
    let (running, port, metrics) = rewriting(&scene, &server, rules, &[&log_file]);
    ask(
        &scene,
        port,
        "create table t (a int); insert into t values (1)",
    );
    assert_eq!(ask(&scene, port, "SELECT 'what year'"), "the year");
    assert_eq!(ask(&scene, port, "SELECT @@in_transaction"), "1");
    let fails = |sql: &str| error_of(client(&scene, port, &["test", "-e", sql]).output().unwrap());
    assert!(fails("SELECT before").contains("ERROR 1146 (42S02)"));
    let blocked = fails("DROP TABLE t");
    assert!(blocked.contains("ERROR 1148 (42000)"), "{blocked}");
    assert!(blocked.contains("drops are for migrations"), "{blocked}");
    let deadlock = fails("update t set a = 5");
    assert!(deadlock.contains("ERROR 1213 (40001)"), "{deadlock}");
    let begin = reactor::system_now();
    assert_eq!(ask(&scene, port, "SELECT SLOW + 2"), "2");
    assert!(reactor::system_now() - begin >= Duration::from_millis(300));
    assert_eq!(ask(&scene, port, "SELECT canned"), "1\tNULL\nzwei ü\t2");
    let inserted = client(&scene, port, &["test", "-vvv", "-e", "INSERT INTO audit"]).output();
    let inserted = text_of(inserted.unwrap());
    assert!(inserted.contains("3 rows affected"), "{inserted}");
    assert_eq!(ask(&scene, port, "SELECT 'secret'"), "secret");
    // The table is still there, and none of its rows changed.
    assert_eq!(ask(&scene, port, "SELECT a FROM t"), "1");

    let counts = counts(metrics);
    let changed = |digest, change| {
        figure(
            &counts,
            "changes",
            &[("digest", digest), ("change", change)],
            "count",
        )
    };
    assert_eq!(changed("SELECT ?", "replaced"), 1);
    assert_eq!(changed("SELECT @@in_transaction", "injected before"), 1);
    assert_eq!(changed("SELECT @@in_transaction", "result dropped"), 1);
    assert_eq!(changed("DROP TABLE `t`", "refused"), 1);
    assert_eq!(changed("UPDATE `t` SET `a` = ?", "refused"), 1);
    assert_eq!(changed("SELECT `SLOW` + ?", "delayed"), 1);
    assert_eq!(changed("SELECT `canned`", "answered"), 1);
    let matches = |rule| figure(&counts, "rules", &[("rule", rule)], "matches");
    assert_eq!(matches("no drops"), 1);
    assert_eq!(matches("logged"), 1);
    assert_eq!(matches("others"), 0);
    assert!(counts["commands"].as_u64().unwrap() >= 12);
    assert_eq!(counts["backends"][0]["state"], "up");
    assert_eq!(counts["backends"][0]["kind"], "rw");
    assert!(counts["sessions"]["total"].as_u64().unwrap() >= 10);
    let text = fetch(metrics, "/metrics");
    assert!(text.ends_with("# EOF\n"), "{text}");
    assert!(
        text.contains("dbdyno_proxy_rule_matches_total{rule=\"no drops\"} 1\n"),
        "{text}"
    );
    end(running);
    let log = fs::read_to_string(&log).unwrap();
    assert!(log.contains("rule logged: SELECT ?"), "{log}");
    assert!(!log.contains("secret"), "{log}");
}

#[test]
fn a_mirror_gets_copies_and_never_delays() {
    let (scene, other) = (Scene::for_servers(), Scene::for_servers());
    let server = MariaDb::start(&scene, &[]);
    let mirror = MariaDb::start(&other, &[]);
    scene.file("mirror-password", PASSWORD);
    // A server that never answers.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let rules = format!(
        r#"
        [[rule]]
        name = "copies"
        pattern = '(?i)^(create|insert)'
        mirror = {{ address = "127.0.0.1:{}", user = "trial", password_file = "mirror-password", database = "test" }}

        [[rule]]
        name = "in vain"
        pattern = '^SELECT'
        mirror = {{ address = "{}", user = "trial" }}
        "#,
        mirror.port(),
        silent.local_addr().unwrap()
    );
    let (running, port, metrics) = rewriting(&scene, &server, &rules, &[]);
    ask(
        &scene,
        port,
        "create table t (a int); insert into t values (1), (2)",
    );
    let many = "SELECT 1; ".repeat(300);
    let begin = reactor::system_now();
    assert_eq!(ask(&scene, port, &many).lines().count(), 300);
    // Far less than 300 logins at the silent server would take until they are given up, also on a busy machine.
    assert!(reactor::system_now() - begin < Duration::from_secs(60));
    wait_until("the copies have arrived", || {
        let tables =
            mirror.rows("select count(*) from information_schema.tables where table_name = 't'");
        tables == [["1"]] && mirror.rows("select count(*) from test.t") == [["2"]]
    });
    assert_eq!(server.rows("select count(*) from test.t"), [["2"]]);
    wait_until("the others are counted", || {
        figure(&counts(metrics), "rules", &[("rule", "in vain")], "dropped") == 300
    });
    end(running);
}

#[test]
fn reads_are_routed_outside_of_transactions() {
    let (scene, other) = (Scene::for_servers(), Scene::for_servers());
    let server = MariaDb::start(&scene, &[]);
    let replica = MariaDb::start(&other, &[]);
    let rules = r#"
        [[rule]]
        name = "reads"
        pattern = '(?i)^select'
        route = "read-only"
    "#;
    let read_only = format!(
        "--proxy-read-only-backend-addresses={}",
        replica.socket().display()
    );
    let password = scene.file("own-password", PASSWORD);
    let account = format!("--backend-password-file={}", password.display());
    let more = [read_only.as_str(), "--backend-user=trial", account.as_str()];
    let (running, port, metrics) = rewriting(&scene, &server, rules, &more);
    let statements = "select @@port; do 1; begin; select @@port; commit; select @@port; \
                      set autocommit = 0; select @@port; select database()";
    let (home, away) = (server.port(), replica.port());
    assert_eq!(
        ask(&scene, port, statements),
        format!("{away}\n{home}\n{away}\n{home}\ntest")
    );
    let counted = counts(metrics);
    let fields = [("digest", "SELECT @@port"), ("change", "routed")];
    assert_eq!(figure(&counted, "changes", &fields, "count"), 2);
    assert_eq!(
        figure(&counted, "rules", &[("rule", "reads")], "dropped"),
        0
    );
    let address = replica.socket().display().to_string();
    let backend = [("address", address.as_str())];
    assert_eq!(figure(&counted, "backends", &backend, "idle"), 1);
    // Without the replica they stay, which is counted.
    drop(replica);
    assert_eq!(ask(&scene, port, "select @@port"), home.to_string());
    assert_eq!(
        figure(&counts(metrics), "rules", &[("rule", "reads")], "dropped"),
        1
    );
    end(running);
}

#[test]
fn a_changed_file_is_for_new_clients_and_a_wrong_one_for_none() {
    let scene = Scene::for_servers();
    let server = MariaDb::start(&scene, &[]);
    let rule =
        |text: &str| format!("[[rule]]\npattern = '^SELECT 1$'\nreplace = \"SELECT '{text}'\"\n");
    let log = scene.path().join("proxy.log");
    let log_file = format!("--log-file={}", log.display());
    let (running, port, _) = rewriting(&scene, &server, &rule("one"), &[&log_file]);
    assert_eq!(ask(&scene, port, "SELECT 1"), "one");
    scene.file("rules.toml", &rule("the second"));
    assert_eq!(ask(&scene, port, "SELECT 1"), "the second");
    scene.file("rules.toml", "[[rule]]\ncolour = 'red'\n");
    assert_eq!(ask(&scene, port, "SELECT 1"), "the second");
    assert_eq!(ask(&scene, port, "SELECT 1"), "the second");
    scene.file("rules.toml", &rule("the last"));
    assert_eq!(ask(&scene, port, "SELECT 1"), "the last");
    end(running);
    let log = fs::read_to_string(&log).unwrap();
    assert_eq!(log.matches("unknown field `colour`").count(), 1, "{log}");
    assert!(log.contains("line 2"), "{log}");
}

#[test]
fn a_wrong_file_or_combination_is_an_error_at_the_start() {
    let scene = Scene::for_servers();
    let address = format!("--proxy-address=127.0.0.1:{}", free_port());
    let wrong = scene.file("rules.toml", "[[rule]]\nblock = 'x'\npattern = '('\n");
    let refused = scene.called(
        "mysql-proxy",
        [address.clone(), format!("--rewrite={}", wrong.display())],
    );
    assert_eq!(refused.status.code(), Some(2), "{}", refused.stderr);
    assert!(
        refused.stderr.contains("rules.toml: line 3: pattern"),
        "{}",
        refused.stderr
    );
    let missing = scene.called("mysql-proxy", [address.as_str(), "--rewrite=nowhere.toml"]);
    assert_eq!(missing.status.code(), Some(2));
    assert!(
        missing.stderr.contains("nowhere.toml"),
        "{}",
        missing.stderr
    );
    let both = scene.called(
        "mysql-proxy",
        [
            address.as_str(),
            "--rewrite=a.toml",
            "--proxy-lua-script=b.lua",
        ],
    );
    assert_eq!(both.status.code(), Some(2));
    assert!(
        both.stderr.contains("cannot be used with"),
        "{}",
        both.stderr
    );
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let metrics = format!("--metrics-address={}", taken.local_addr().unwrap());
    let refused = scene.called("mysql-proxy", [address, metrics.clone()]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        refused.stderr.contains(&metrics.replace('=', " ")),
        "{}",
        refused.stderr
    );
}

#[test]
fn a_check_finds_a_backend_down_and_up_without_clients() {
    let scene = Scene::for_servers();
    let mut server = MariaDb::start(&scene, &[]);
    let metrics = free_port();
    let words = [
        backend(&server),
        format!("--metrics-address=127.0.0.1:{metrics}"),
        "--backend-check-interval=0.1".to_owned(),
    ];
    let (running, _) = proxy(&scene, &words);
    let state = |wanted: &str| counts(metrics)["backends"][0]["state"] == wanted;
    wait_until("it is up", || state("up"));
    server.kill();
    wait_until("it is down", || state("down"));
    assert!(counts(metrics)["backends"][0]["failures"].as_u64().unwrap() > 0);
    end(running);
}

#[test]
fn hooks_of_a_script_and_their_changes_are_counted() {
    let scene = Scene::for_servers();
    let server = MariaDb::start(&scene, &[]);
    let script = scene.file(
        "hooks.lua",
        r#"
        function read_query(packet)
            if packet == "\003SELECT 'bad'" then
                error("on purpose")
            elseif packet == "\003SELECT 'other'" then
                proxy.queries:append(1, "\003SELECT 'changed'", { resultset_is_needed = true })
                return proxy.PROXY_SEND_QUERY
            end
        end
        function read_query_result(inj)
        end
        "#,
    );
    let metrics = free_port();
    let words = [
        backend(&server),
        format!("--proxy-lua-script={}", script.display()),
        format!("--metrics-address=:{metrics}"),
    ];
    let (running, port) = proxy(&scene, &words);
    assert_eq!(
        ask(&scene, port, "SELECT 'bad'; SELECT 'other'"),
        "bad\nchanged"
    );
    let counts = counts(metrics);
    let hook = |name, what| figure(&counts, "hooks", &[("hook", name)], what);
    assert!(hook("read_query", "calls") >= 2);
    assert_eq!(hook("read_query", "errors"), 1);
    assert_eq!(hook("read_query_result", "calls"), 1);
    let fields = [("digest", "SELECT ?"), ("change", "replaced")];
    assert_eq!(figure(&counts, "changes", &fields, "count"), 1);
    end(running);
}
