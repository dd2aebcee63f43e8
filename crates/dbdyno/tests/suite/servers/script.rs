//! `dbdyno script run` and `[load] script`: scripts in pgbench's language on a real server.

use std::fs;

use rustix::process::Signal;

use crate::{
    mariadb::rows,
    private_server,
    scene::{Finished, Scene},
};

/// The TPC-B-like script of pgbench's manual, in MySQL's SQL, with a pause.
const TPCB: &str = "\
\\set aid random(1, 1000 * :scale)
\\set bid random(1, 1 * :scale)
\\set tid random(1, 10 * :scale)
\\set delta random(-5000, 5000)
BEGIN;
UPDATE accounts SET abalance = abalance + :delta WHERE aid = :aid;
SELECT abalance FROM accounts WHERE aid = :aid;
UPDATE tellers SET tbalance = tbalance + :delta WHERE tid = :tid;
UPDATE branches SET bbalance = bbalance + :delta WHERE bid = :bid;
INSERT INTO history (tid, bid, aid, delta, mtime) VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);
COMMIT;
\\sleep 5 ms
";

/// What a row has is read, decided on and written: \\gset, \\aset, \\if, lists, types.
const ANSWERS: &str = "\
\\list names from \"names.csv\" weight w
\\list ids (id) from query \"SELECT aid FROM accounts WHERE aid <= 3 ORDER BY aid\" sequential
\\draw names n_
\\draw ids
SELECT aid, abalance AS balance, now(6) AS moment, CAST('12:34:56' AS TIME) AS clock, NULL AS nothing
FROM accounts WHERE aid = :id \\gset a_
SELECT 7 AS seven FROM accounts WHERE aid < 0 \\aset b_
SELECT 8 AS eight UNION SELECT 9 \\aset b_
\\set twice 2 * :a_aid
\\if :a_nothing is null and :b_eight = 9
INSERT INTO notes VALUES (:n_name, :twice, :a_moment, :a_clock, :a_nothing, :rate);
\\elif false
INSERT INTO notes (who) VALUES ('never');
\\else
INSERT INTO notes (who) VALUES ('else');
\\endif
\\sleep 2 ms
";

fn scene() -> Scene {
    let scene = Scene::for_servers();
    scene.dbdyno(["server", "create", "s"]).exits(0);
    sql(
        &scene,
        "create table branches (bid int primary key, bbalance int); \
         create table tellers (tid int primary key, bid int, tbalance int); \
         create table accounts (aid int primary key, bid int, abalance int); \
         create table history (tid int, bid int, aid int, delta int, mtime timestamp); \
         create table notes (who varchar(20), twice int, moment datetime(6), clock time, nothing int, rate double); \
         insert into branches values (1, 0)",
    );
    let values = |count: u32| {
        let rows: Vec<String> = (1..=count).map(|id| format!("({id}, 1, 0)")).collect();
        rows.join(",")
    };
    let (tellers, accounts) = (values(10), values(1000));
    sql(
        &scene,
        &format!("insert into tellers values {tellers}; insert into accounts values {accounts}"),
    );
    scene
}

fn sql(scene: &Scene, sql: &str) -> String {
    let client = [
        "server", "client", "s", "--", "test", "--batch", "-N", "-e", sql,
    ];
    scene.dbdyno(client).exits(0).text()
}

fn run(scene: &Scene, args: &[&str]) -> Finished {
    run_for(scene, "1s", args)
}

/// A run that its first pass ends, whenever the client gets a processor.
fn run_to_its_fault(scene: &Scene, args: &[&str]) -> Finished {
    run_for(scene, "10m", args)
}

fn run_for(scene: &Scene, duration: &str, args: &[&str]) -> Finished {
    scene.dbdyno(command(duration, args))
}

