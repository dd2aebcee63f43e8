//! `dbdyno sql compare` on a real server: verdicts, the result check, what is refused, and that nothing is left behind.

use std::collections::BTreeSet;

use rustix::process::Signal;
use serde_json::Value;

use crate::{
    mariadb::rows,
    private_server,
    results::names_in,
    scene::{Finished, Scene},
};

/// A server with a table of 8,000 rows.
fn server() -> Scene {
    let scene = Scene::for_servers();
    let set = "innodb_buffer_pool_size=32M";
    scene
        .dbdyno(["server", "create", "one", "--set", set])
        .exits(0);
    let digits = "(select 0 n union select 1 union select 2 union select 3 union select 4 union select 5 union select 6 \
                  union select 7 union select 8 union select 9)";
    let schema = format!(
        "create database shop; use shop; \
         create table item (id int primary key auto_increment, price int not null, ratio double not null) engine=InnoDB; \
         insert into item (price, ratio) select a.n * 1000 + b.n * 100 + c.n * 10 + d.n, 1 / (1 + d.n) \
         from {digits} a, {digits} b, {digits} c, {digits} d where a.n < 8; \
         create table wide (id int primary key auto_increment, name varchar(400) character set utf8mb4) \
         engine=InnoDB row_format=compact; insert into wide (name) select price from item; \
         create table log (id int primary key) engine=MyISAM; analyze table item;"
    );
    let client = ["server", "client", "one", "--", "-e", &schema];
    scene.dbdyno(client).exits(0);
    scene
}

fn compare(scene: &Scene, args: &[&str]) -> Finished {
    let common = ["--server", "one", "--database", "shop", "--budget", "20s"];
    scene.dbdyno([&["sql", "compare"], args, &common].concat())
}

fn ask(scene: &Scene, question: &str) -> String {
    let client = [
        "server", "client", "one", "--", "shop", "--batch", "-N", "-e", question,
    ];
    scene.dbdyno(client).exits(0).text()
}

#[test]
fn an_index_is_measured_on_a_copy() {
    let scene = server();
    let file = scene.file(
        "q.sql",
        "set @low = 7990;\nselect /* Q1 */ count(*) from item where price >= @low;\n\
         update /* U1 */ item set ratio = 0 where price < 5;\n",
    );
    let file = file.to_str().expect("the path is text");
    let page = scene.path().join("page.html");
    let page = page.to_str().expect("the path is text");
    let index = "index: create index price on item (price)";
    // As on a server that was stopped soon after the data was loaded.
    ask(
        &scene,
        "alter table item stats_auto_recalc = 0; \
         update mysql.innodb_table_stats set n_rows = 0 where table_name = 'item'",
    );
    let found = compare(
        &scene,
        &[file, "--variant", index, "--format", "json", "--html", page],
    )
    .says(" had rows, but none in the server's statistics; they were refreshed on the copies");
    let found: Value = serde_json::from_str(&found.exits(0).text()).expect("it is one JSON value");
    let [query, update] = found["comparisons"]
        .as_array()
        .expect("it is a list")
        .as_slice()
    else {
        panic!("{found}")
    };
    assert_eq!(
        (&query["statement"], &update["statement"]),
        (&"Q1".into(), &"U1".into())
    );
    for comparison in [query, update] {
        assert_eq!(comparison["result"], "same", "{comparison}");
        let blocks = comparison["before_s"].as_array().map(Vec::len);
        assert!(blocks >= Some(3), "{comparison}");
        let read = |side: usize| -> u64 {
            let costs = comparison["costs"][side].as_object().expect("an object");
            let read = costs
                .iter()
                .filter(|(name, _)| name.starts_with("Handler_read_"));
            read.filter_map(|(_, added)| added.as_u64()).sum()
        };
        assert!(read(0) >= 8000 && read(1) < 100, "{comparison}");
    }
    assert_eq!(update["rows_changed"], serde_json::json!([5, 5]));
    let changes = query["plan_changes_in_words"][0].as_str().expect("a text");
    assert!(
        changes.starts_with("item: whole table -> index range price"),
        "{changes}"
    );
    let page = std::fs::read_to_string(page).expect("the page was written");
    assert!(page.contains("Q1 under index") && page.contains("ANALYZE"));
    // The server itself has no index, no changed row and no copy.
    assert_eq!(
        ask(&scene, "show index from item where key_name = 'price'"),
        ""
    );
    assert_eq!(
        ask(&scene, "select count(*) from item where ratio = 0"),
        "0\n"
    );
    let servers = scene.path().join(".local/share/dbdyno/servers");
    assert_eq!(names_in(&servers), BTreeSet::from(["one".to_owned()]));
    scene.dbdyno(["server", "destroy", "one"]).exits(0);
}

