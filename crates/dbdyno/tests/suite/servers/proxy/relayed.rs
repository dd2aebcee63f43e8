//! Real clients and a real server with the proxy in between.

use std::{
    fs::File,
    process::{Command, Stdio},
};

use super::{PASSES_AT_MOST, ask, backend, client, end, listens, proxy, text_of};
use crate::{
    mariadb::{MariaDb, PASSWORD},
    scene::Scene,
};

#[test]
fn the_command_line_client_works_through_it() {
    let scene = Scene::for_servers();
    let server = MariaDb::start(
        &scene,
        &[("max_allowed_packet", "64M"), ("local_infile", "ON")],
    );
    let (running, port) = proxy(&scene, &[backend(&server)]);
    assert_eq!(ask(&scene, port, "select 1; select 2, null"), "1\n2\tNULL");
    ask(
        &scene,
        port,
        "create table t (a int primary key, b longtext)",
    );
    scene.file("rows", "1\tone\n2\ttwo\n3\tthree\n");
    let load = "load data local infile 'rows' into table t";
    let output = client(&scene, port, &["--local-infile=1", "test", "-e", load]).output();
    text_of(output.unwrap());
    assert_eq!(
        ask(&scene, port, "select count(*), max(b) from t"),
        "3\ttwo"
    );
    let prepared = "prepare s from 'select b from t where a = ?'; set @a = 2; execute s using @a";
    assert_eq!(ask(&scene, port, prepared), "two");
    // A database that the client changes, columns for completion, an error, a procedure with results.
    assert_eq!(ask(&scene, port, "use mysql; select database()"), "mysql");
    let wrong = client(&scene, port, &["test", "-e", "select nothing"])
        .output()
        .unwrap();
    assert!(
        String::from_utf8_lossy(&wrong.stderr).contains("ERROR 1054"),
        "{wrong:?}"
    );
    ask(&scene, port, "create procedure p() select 1");
    assert_eq!(ask(&scene, port, "call p(); select 3"), "1\n3");
    let completed = client(&scene, port, &["--auto-rehash", "test", "-e", "select 5"]).output();
    assert_eq!(text_of(completed.unwrap()), "5");
    // 17 MB to the server and back.
    let long = scene.file(
        "long.sql",
        &format!("select '{}';\n", "x".repeat(17_000_000)),
    );
    let output = client(&scene, port, &["--max-allowed-packet=64M", "test"])
        .stdin(Stdio::from(File::open(long).unwrap()))
        .output();
    assert_eq!(text_of(output.unwrap()).len(), 17_000_000);
    // A result of many rows, and a longer one whose reader leaves before its end.
    let rows = "select seq, repeat('y', 200) from seq_1_to_40000";
    assert_eq!(ask(&scene, port, rows).lines().count(), 40_000);
    let many = "select seq, repeat('y', 200) from seq_1_to_200000";
    let mut reader = client(&scene, port, &["--quick", "test", "-e", many])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    drop(reader.stdout.take());
    let _ = reader.kill();
    reader.wait().unwrap();
    // A wrong password is the server's matter.
    let mut refused = client(&scene, port, &["-e", "select 1"]);
    let refused = refused.env("MYSQL_PWD", "wrong").output().unwrap();
    assert!(
        String::from_utf8_lossy(&refused.stderr).contains("ERROR 1045"),
        "{refused:?}"
    );
    end(running);
    assert!(!listens(port));
}

