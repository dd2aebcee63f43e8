//! `dbdyno config` with running servers: lint by variables, counters and machine, and the comparison of two.

use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::{
    mariadb::{MariaDb, PASSWORD},
    other_host::RemoteServer,
    scene::{Finished, Scene},
};

/// Table of about 50 MB, read at random with a pool of 8 MiB: nearly every row is a read from disk. A server counts its age in whole
/// seconds, and has no rates before the first.
const LOAD: [&str; 4] = [
    "create table test.t (id int primary key, filler char(200)) engine=innodb",
    "insert into test.t select seq, 'x' from seq_1_to_150000",
    "select count(*) from seq_1_to_60000 s join test.t t on t.id = (s.seq * 7919) % 150000 + 1 where t.filler = 'x'",
    "select sleep(2)",
];

fn lint(scene: &Scene, server: &[String], more: &[&str]) -> Finished {
    let begin = ["config", "lint", "--no-defaults"].map(str::to_owned);
    let more = more.iter().map(|word| (*word).to_owned());
    scene.dbdyno(begin.into_iter().chain(server.iter().cloned()).chain(more))
}

#[test]
fn lint_judges_a_running_server_by_variables_and_counters() {
    let scene = Scene::for_servers();
    let options = [
        ("innodb_buffer_pool_size", "8M"),
        ("innodb_flush_log_at_trx_commit", "2"),
    ];
    let server = MariaDb::start(&scene, &options);
    for sql in LOAD {
        server.rows(sql);
    }
    let before = server.rows("show global variables");
    let judge = |more: &[&str]| lint(&scene, &server.by_port(), more);
    let early = judge(&[]).exits(0).conceals(PASSWORD).text();
    assert!(early.contains("too early to judge by them"), "{early}");
    assert!(!early.contains(" counter "), "{early}");

    let text = judge(&["--counters-after", "1s"]).exits(0).text();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines.len() <= 12, "{text}");
    let first = format!("127.0.0.1:{} runs mariadb-", server.port());
    assert!(lines[0].starts_with(&first), "{text}");
    assert!(lines[1].starts_with("durability D2: "), "{text}");
    assert!(
        lines[2].starts_with("machine: ") && lines[2].contains("data on "),
        "{text}"
    );
    assert!(
        text.contains("warning  counter  innodb_buffer_pool_size="),
        "{text}"
    );
    assert!(
        text.contains("risk     rule     innodb_flush_log_at_trx_commit=2: "),
        "{text}"
    );
    judge(&["--counters-after", "1s", "--fail-if", "warning"]).exits(1);
    judge(&["--counters-after", "1s", "-v"])
        .exits(0)
        .prints("not judged: too early, too few events: ")
        .prints("Source: ");
    // Another size of memory by hand: the pool of 8 MiB is most of it.
    judge(&["--counters-after", "1s", "--memory", "10M"])
        .exits(0)
        .prints("machine: 10.0 MiB, ")
        .prints("or add memory");

    let json = judge(&["--counters-after", "1s", "--format", "json"]).text();
    let found: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(found["server"]["counters"]["is_too_early"], false);
    assert!(
        found["server"]["machine"]["disk_bytes"].as_u64() > Some(0),
        "{json}"
    );
    let findings = found["findings"].as_array().unwrap();
    let basis = |rule: &str| {
        let of_rule = findings.iter().find(|finding| finding["rule"] == rule);
        of_rule.map(|finding| finding["basis"].as_str().unwrap().to_owned())
    };
    assert_eq!(basis("buffer-pool-misses").as_deref(), Some("counter"));
    assert_eq!(basis("durability-class").as_deref(), Some("rule"));
    let sarif = judge(&["--counters-after", "1s", "--format", "sarif"]).text();
    let sarif: Value = serde_json::from_str(&sarif).unwrap();
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!(result["properties"]["basis"], "rule", "{result}");
    assert!(
        result["locations"][0]["logicalLocations"][0]["fullyQualifiedName"].is_string(),
        "{result}"
    );
    judge(&["--counters-after", "1s", "--format", "github"])
        .exits(0)
        .prints("::warning title=Pages read from disk (counter)::");
    assert_eq!(server.rows("show global variables").len(), before.len());
    let changing = ["timestamp", "gtid", "pseudo_thread_id", "rand_seed"];
    let constant = |rows: Vec<Vec<String>>| -> Vec<Vec<String>> {
        let rows = rows.into_iter();
        rows.filter(|row| !changing.iter().any(|name| row[0].contains(name)))
            .collect()
    };
    assert_eq!(
        constant(server.rows("show global variables")),
        constant(before),
        "lint changed a variable"
    );
}

#[test]
fn a_named_time_zone_is_accepted_by_a_server_that_has_it() {
    let scene = Scene::for_servers();
    let server = MariaDb::start(&scene, &[]);
    scene.file("zone.cnf", "[mysqld]\ndefault_time_zone = Test/Zone\n");
    let refused = "a named time zone needs tables that are empty in a new data directory";
    let judge = || lint(&scene, &server.by_port(), &["zone.cnf"]);
    judge().exits(1).prints(refused);
    for sql in [
        "insert into mysql.time_zone (time_zone_id, use_leap_seconds) values (77, 'N')",
        "insert into mysql.time_zone_name values ('Test/Zone', 77)",
        "insert into mysql.time_zone_transition_type values (77, 0, 3600, 0, 'TEST')",
        // The server has read that there is no such zone.
        "flush tables",
    ] {
        server.rows(sql);
    }
    let text = judge().exits(0).text();
    assert!(!text.contains("time zone"), "{text}");
}