#[test]
fn another_result_is_a_failure_and_sessions_need_no_copy() {
    let scene = server();
    let texts = "select /* A */ id from item where price < 50 order by price limit 40;\n\
                 select /* B */ sum(ratio) from item;\nselect /* C */ rand() < 2, uuid();\n\
                 delete /* D */ from item where price < 9;\n";
    let file = scene.file("q.sql", texts);
    // Another order of the same rows is the same result; another sum and another number of rows are not.
    let other = "select * from (select id from item where price < 50 order by price limit 40) x order by id desc;\n\
                 select sum(ratio) + 1 from item;\nselect rand() < 2, uuid();\n\
                 delete from item where price < 8;\n";
    let other = scene.file("other.sql", other);
    let rewrite = format!("rw: rewrite {}", other.display());
    let file = file.to_str().expect("the path is text");
    let ended = compare(
        &scene,
        &[
            file,
            "--variant",
            &rewrite,
            "--runs",
            "3",
            "--format",
            "csv",
        ],
    );
    let rows = ended.exits(1).text();
    let results: Vec<&str> = rows
        .lines()
        .skip(1)
        .filter_map(|line| line.split(',').nth(3))
        .collect();
    assert_eq!(
        results,
        ["same", "different", "unknown", "different"],
        "{rows}"
    );
    compare(&scene, &[file, "--variant", &rewrite, "--runs", "3"])
        .exits(1)
        .prints("8 rows changed instead of 9 rows");
    ties_are_no_other_result(&scene);

    let ordered = "less: set @low = 7999; delete from item where id > @low; set @low = 9000";
    let count = "select count(*) from item";
    let args = [
        "-e",
        count,
        "--variant",
        ordered,
        "--runs",
        "3",
        "--format",
        "json",
    ];
    let found: Value = serde_json::from_str(&compare(&scene, &args).exits(1).text()).expect("JSON");
    assert_eq!(found["comparisons"][0]["result"], "different", "{found}");
    assert_eq!(found["whole_interval_beyond_min_effect"], true, "{found}");
    let switched = "off: set optimizer_switch='mrr=off'; set sort_buffer_size=65536";
    let answer = compare(&scene, &[file, "--variant", switched, "--runs", "3"]).exits(0);
    assert!(answer.text().lines().count() <= 12, "{}", answer.text());
    answer.prints("compared with baseline");
    scene.dbdyno(["server", "destroy", "one"]).exits(0);
}

/// Of equal rows a LIMIT may take any: all rows without it decide.
fn ties_are_no_other_result(scene: &Scene) {
    let tied = "select id from item order by ratio limit 5;\nselect id from item order by price limit 5;\n\
                select id from (select id, price as k from item) x order by k limit 5;\n";
    let tied = scene.file("tied.sql", tied);
    let other = "select id from (select id, ratio from item order by id desc limit 9999) x order by ratio limit 5;\n\
                 select id from item where id > 9 order by price limit 5;\n\
                 select id from (select id, -price as k from item) x order by k limit 5;\n";
    let other = scene.file("other_ties.sql", other);
    let variant = format!("rw: rewrite {}", other.display());
    let tied = tied.to_str().expect("the path is text");
    let args = [
        tied,
        "--variant",
        &variant,
        "--runs",
        "3",
        "--format",
        "csv",
    ];
    let rows = compare(scene, &args).exits(1).text();
    let results = rows.lines().skip(1).map(|line| line.split(',').nth(3));
    let results: Vec<&str> = results.flatten().collect();
    assert_eq!(results, ["tied", "different", "different"], "{rows}");
}

