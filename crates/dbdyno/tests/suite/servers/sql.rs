//! `dbdyno sql`: plans and times of statements on a real server, and what is refused.

use rustix::process::Signal;
use serde_json::Value;

use crate::{
    results::names_in,
    scene::{ATTEMPTS, Finished, Scene, wait_until},
};

/// A server with a table of a thousand rows, and one without transactions.
fn server() -> Scene {
    let scene = Scene::for_servers();
    let set = "innodb_buffer_pool_size=64M";
    scene
        .dbdyno(["server", "create", "one", "--set", set])
        .exits(0);
    let schema = "create database shop; use shop; \
                  create table item (id int primary key auto_increment, price int not null, key (price)) engine=InnoDB; \
                  insert into item (price) select a.n * 100 + b.n * 10 + c.n from \
                  (select 0 n union select 1 union select 2 union select 3 union select 4) a, \
                  (select 0 n union select 1 union select 2 union select 3 union select 4) b, \
                  (select 0 n union select 1 union select 2 union select 3) c; \
                  create table log (id int primary key) engine=MyISAM; analyze table item;";
    let client = ["server", "client", "one", "--", "-e", schema];
    scene.dbdyno(client).exits(0);
    scene
}

fn sql(scene: &Scene, args: &[&str]) -> Finished {
    scene.dbdyno([&["sql"], args, &["--server", "one", "--database", "shop"]].concat())
}

fn ask(scene: &Scene, question: &str) -> String {
    let client = [
        "server", "client", "one", "--", "shop", "--batch", "-N", "-e", question,
    ];
    scene.dbdyno(client).exits(0).text()
}

/// Rows of a table that were read since `userstat` is on.
fn rows_read(scene: &Scene, table: &str) -> u64 {
    let asked = format!(
        "select sum(rows_read) from information_schema.table_statistics where table_name = '{table}'"
    );
    ask(scene, &asked).trim().parse().unwrap_or(0)
}

#[test]
fn plans_are_drawn_and_nothing_is_left_behind() {
    let scene = server();
    let drawn = sql(
        &scene,
        &[
            "explain",
            "-e",
            "select count(*) from item where price < 20",
        ],
    );
    drawn
        .exits(0)
        .prints("item: index range price")
        .prints("expected");

    let explained = sql(
        &scene,
        &[
            "explain",
            "--format",
            "json",
            "-e",
            "select id from item where price = 7",
        ],
    );
    let explained: Value =
        serde_json::from_str(&explained.exits(0).text()).expect("it is one JSON value");
    let statement = &explained["statements"][0];
    assert_eq!(statement["best"], "analyze");
    let forms = statement["forms"].as_array().expect("it is a list");
    assert!(
        forms
            .iter()
            .any(|form| form["form"] == "traditional" && form["plan"]["root"].is_object())
    );
    assert!(
        statement["trace"]["condensed"]["blocks"].is_array(),
        "{}",
        statement["trace"]
    );

    let update = "update item set price = price + 1 where price < 30";
    let sum = "select sum(price) from item";
    let before = ask(&scene, sum);
    sql(&scene, &["explain", "-e", update])
        .exits(0)
        .prints("explained without being executed");
    sql(&scene, &["explain", "--analyze", "-e", update])
        .exits(0)
        .prints("rolled back");
    assert_eq!(ask(&scene, sum), before);

    for (args, code, message) in [
        (
            &["explain", "-e", "select 1;\n select * form item"][..],
            2,
            "error: -e:2:11: error 1064",
        ),
        (
            &["explain", "-e", "drop table item"],
            2,
            "DROP cannot be explained",
        ),
        (
            &["explain", "-e", "select * from gone"],
            3,
            "-e:1:1: error 1146",
        ),
        (
            &["explain", "--analyze", "-e", "delete from log"],
            2,
            "engine MyISAM",
        ),
        (
            &["explain", "--timeout", "300ms", "-e", "select sleep(60)"],
            3,
            "it was killed on the server",
        ),
        (
            &["explain", "-e", "select 'a"],
            2,
            "-e:1:8: a quotation is not closed",
        ),
        (&["explain", "-e", "set @a = 1"], 2, "only session settings"),
        (
            &["time", "-e", "drop table item"],
            2,
            "DROP cannot be rolled back",
        ),
        (
            &["time", "--timeout", "300ms", "-e", "select sleep(60)"],
            3,
            "it was killed on the server",
        ),
    ] {
        sql(&scene, args).exits(code).says(message);
    }
    let running = "select count(*) from information_schema.processlist where info like '%sleep(60)%' and info not like '%info like%'";
    // A server that lacks a processor ends a killed statement later.
    wait_until("none of them runs", || ask(&scene, running) == "0\n");
    scene.dbdyno(["server", "destroy", "one"]).exits(0);
}

