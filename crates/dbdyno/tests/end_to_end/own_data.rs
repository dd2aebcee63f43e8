//! `[data]` of the user's own: tables by SQL, on private and on given servers.

use crate::{results::Results, scene::Scene};

/// A schema as people write one, with a second file, a trigger with a delimiter of its own, and comments.
const SCHEMA: &str = "\
-- The shop; it has customers.
CREATE TABLE customer (
  id int NOT NULL PRIMARY KEY, -- not generated; see rows.sql
  name varchar(40) NOT NULL /* in any script; */
);
CREATE TABLE log (customer int, what varchar(10));
DELIMITER //
CREATE TRIGGER noted AFTER INSERT ON customer FOR EACH ROW
BEGIN
  INSERT INTO log VALUES (NEW.id, 'new;');
END//
DELIMITER ;
source rows.sql
";

const ROWS: &str = "INSERT INTO customer VALUES (1, 'O''Neil; \"A\"'), (2, 'Zo\u{eb}');\n";

/// An experiment over data of one's own; `load` is the script.
fn experiment(server: &str, data: &str) -> String {
    format!(
        "format = 1\nquestion = \"Is it there?\"\n[server]\n{server}\n[data]\n{data}\n\
         [load]\nscript = \"load.sql\"\nconnections = 2\nwarmup = \"100ms\"\nduration = \"300ms\"\n\
         [disturbed]\nrepeats = \"0 %\"\n"
    )
}

#[test]
fn a_schema_makes_the_tables_of_scripts() {
    let scene = Scene::new();
    std::fs::create_dir(scene.path().join("sql")).unwrap();
    scene.file("sql/schema.sql", SCHEMA);
    scene.file("sql/rows.sql", ROWS);
    scene.file(
        "load.sql",
        "\\set id random(1, 2)\nSELECT c.name, l.what FROM customer c JOIN log l ON l.customer = c.id \
         WHERE c.id = :id AND l.what = 'new;' \\gset\n",
    );
    let text = experiment("", "sql = \"sql/schema.sql\"");
    scene.file("own.toml", &text);
    scene
        .dbdyno(["run", "own.toml", "--results", "out"])
        .exits(0);
    let results = Results::at(scene.path().join("out"));
    let record = results.record(1);
    let dataset = record.one("dataset");
    assert_eq!(dataset["source"], "the tables of schema.sql");
    assert_eq!(dataset["rows"], 4);
    assert!(record.count() > 0);
    // Both files belong to the experiment.
    for kept in ["sql/schema.sql", "sql/rows.sql"] {
        assert!(scene.path().join("out/files").join(kept).is_file());
    }
    scene.file("sql/rows.sql", "INSERT INTO customer VALUES (3, 'new');\n");
    scene
        .dbdyno(["run", "own.toml", "--results", "out", "--resume"])
        .exits(2)
        .says("rows.sql has changed since");
    scene.nothing_is_left();
}

#[test]
fn a_faulty_schema_is_told_with_its_line() {
    let scene = Scene::new();
    scene.file("load.sql", "SELECT :client_id + random(1, 9);\n");
    scene.file("own.toml", &experiment("", "sql = \"schema.sql\""));
    let run = || scene.dbdyno(["run", "own.toml"]).exits(2);
    run().says("schema.sql");
    for (schema, message) in [
        ("-- nothing\n", "there is no statement in it"),
        (
            "create table t (a int);\nuse shop;\n",
            "schema.sql:2:1: USE shop",
        ),
        (
            "create table t (a int);\nselect 'a\n",
            "schema.sql:2:8: a quotation is not closed",
        ),
        ("delimiter\n", "delimiter: which one?"),
    ] {
        scene.file("schema.sql", schema);
        run().says(message);
    }
    // What only the server knows.
    scene.file(
        "schema.sql",
        "create table t (a int);\ncreate table u (\n  a int,\n  b int wrong);\n",
    );
    run()
        .says("schema.sql:4:14: create table u ( a int, b int wrong): error 1064")
        .says("correct it and run again");
    scene.file(
        "own.toml",
        &experiment("", "sql = \"schema.sql\"\noltp = { tables = 1 }"),
    );
    run().says("`oltp` has no meaning beside `sql`");
    scene.nothing_is_left();
}

#[test]
fn a_given_server_loses_nothing_that_is_not_dbdynos() {
    let scene = Scene::new();
    scene.dbdyno(["server", "create", "s"]).exits(0);
    let sql = |sql: &str| {
        let client = [
            "server", "client", "s", "--", "test", "--batch", "-N", "-e", sql,
        ];
        scene.dbdyno(client).exits(0).text()
    };
    let socket = scene.servers_directory().join("s/run/mysqld.sock");
    let server = format!("address = {socket:?}\nuser = \"plain\"\ndatabase = \"test\"");
    scene.file(
        "load.sql",
        "\\set id random(1, 2)\nSELECT a FROM mine WHERE a = :id;\n",
    );
    scene.file("own.toml", &experiment(&server, "sql = \"schema.sql\""));
    let schema = |text: &str| scene.file("schema.sql", text);
    let run = |code| {
        scene
            .dbdyno(["run", "own.toml", "--results", "out"])
            .exits(code)
    };
    sql(
        "create user plain@localhost; grant all on *.* to plain@localhost; create table theirs (a int); insert into theirs values (7); create table mine (other int)",
    );
    for (text, message) in [
        (
            "create table mine (a int); drop table theirs;",
            "schema.sql:1:28: drop table theirs: this file does not create theirs",
        ),
        (
            "create table mine (a int); create view v as select 1;",
            "it may change more than the tables",
        ),
        (
            "create table mine (a int); drop database test;",
            "it may change more than the tables",
        ),
        (
            "create table mine (a int); set global max_connections = 9;",
            "it may change more than the tables",
        ),
        // A table of another user has the name.
        (
            "drop table if exists mine; create table mine (a int);",
            "table test.mine exists already",
        ),
    ] {
        schema(text);
        run(2).says(message);
        assert_eq!(
            sql("select a from theirs; show columns from mine")
                .trim()
                .lines()
                .next(),
            Some("7")
        );
        assert!(sql("show columns from mine").contains("other"));
    }
    sql("drop table mine");
    std::fs::remove_dir_all(scene.path().join("out")).ok();
    schema("create table mine (a int primary key); insert into mine values (1), (2);");
    run(0);
    assert_eq!(sql("show tables").trim(), "theirs");
    scene.dbdyno(["server", "destroy", "s"]).exits(0);
    scene.nothing_is_left();
}