/// Also of statements that are shorter than the interval at which an interruption is checked.
#[test]
fn an_interruption_keeps_what_was_measured() {
    let scene = server();
    ask(&scene, "set global userstat = 1");
    let server = private_server::endpoint(&scene, "one");
    // The rows read by some blocks: one of the shorter statement has up to 18 executions.
    for (asleep, executions) in [("sleep(rand() / 4)", 20), ("sleep(rand() / 100)", 60)] {
        let query = format!("select /* S */ {asleep} from item where id = 1");
        let args = [
            "sql",
            "compare",
            "-e",
            &query,
            "--variant",
            "a: set @a = 1",
            "--runs",
            "200",
            "--server",
            "one",
            "--database",
            "shop",
            "--format",
            "json",
        ];
        let rows_read = "select sum(rows_read) from information_schema.table_statistics where table_name = 'item'";
        let read = || rows(&server, rows_read)[0][0].parse().unwrap_or(0_u64);
        let before = read();
        let mut running = scene.start(args);
        running.wait_until("some blocks are measured", || read() >= before + executions);
        running.signal(Signal::INT);
        let found = running.finish().exits(130).says("interrupted");
        let found: Value = serde_json::from_str(&found.text()).expect("it is one JSON value");
        let why = found["incomplete"].as_str().expect("a text");
        assert!(why.starts_with("-e:1:1: interrupted"), "{found}");
        let blocks = found["comparisons"][0]["before_s"].as_array().map(Vec::len);
        assert!(blocks >= Some(1), "{found}");
    }
    scene.dbdyno(["server", "destroy", "one"]).exits(0);
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let scene = server();
    let query = ["-e", "select count(*) from item"];
    let index = "a: create index price on item (price)";
    for (args, code, message) in [
        (
            &["--variant", "set a = 1"][..],
            2,
            "a variant is NAME: PART",
        ),
        (
            &["--variant", "a: select 1"],
            2,
            "SELECT cannot be part of a variant",
        ),
        (
            &["--variant", "a: set @a = 1", "--variant", "a: set @a = 2"],
            2,
            "two sides have the name a",
        ),
        (
            &["--variant", "a: rewrite gone.sql"],
            2,
            "gone.sql: No such file",
        ),
        (
            &["--variant", "a: option no_such=1"],
            2,
            "no_such=1: unknown",
        ),
        (
            &["--variant", "a: create index i on gone (a)"],
            3,
            "variant a:1:2: error 1146",
        ),
        (
            &["--variant", "a: analyze table gone"],
            3,
            "Table 'shop.gone' doesn't exist",
        ),
        // MariaDB 10.11 would take it as a comment.
        (
            &["--variant", "a: hint MRR(item)"],
            2,
            "has no optimizer hints",
        ),
        (
            &["--variant", "a: option innodb_buffer_pool_size=4P"],
            4,
            "not enough memory for 2 copies of server one and the server itself",
        ),
        // Its change is executed after the setting before it.
        (
            &[
                "--variant",
                "a: set @n = 5; delete from item where id > @n; update gone set a = 1",
            ],
            3,
            "variant a:1:46: error 1146",
        ),
        (
            &["--variant", "a: set sort_buffer_size = 'x'"],
            3,
            "variant a:1:2: error",
        ),
    ] {
        compare(&scene, &[&query, args].concat())
            .exits(code)
            .says(message);
    }
    let two = scene.file("two.sql", "select 1; select 2;");
    let rewrite = format!("a: rewrite {}", two.display());
    for (args, message) in [
        (
            &["-e", "select 1", "--variant", &rewrite][..],
            "two.sql: 2 statements for 1 statement",
        ),
        (
            &["-e", "drop table item", "--variant", index],
            "DROP cannot be rolled back",
        ),
        (
            &["-e", "delete from log", "--variant", "a: set @a = 1"],
            "engine MyISAM",
        ),
        (
            &[
                "-e",
                "with x as (select 1) select * from x",
                "--variant",
                "a: hint MRR(x)",
            ],
            "a hint cannot be inserted into WITH",
        ),
        (
            &["-e", "set @a = 1", "--variant", "a: set @b = 1"],
            "only session settings",
        ),
    ] {
        compare(&scene, args).exits(2).says(message);
    }
    // A server that dbdyno did not make gets no changes.
    let given = [
        "sql",
        "compare",
        "-e",
        "select 1",
        "--host",
        "127.0.0.1",
        "--variant",
        index,
    ];
    scene
        .dbdyno(given)
        .exits(2)
        .says("only on a copy of a private server");
    let servers = scene.path().join(".local/share/dbdyno/servers");
    assert_eq!(names_in(&servers), BTreeSet::from(["one".to_owned()]));
    scene.dbdyno(["server", "destroy", "one"]).exits(0);
}