#[test]
fn statements_are_timed_in_rounds() {
    let scene = server();
    let file = scene.file(
        "queries.sql",
        "set @limit = 50; -- kept\nselect /* Q1 */ id from item where price < @limit;\nupdate /* U1 */ item set price = price + 1;\n",
    );
    let file = file.to_str().expect("the path is text");
    let sum = "select sum(price) from item";
    let before = ask(&scene, sum);
    let timed = sql(
        &scene,
        &[
            "time",
            file,
            "--runs",
            "7",
            "--precision",
            "1",
            "--cold",
            "1",
            "--format",
            "json",
        ],
    );
    let timed: Value = serde_json::from_str(&timed.exits(0).text()).expect("it is one JSON value");
    let [query, update] = timed["statements"]
        .as_array()
        .expect("it is a list")
        .as_slice()
    else {
        panic!("{timed}")
    };
    assert_eq!(
        (query["name"].as_str(), update["name"].as_str()),
        (Some("Q1"), Some("U1"))
    );
    let expected: u64 = ask(&scene, "select count(*) from item where price < 50")
        .trim()
        .parse()
        .expect("a number");
    assert_eq!(query["rows"], expected);
    assert_eq!(query["cold_s"].as_array().map(Vec::len), Some(1));
    assert!(
        query["median_s"].as_f64() > Some(0.0)
            && query["low_s"].as_f64() <= query["high_s"].as_f64()
    );
    assert!(
        query["costs"]["Handler_read_next"].as_u64() >= Some(expected - 1),
        "{}",
        query["costs"]
    );
    // MariaDB has performance_schema off.
    let notes = timed["notes"].to_string();
    assert!(
        query["event"].is_null() && notes.contains("performance_schema has no data"),
        "{timed}"
    );
    assert_eq!(update["rolled_back"], true);
    assert_eq!(ask(&scene, sum), before);

    let document = sql(
        &scene,
        &["time", file, "--runs", "1", "--format", "document"],
    )
    .exits(0)
    .text();
    let names: Vec<&str> = document
        .lines()
        .filter_map(|line| line.split(':').next())
        .collect();
    assert_eq!(names, ["Q1", "U1", "Total", "", "Q1", "U1", "Total"]);
    sql(&scene, &["time", file, "--runs", "1", "--verbose"])
        .exits(0)
        .prints("each execution was rolled back");
    sql(&scene, &["time", file, "--runs", "1", "--format", "csv"])
        .exits(0)
        .prints("name,place,rows");
    scene.dbdyno(["server", "destroy", "one"]).exits(0);
}

/// The rounds before it are not measured in vain, nor is the statement before it in its round.
#[test]
fn an_interruption_keeps_the_times_so_far() {
    let scene = server();
    let args = [
        "sql",
        "time",
        "-e",
        "select /* S */ sleep(0.05) from item where id = 1",
        "-e",
        "select /* L */ sleep(rand() / 10) from item where id = 1",
        "--runs",
        "2000",
        "--server",
        "one",
        "--database",
        "shop",
    ];
    ask(&scene, "set global userstat = 1");
    let mut running = scene.start(args.into_iter().chain(["--format", "json"]));
    running.wait_until("both were executed four times", || {
        rows_read(&scene, "item") >= 8
    });
    running.signal(Signal::INT);
    let found = running.finish().exits(130).says("interrupted");
    let found: Value = serde_json::from_str(&found.text()).expect("it is one JSON value");
    let why = found["incomplete"].as_str().expect("a text");
    assert!(why.contains("interrupted"), "{found}");
    for statement in found["statements"].as_array().expect("the statements") {
        let rounds = statement["warm_s"].as_array().map(Vec::len);
        assert!(
            statement["first_s"].is_f64() && rounds >= Some(2),
            "{found}"
        );
    }

    let late = [
        "sql",
        "time",
        "-e",
        "select /* S */ 1",
        "-e",
        "select /* L */ sleep(600)",
        "--timeout",
        "500ms",
        "--server",
        "one",
    ];
    // On a busy machine the first statement may be late, too: then once more.
    let keeps_the_first = (0..ATTEMPTS).any(|_| {
        let text = scene.dbdyno(late).exits(3).text();
        assert!(
            text.is_empty() || text.starts_with("incomplete: "),
            "{text}"
        );
        text.lines().any(|line| line.starts_with("S "))
    });
    assert!(keeps_the_first, "in {ATTEMPTS} attempts");
    scene.dbdyno(["server", "destroy", "one"]).exits(0);
}