fn command<'a>(duration: &'a str, args: &[&'a str]) -> Vec<&'a str> {
    let common = ["--server", "s", "--duration", duration, "--seed", "5"];
    [&["script"], args, &common].concat()
}

/// A run that is interrupted once this query has this answer: how much is done in a time depends on the machine.
fn run_until(scene: &Scene, args: &[&str], query: &str, answer: &str) -> Finished {
    let mut running = scene.start(command("10m", args));
    let server = private_server::endpoint(scene, "s");
    running.wait_until("its work is done", || {
        rows(&server, query)[0].join("\t") == answer
    });
    running.signal(Signal::INT);
    running.finish().exits(130)
}

/// The first part leaves the sum of the balances as it was, the last one another `sql_mode`.
#[test]
fn values_reach_the_server_as_they_are() {
    let scene = scene();
    deadlocks_are_tried_again_with_the_same_values(&scene);
    scripts_do_the_same_in_every_mode(&scene);
    texts_are_quoted_as_the_session_reads_them(&scene);
}

#[test]
fn scripts_run_in_commands_and_experiments() {
    let scene = scene();
    faults_are_told_with_their_place(&scene);
    passes_that_send_nothing_leave_the_run_its_end(&scene);
    an_experiment_runs_scripts_and_keeps_their_files(&scene);
}

fn scripts_do_the_same_in_every_mode(scene: &Scene) {
    scene.file("tpcb.sql", TPCB);
    scene.file("answers.sql", ANSWERS);
    scene.file("names.csv", "name,w\n\"O'Neil\",1\n\\N,2\nZo\u{eb},0\n");
    for mode in ["prepared", "text", "prepare-each"] {
        let files = ["tpcb.sql@3", "answers.sql", "-D", "rate=2.5"];
        let options = ["--connections", "3", "--mode", mode, "--format", "json"];
        let before = sql(scene, "select count(*) from history");
        // Both scripts have run, and the second one with each of its values.
        let all = format!(
            "select (select count(*) > {} from history), count(distinct ifnull(who, 'NULL')), count(distinct twice) from notes",
            before.trim()
        );
        run_until(scene, &[&files[..], &options].concat(), &all, "1\t2\t3")
            .prints("tpcb:06 UPDATE accounts SET abalance = abalance");
        let sums = "select (select sum(abalance) from accounts) = (select sum(delta) from history), \
                    (select sum(tbalance) from tellers) = (select sum(delta) from history), \
                    (select sum(bbalance) from branches) = (select sum(delta) from history), \
                    count(*) > 0 from history";
        assert_eq!(sql(scene, sums).trim(), "1\t1\t1\t1", "{mode}");
        let notes = "select group_concat(distinct ifnull(who, 'NULL') order by who), \
                     group_concat(distinct twice order by twice), min(moment) > '2020-01-01', \
                     min(clock), max(clock), count(nothing), min(rate), max(rate) from notes";
        assert_eq!(
            sql(scene, notes).trim(),
            "NULL,O'Neil\t2,4,6\t1\t12:34:56\t12:34:56\t0\t2.5\t2.5",
            "{mode}"
        );
        sql(scene, "delete from notes");
    }
}

fn deadlocks_are_tried_again_with_the_same_values(scene: &Scene) {
    // Two rows in either order, in one transaction: connections wait for each other.
    scene.file(
        "swap.sql",
        "\\set a random(1, 2)\n\\set b 3 - :a\nBEGIN;\n\
         UPDATE accounts SET abalance = abalance + 1 WHERE aid = :a;\n\
         UPDATE accounts SET abalance = abalance - 1 WHERE aid = :b;\n\
         INSERT INTO notes (who, twice) VALUES ('swap', :a);\nCOMMIT;\n",
    );
    let some = "select count(*) > 100 from notes";
    run_until(scene, &["swap.sql", "--connections", "8"], some, "1");
    let check = "select (select sum(abalance) from accounts), \
                 (select abalance from accounts where aid = 1) = (select sum(if(twice = 1, 1, -1)) from notes)";
    assert_eq!(sql(scene, check).trim(), "0\t1");
    sql(scene, "delete from notes");
}

fn faults_are_told_with_their_place(scene: &Scene) {
    scene.file("bad.sql", "SELECT 1;\n\\if 1 = 1\nSELECT 2;\n");
    run(scene, &["bad.sql"])
        .exits(2)
        .says("bad.sql, line 2, column 1: this \\if has no \\endif");
    run(scene, &["bad.sql@0"]).exits(2).says("above 0");
    run(scene, &["none.sql"]).exits(2).says("none.sql");
    scene.file(
        "zero.sql",
        "\\set a random(0, 0)\n\\set b 1 / :a\nSELECT :b;\n",
    );
    run_to_its_fault(scene, &["zero.sql"])
        .exits(2)
        .says("zero.sql, line 2, column 1: division by zero");
    scene.file(
        "unset.sql",
        "SELECT 1 AS x FROM accounts WHERE aid < 0 \\aset\nSELECT :x;",
    );
    run_to_its_fault(scene, &["unset.sql"])
        .exits(2)
        .says("the variable :x is not set");
    scene.file(
        "none.sql",
        "SELECT 1 AS x FROM accounts WHERE aid < 0 \\gset\nSELECT :x;",
    );
    run_to_its_fault(scene, &["none.sql"])
        .exits(2)
        .says("\\gset needs one row, and there are 0");
    scene.file("syntax.sql", "SELEC :client_id FROM accounts;");
    for mode in ["prepared", "text", "prepare-each"] {
        run_to_its_fault(scene, &["syntax.sql", "--mode", mode])
            .exits(2)
            .says("syntax")
            .says("syntax:1 SELEC :client_id FROM accounts");
    }
    scene.file(
        "query.sql",
        "\\list ids from query 'SELEC 1'\n\\draw ids x_\nSELECT 1;",
    );
    run(scene, &["query.sql"])
        .exits(2)
        .says("query.sql, line 1, column 1: list `ids`: ");
    let empty =
        "\\list ids from query 'SELECT aid FROM accounts WHERE aid < 0'\n\\draw ids\nSELECT :aid;";
    scene.file("empty.sql", empty);
    run(scene, &["empty.sql"])
        .exits(2)
        .says("list `ids`: it has no rows");
    scene.file("same.sql", "SELECT 1;\n\\sleep 10 ms\n");
    run(scene, &["same.sql"])
        .exits(0)
        .says("same.sql: no random value");
    run(scene, &["same.sql", "-D", "1x=2"])
        .exits(2)
        .says("`1x` cannot be the name of a variable");
}

fn texts_are_quoted_as_the_session_reads_them(scene: &Scene) {
    scene.file("names.csv", "name\n\"a\\b'c\\\"\n\"a\\b'c\\\"\n");
    scene.file(
        "quote.sql",
        "\\list names from \"names.csv\"\n\\draw names n_\n\
         INSERT INTO notes (who) VALUES (:n_name);\n\
         SET sql_mode = 'NO_BACKSLASH_ESCAPES';\n\
         INSERT INTO notes (who) VALUES (:n_name);\n\
         SET sql_mode = '';\n",
    );
    let notes = "select count(*) > 1, count(distinct hex(who)), min(hex(who)) from notes";
    for global in ["", "NO_BACKSLASH_ESCAPES"] {
        sql(
            scene,
            &format!("delete from notes; set global sql_mode = '{global}'"),
        );
        let quote = ["quote.sql", "--mode", "text"];
        run_until(scene, &quote, notes, "1\t1\t615C6227635C");
    }
}

fn passes_that_send_nothing_leave_the_run_its_end(scene: &Scene) {
    scene.file(
        "quiet.sql",
        "\\set x random(1, 2)\n\\if :x = 3\nSELECT 1;\n\\endif\n",
    );
    run(scene, &["quiet.sql", "--connections", "2"]).exits(0);

    // An experiment that names the socket of a private server has its account, as `ab --server` writes it.
    scene.file("one.sql", "SELECT 1;\n");
    let socket = scene.servers_directory().join("s/run/mysqld.sock");
    let text = format!(
        "format = 1\n[server]\naddress = \"{}\"\n[load]\nscript = \"one.sql\"\nconnections = 1\nthink_time = \"10ms\"\n\
         warmup = \"0s\"\nduration = \"2s\"\n[disturbed]\nrepeats = \"0 %\"\n",
        socket.display()
    );
    scene.file("trial.toml", &text);
    scene.dbdyno(["run", "trial.toml"]).exits(0);
}

fn an_experiment_runs_scripts_and_keeps_their_files(scene: &Scene) {
    fs::create_dir(scene.path().join("sql")).unwrap();
    scene.file(
        "sql/pick.sql",
        "\\list ids from \"ids.csv\"\n\\draw ids\nSELECT abalance FROM accounts WHERE aid = :id + :offset;\n",
    );
    scene.file("sql/ids.csv", "id\n1\n2\n3\n");
    let socket = scene.servers_directory().join("s/run/mysqld.sock");
    scene.file(
        "own.toml",
        &format!(
            "format = 1\nquestion = \"Does the mode matter?\"\nrepeats = 2\n\
             [matrix]\nmode = [\"prepared\", \"text\"]\n\
             [server]\naddress = {socket:?}\nuser = \"plain\"\ndatabase = \"test\"\n\
             [load]\nscript = {{ files = [\"sql/pick.sql@2\"], mode = \"{{mode}}\", define = {{ offset = 4 }} }}\n\
             connections = 2\nthink_time = \"10ms\"\nwarmup = \"100ms\"\nduration = \"2s\"\n\
             [disturbed]\nrepeats = \"0 %\"\n",
        ),
    );
    sql(
        scene,
        "create user plain@localhost; grant all on test.* to plain@localhost",
    );
    scene
        .dbdyno(["run", "own.toml", "--results", "out"])
        .exits(0);
    for kept in ["sql/pick.sql", "sql/ids.csv"] {
        let copy = scene.path().join("out/files").join(kept);
        assert!(copy.is_file(), "{}", copy.display());
    }
    scene.file("sql/pick.sql", "SELECT :offset + nothing\n\\gset\n\\gset\n");
    scene
        .dbdyno(["run", "own.toml", "--results", "again"])
        .exits(2)
        .says("pick.sql, line 3, column 1: \\gset must follow a statement");
}