#[test]
fn advice_is_given_with_reasons_and_proved_on_copies() {
    let scene = server();
    let query = "select /* Q1 */ count(*) from item where price = 17";
    let common = ["--server", "one", "--database", "shop"];
    let advise = |args: &[&str]| scene.dbdyno([&["sql", "advise"], args, &common].concat());
    let index = "create index `index_item_price` on `shop`.`item` (`price`)";
    advise(&["-e", query])
        .exits(0)
        .prints(index)
        .prints("no index begins with price")
        .prints("Nothing was tried");
    // What the server refuses of a log is left out, whatever it took.
    let entry = |schema: &str, time_s: u32, text: &str| {
        format!(
            "# User@Host: a[a] @ b []\n# Thread_id: 1  Schema: {schema}  QC_hit: No\n\
             # Query_time: {time_s}  Lock_time: 0 Rows_sent: 1  Rows_examined: 1\nSET timestamp=1;\n{text};\n"
        )
    };
    let log = entry("shop", 9, "select * from gone")
        + &entry("other", 8, "select * from item")
        + &entry(
            "shop",
            7,
            "select /* L */ count(*) from item where price = 17",
        );
    let log = scene.file("slow.log", &log);
    let log = log.to_str().expect("the path is text");
    advise(&["--from", log, "--top", "1"])
        .exits(0)
        .prints(index)
        .says("2 more expensive kinds left out because this server refuses them");
    let wide = "select /* W */ count(*) from wide where name = 'x'";
    advise(&["-e", wide, "--try", "--at-most", "1"])
        .exits(1)
        .prints("cannot be made: create index `index_wide_name`");
    advise(&["-e", "select count(*) from item where id = 5"])
        .exits(0)
        .prints("No candidates");
    for (args, message) in [
        (&["-e", "drop table item"][..], "DROP cannot be rolled back"),
        (&["-e", "set @a = 1"], "only session settings"),
        (&["-e", "select * form item"], "-e:1:10: error 1064"),
    ] {
        advise(args).exits(2).says(message);
    }
    let given = ["sql", "advise", "-e", query, "--host", "127.0.0.1", "--try"];
    scene.dbdyno(given).exits(2).says("--server");
    // Another text needs no copy; one that the server refuses is left out, and the others are measured.
    let or = "select /* O */ count(*) from item where price = 5 or ratio = 0.25";
    let both = "create index p on item (price); create index r on item (ratio)";
    ask(&scene, both);
    let off = "set optimizer_switch = 'index_merge=off'";
    let tried = advise(&["-e", off, "-e", or, "--try", "--format", "json"]);
    let tried: Value = serde_json::from_str(&tried.text()).expect("it is one JSON value");
    let union = tried["candidates"].as_array().expect("a list").iter();
    let mut union = union.filter(|it| it["kind"] == "statement");
    let union = union.next().expect("a UNION is a candidate");
    let text = union["remedy"].as_str().expect("a text");
    assert!(text.contains(" UNION ALL "), "{tried}");
    let outcome = union["trial"]["outcome"].as_str().unwrap_or_default();
    assert!(["proved", "not proved"].contains(&outcome), "{tried}");
    assert!(
        !union["trial"].to_string().contains("different result"),
        "{tried}"
    );
    ask(&scene, "drop index p on item; drop index r on item");
    statistics_are_refreshed_before_an_index_is_judged(&scene);
    assert_eq!(
        ask(&scene, "show index from item where key_name <> 'PRIMARY'"),
        ""
    );
    let servers = scene.path().join(".local/share/dbdyno/servers");
    assert_eq!(names_in(&servers), BTreeSet::from(["one".to_owned()]));
    scene.dbdyno(["server", "destroy", "one"]).exits(0);
}

/// With statistics of 1 row for 8,000 the optimizer ignores the new index, and nothing would be proved of it.
fn statistics_are_refreshed_before_an_index_is_judged(scene: &Scene) {
    ask(
        scene,
        "alter table item stats_persistent=1 stats_auto_recalc=0; \
         update mysql.innodb_table_stats set n_rows = 1, clustered_index_size = 1 where table_name = 'item'",
    );
    // Which reads them.
    scene.dbdyno(["server", "restart", "one"]).exits(0);
    let query = "select /* S */ count(ratio) from item where price = 17";
    let place = ["--server", "one", "--database", "shop", "--budget", "20s"];
    let advise = ["sql", "advise", "-e", query, "--try"];
    let tried = scene.dbdyno([&advise[..], &place, &["--format", "json"]].concat());
    let tried: Value = serde_json::from_str(&tried.text()).expect("it is one JSON value");
    let candidates = tried["candidates"].as_array().expect("a list");
    let statistics = &candidates[0];
    assert_eq!(statistics["remedy"], "analyze table `shop`.`item`");
    assert!(statistics["trial"]["outcome"].is_string(), "{tried}");
    let index = "create index `index_item_price` on `shop`.`item` (`price`)";
    let mut indexes = candidates.iter().filter(|it| it["remedy"] == index);
    let trial = &indexes.next().expect("the index is a candidate")["trial"];
    // Whether it is proved depends on the machine; that it reads fewer rows does not.
    assert!(trial.to_string().contains("rows read 8.00k to "), "{tried}");
    if trial["outcome"] == "proved" {
        let price = &trial["index_price"];
        assert!(price["writes_not_measured"].is_null(), "{tried}");
        assert!(price["bytes"].as_f64() >= Some(16384.0), "{tried}");
        for write in ["insert", "update"] {
            let ratio = |end: &str| price[write][end].as_f64().unwrap_or(f64::NAN);
            // It is missing if the copies differed by more than the index costs.
            let is_measured = !price[write]["ratio"].is_null();
            assert!(
                !is_measured || ratio("ratio_low") <= ratio("ratio"),
                "{tried}"
            );
            assert!(ratio("before_s") > 0.0 && ratio("after_s") > 0.0, "{tried}");
        }
    }
}