#[test]
fn performance_schema_has_the_costs_of_an_execution() {
    let scene = Scene::for_servers();
    let create = [
        "server",
        "create",
        "one",
        "--set",
        "innodb_buffer_pool_size=64M",
        "--set",
        "performance_schema=ON",
        "--set",
        "performance_schema_consumer_events_statements_current=ON",
        "--set",
        "performance_schema_consumer_events_statements_history=ON",
    ];
    scene.dbdyno(create).exits(0);
    let schema = "create database shop; use shop; create table item (id int primary key, price int not null) engine=InnoDB; \
                  insert into item values (1, 5), (2, 6), (3, 7); \
                  create function twice(n int) returns int deterministic return 2 * n; \
                  create user plain@localhost identified by 'p'; grant select, execute on shop.* to plain@localhost;";
    let client = ["server", "client", "one", "--", "-e", schema];
    scene.dbdyno(client).exits(0);
    let query = "select /* E */ twice(price) from item where price > 5";
    let args = ["time", "--verbose", "--runs", "3", "-e", query];
    let timed = sql(&scene, &[&args[..], &["--format", "json"]].concat());
    let timed: Value = serde_json::from_str(&timed.exits(0).text()).expect("it is one JSON value");
    let event = &timed["statements"][0]["event"];
    // Not of the function, which is an event of its own.
    assert_eq!(
        (&event["rows_examined"], &event["no_index_used"]),
        (&3.into(), &1.into()),
        "{timed}"
    );
    assert!(event["time_s"].as_f64() > Some(0.0), "{timed}");
    sql(&scene, &args)
        .exits(0)
        .prints("performance_schema: ")
        .prints("rows examined 3, rows sent ")
        .prints("no index used");
    // Where the statements behind it are not noted, another one is at its place.
    let instrument = |state: &str| {
        let change = format!(
            "update performance_schema.setup_instruments set enabled = '{state}' where name = 'statement/sql/show_status'"
        );
        let client = ["server", "client", "one", "--", "-e", &change];
        scene.dbdyno(client).exits(0);
    };
    instrument("NO");
    sql(&scene, &args)
        .exits(0)
        .says("a statement instrument is off");
    instrument("YES");
    // Without a privilege the rest works.
    let password = scene.file("password", "p\n");
    let socket = ask(&scene, "select @@socket");
    let plain = [
        "sql",
        "time",
        "--runs",
        "1",
        "-e",
        query,
        "--database",
        "shop",
        "--user",
        "plain",
        "--socket",
        socket.trim(),
        "--password-file",
        password.to_str().expect("the path is text"),
    ];
    scene
        .dbdyno(plain)
        .exits(0)
        .says("performance_schema has no data about the executions")
        .says("denied");
    scene.dbdyno(["server", "destroy", "one"]).exits(0);
}