#[test]
fn lint_reads_a_server_without_privileges_and_refuses_what_makes_no_sense() {
    let scene = Scene::for_servers();
    let server = MariaDb::start(&scene, &[]);
    server.rows(&format!("create user plain@'%' identified by '{PASSWORD}'"));
    // Before its first second is over, a server has no counters per second.
    server.rows("select sleep(1.5)");
    let place = format!("--socket={}", server.socket().display());
    let plain = [place.as_str(), "--user=plain", "--password-file=password"].map(str::to_owned);
    lint(&scene, &plain, &["--counters-after", "0s"])
        .exits(0)
        .prints("counters of ")
        .conceals(PASSWORD);
    let wrong = [place.as_str(), "--user=unknown"].map(str::to_owned);
    lint(&scene, &wrong, &[]).exits(2).says("Access denied");
    lint(&scene, &plain, &["--fix", "new.cnf"])
        .exits(2)
        .says("--fix is for option files, but none is named");
    lint(&scene, &plain, &["--for", "mysql-8.0"])
        .exits(2)
        .says("cannot be used with");
    scene.dbdyno(["config", "lint"]).exits(2).says("FILE");
    scene.file(
        "my.cnf",
        "[mysqld]\nquery_cache_size=1M\nno_such_option=1\n",
    );
    // A file beside it is judged for the server's version.
    lint(&scene, &plain, &["my.cnf"])
        .exits(1)
        .prints("my.cnf for mariadb-")
        .prints("no_such_option=1: unknown");
    let file = [
        "config",
        "lint",
        "my.cnf",
        "--for",
        "mysql-8.0",
        "--observe",
        "ssh://db1",
    ];
    scene.dbdyno(file).exits(2).says("none is named");
}

#[test]
fn diff_has_running_servers_as_sides() {
    let (scene, other_scene) = (Scene::for_servers(), Scene::for_servers());
    let one = MariaDb::start(&scene, &[("max_connections", "77")]);
    let other = MariaDb::start(&other_scene, &[("max_connections", "99")]);
    let account = ["--no-defaults", "--user=trial", "--password-file=password"];
    let diff = |sides: &[&str]| {
        let words = ["config", "diff"].iter().chain(sides).chain(&account);
        scene.dbdyno(words)
    };
    let by_host = |port: u16| format!("host:127.0.0.1:{port}");
    diff(&[&by_host(one.port()), &by_host(other.port())])
        .exits(0)
        .prints("max_connections: 77 -> 99")
        .conceals(PASSWORD);
    let by_socket = format!("host:{}", other.socket().display());
    let port = one.port().to_string();
    diff(&[&by_socket, "--host", "127.0.0.1", "--port", &port])
        .exits(0)
        .prints("max_connections: 99 -> 77");
    scene.file("my.cnf", "[mysqld]\nmax_connections=55\n");
    diff(&["my.cnf", "--host", "127.0.0.1", "--port", &port])
        .exits(0)
        .prints("max_connections: 55 -> 77");
    diff(&["my.cnf"])
        .exits(2)
        .says("the second side is missing");
    diff(&["my.cnf", &by_socket, "--host", "127.0.0.1"])
        .exits(2)
        .says("too many sides");
}

#[test]
fn the_machine_of_a_server_on_another_host_is_unknown_without_an_observer() {
    let scene = Scene::for_servers();
    let Some(remote) = RemoteServer::start(&scene) else {
        return;
    };
    let address = remote.address();
    let account = [
        "--host",
        &address,
        "--user=trial",
        "--password-file=password",
    ]
    .map(str::to_owned);
    let text = lint(&scene, &account, &["-v"]).exits(0).text();
    assert!(
        text.contains("machine: memory unknown, CPUs unknown, disk unknown; "),
        "{text}"
    );
    assert!(
        text.contains("not judged: machine: not visible from here; use --observe"),
        "{text}"
    );
    let Some(machine) = remote.host.machine(&scene) else {
        return;
    };
    // Its last argument is the command for the remote shell.
    let script = format!(
        "#!/bin/sh\nfor last; do :; done\nexec {} sh -c \"$last\"\n",
        machine.display()
    );
    let ssh = scene.file("ssh", &script);
    std::fs::set_permissions(&ssh, std::fs::Permissions::from_mode(0o755)).unwrap();
    let observe = [
        "--observe",
        "ssh://db1",
        "--observe-ssh",
        "./ssh",
        "--observe-program",
        env!("CARGO_BIN_EXE_dbdyno"),
    ];
    let text = lint(&scene, &account, &observe).exits(0).text();
    assert!(
        text.contains("machine: ") && !text.contains("memory unknown"),
        "{text}"
    );
    assert!(text.contains("data on "), "{text}");
}