#[test]
fn loads_work_through_it() {
    let scene = Scene::for_servers();
    let server = MariaDb::start(&scene, &[]);
    let arguments = [backend(&server), "--event-threads=2".to_owned()];
    let (running, port) = proxy(&scene, &arguments);
    let slap = Command::new("mariadb-slap")
        .args([
            "--no-defaults",
            "--skip-ssl",
            "-h127.0.0.1",
            "-utrial",
            "-a",
        ])
        .args([
            "-c8",
            "--number-of-queries=80",
            "--auto-generate-sql-load-type=mixed",
        ])
        .arg(format!("-P{port}"))
        .env("MYSQL_PWD", PASSWORD)
        .output();
    assert!(text_of(slap.unwrap()).contains("Average number of seconds"));
    // Our own load, with prepared statements.
    let password_file = scene.path().join("password");
    let oltp = |workload: &str, command: &str, more: &[&str]| {
        let mut words: Vec<String> = ["oltp", workload, command].map(str::to_owned).to_vec();
        words.extend([
            "--host=127.0.0.1".to_owned(),
            format!("--port={port}"),
            "--user=trial".to_owned(),
            format!("--password-file={}", password_file.display()),
            "--database=test".to_owned(),
            "--tables=1".to_owned(),
            "--table-size=1000".to_owned(),
        ]);
        words.extend(more.iter().map(|it| (*it).to_owned()));
        let finished = scene.dbdyno(words);
        assert_eq!(finished.status.code(), Some(0), "{}", finished.stderr);
    };
    oltp("oltp_read_write", "prepare", &[]);
    oltp("oltp_read_write", "run", &["--threads=4", "--events=40"]);
    let _ = server.rows("select 1");
    end(running);
}

#[test]
fn a_killed_backend_is_replaced_by_another() {
    let (one, two) = (Scene::for_servers(), Scene::for_servers());
    let mut first = MariaDb::start(&one, &[]);
    let second = MariaDb::start(&two, &[]);
    let (running, port) = proxy(&one, &[backend(&first), backend(&second)]);
    let port_of = |port| ask(&one, port, "select @@port");
    assert_eq!(port_of(port), first.port().to_string());
    first.kill();
    for _ in 0..3 {
        assert_eq!(port_of(port), second.port().to_string());
    }
    end(running);
}

/// Counters of the server, by their names.
fn status(server: &MariaDb, name: &str) -> u64 {
    let rows = server.rows(&format!("show global status like '{name}'"));
    rows[0][1].parse().unwrap()
}

#[test]
fn a_script_keeps_the_query_cache_and_begins_transactions() {
    let scene = Scene::for_servers();
    let server = MariaDb::start(
        &scene,
        &[("query_cache_type", "ON"), ("query_cache_size", "16M")],
    );
    let script = scene.file(
        "cache.lua",
        r#"
        local com_query = string.char(proxy.COM_QUERY)
        function read_query(packet)
            if packet == com_query .. "RESET QUERY CACHE" then
                proxy.queries:reset()
                proxy.queries:append(1, com_query .. "FLUSH QUERY CACHE")
                return proxy.PROXY_SEND_QUERY
            elseif packet == com_query .. "SELECT COUNT(*) FROM t" then
                proxy.queries:append(2, com_query .. "START TRANSACTION", { resultset_is_needed = true })
                proxy.queries:append(3, packet, { resultset_is_needed = true })
                return proxy.PROXY_SEND_QUERY
            end
        end
        function read_query_result(inj)
            if inj.id == 2 then
                return proxy.PROXY_IGNORE_RESULT
            end
        end
        "#,
    );
    let arguments = [
        backend(&server),
        format!("--proxy-lua-script={}", script.display()),
    ];
    let (running, port) = proxy(&scene, &arguments);
    ask(
        &scene,
        port,
        "create table t (a int); insert into t values (1), (2)",
    );
    let names = ["Qcache_hits", "Com_flush", "Com_reset", "Com_begin"];
    let statements =
        "SELECT MAX(a) FROM t; RESET QUERY CACHE; SELECT MAX(a) FROM t; SELECT COUNT(*) FROM t";
    // A query that waits 50 ms for the lock of the cache, as on a busy machine, continues without it.
    let is_found = (0..PASSES_AT_MOST).any(|_| {
        server.ask("RESET QUERY CACHE", 1);
        let before = names.map(|name| status(&server, name));
        assert_eq!(ask(&scene, port, statements), "2\n2\n2");
        let after = names.map(|name| status(&server, name));
        let [hits, others @ ..]: [u64; 4] = std::array::from_fn(|at| after[at] - before[at]);
        assert_eq!(others, [1, 0, 1], "{names:?}");
        assert!(hits <= 1, "{hits} hits");
        hits == 1
    });
    assert!(is_found, "the second query is never found in the cache");
    end(running);
}