#[test]
fn statements_that_change_something_are_not_executed_unasked() {
    let scene = server();
    let schema = "delimiter //\n\
                  create function noting() returns int modifies sql data \
                  begin insert into item (price) values (1); return 1; end//\n\
                  create view notes as select id from log//\n\
                  create view cheap as select * from item where price < 20//";
    ask(&scene, schema);
    let several = scene.file(
        "several.sql",
        "delimiter //\nselect 1; delete from item//\nset @a = 1; drop table item//\n",
    );
    let several = several.to_str().expect("the path is text");
    let count = "select count(*) from item";
    let before = ask(&scene, count);
    for (args, message) in [
        (
            &[
                "explain",
                "--no-analyze",
                "-e",
                "set statement max_statement_time=5 for delete from item",
            ][..],
            "SET cannot be explained",
        ),
        (
            &["explain", several],
            "SELECT with a second statement cannot be explained",
        ),
        (
            &["time", several],
            "SELECT with a second statement cannot be rolled back",
        ),
        (
            &["time", "-e", "set password for root@localhost = ''"],
            "SET cannot be rolled back",
        ),
        (
            &["explain", "--no-analyze", "-e", "set @a = noting()"],
            "SET with a call of noting cannot be explained",
        ),
        (
            &["time", "-e", "set @a = (select noting())"],
            "SET with a value from tables cannot be rolled back",
        ),
        (
            &["time", "-e", "select 1 /*!50000 into outfile '/tmp/x' */"],
            "SELECT with a comment that the server executes cannot be rolled back",
        ),
        (&["time", "-e", "select noting()"], "error 1792"),
        (
            &["time", "-e", "delete from mysql.event"],
            "not every table of schema mysql supports transactions",
        ),
        (
            &["time", "-e", "use mysql", "-e", "delete from event"],
            "not every table of schema mysql supports transactions",
        ),
        (
            &[
                "explain",
                "--analyze",
                "-e",
                "use mysql",
                "-e",
                "delete from event",
            ],
            "not every table of schema mysql supports transactions",
        ),
        (
            &["time", "-e", "insert into notes values (9)"],
            "table shop.log, which view shop.notes names, has engine MyISAM",
        ),
    ] {
        sql(&scene, args).exits(2).says(message);
    }
    let locking = "select id from item where price < 20 for update";
    for args in [
        &["time", "--runs", "1", "-e", locking][..],
        &["explain", "-e", locking],
        &["time", "--runs", "1", "-e", "select 1 from cheap;"],
        &["explain", "--analyze", "-e", "delete from cheap"],
    ] {
        sql(&scene, args).exits(0);
    }
    assert_eq!(ask(&scene, count), before);

    let trigger =
        "create trigger noted after insert on item for each row insert into log values (new.id)";
    ask(&scene, trigger);
    let insert = "insert into item (price) values (5)";
    sql(&scene, &["time", "-e", insert])
        .exits(2)
        .says("table shop.log, which trigger shop.noted names, has engine MyISAM")
        .hints("--commit");
    assert_eq!(ask(&scene, count), before);
    assert_eq!(ask(&scene, "select count(*) from log"), "0\n");
    scene.dbdyno(["server", "destroy", "one"]).exits(0);
}

#[test]
fn the_dearest_statements_of_a_slow_log_are_taken() {
    let scene = server();
    ask(
        &scene,
        "set global slow_query_log = 1, global long_query_time = 0",
    );
    for price in ["1", "2", "3"] {
        let slow = format!("select sleep(0.05), id from item where price = {price} limit 1");
        ask(&scene, &slow);
    }
    ask(&scene, "select count(*)\nfrom item\nuse index (price)");
    ask(&scene, "set global slow_query_log = 0");
    let data = scene.path().join(".local/share/dbdyno/servers/one/data");
    let log = names_in(&data)
        .into_iter()
        .find(|name| name.ends_with("-slow.log"))
        .expect("the server wrote its log");
    let log = data.join(log);
    let log = log.to_str().expect("the path is text");
    let timed = sql(
        &scene,
        &[
            "time", "--from", log, "--top", "2", "--runs", "1", "--format", "json",
        ],
    );
    let timed = timed.exits(0).says("of the 2 most expensive kinds");
    let timed: Value = serde_json::from_str(&timed.text()).expect("it is one JSON value");
    let texts: Vec<&str> = timed["statements"]
        .as_array()
        .expect("it is a list")
        .iter()
        .filter_map(|it| it["statement"].as_str())
        .collect();
    assert_eq!(texts.len(), 2, "{timed}");
    assert!(texts[0].starts_with("select sleep(0.05), id from item where price = "));
    // A client that has to wait for a processor after its send sees a part of the sleep as sending.
    let parts = &timed["statements"][0]["parts_s"];
    let slept = parts["send"].as_f64().zip(parts["server"].as_f64());
    assert!(
        slept.is_some_and(|(send, server)| send + server >= 0.05),
        "{timed}"
    );
    sql(&scene, &["explain", "--from", log, "--top", "1"])
        .exits(0)
        .prints("item:");

    let page = scene.path().join("times.html");
    let page = page.to_str().expect("the path is text");
    sql(
        &scene,
        &["time", "-e", "select 1", "--runs", "1", "--html", page],
    )
    .exits(0);
    let page = std::fs::read_to_string(page).expect("the page was written");
    assert!(page.contains("first row"));

    let empty = scene.file("empty.log", "no log\n");
    let empty = empty.to_str().expect("the path is text");
    for (args, message) in [
        (
            &["time", "--from", empty][..],
            "it contains no statement of a slow query log",
        ),
        (&["time", "--from", "gone.log"], "gone.log: No such file"),
        (
            &["time", "--from", "digest"],
            "keeps no samples of statements in its digests",
        ),
        (
            &["time", "--from", empty, "-e", "select 1"],
            "cannot be used with",
        ),
    ] {
        sql(&scene, args).exits(2).says(message);
    }
    scene.dbdyno(["server", "destroy", "one"]).exits(0);
}
