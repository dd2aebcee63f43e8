//! mysqlslap's tables and clients as data and load of an experiment, on a real server and on the null server.

use crate::{mariadb::MariaDb, results::Results, scene::Scene};

const EXPERIMENT: &str = r#"
format = 1
order = "file"
[matrix]
load_type = ["key", "write"]
[server]
set = { innodb_buffer_pool_size = "32M" }
[data]
slap = { auto_generate_sql = true, auto_generate_sql_add_autoincrement = true, auto_generate_sql_write_number = "3k", engine = "innodb" }
[load]
slap = { auto-generate-sql = true, auto-generate-sql-load-type = "{load_type}", commit = 10 }
connections = 2
think_time = "10ms"
warmup = "200ms"
duration = "2s"
[disturbed]
repeats = "0 %"
"#;

const OWN: &str = r#"
format = 1
[server]
set = { innodb_buffer_pool_size = "32M" }
[data]
slap = { create = "tables.sql", delimiter = ";" }
[load]
slap = { query = "select * from pairs where a = 1; insert into log values ()", delimiter = ";", number_of_queries = 101 }
connections = 4
[disturbed]
repeats = "0 %"
"#;

const TABLES: &str = "create table pairs (a int primary key, b int); insert into pairs values (1, 2), (3, 4);\n\
                      create table log (id int auto_increment primary key);";

#[test]
fn an_experiment_runs_mysqlslaps_load_types_on_its_table() {
    let scene = Scene::for_servers();
    scene.file("types.toml", EXPERIMENT);
    scene.dbdyno(["run", "types.toml"]).exits(0);
    let results = Results::at(scene.path().join("results/types-1"));
    for (run, state, operation) in [(1, "loaded", "select"), (2, "restored", "insert")] {
        let record = results.record(run);
        let dataset = record.one("dataset");
        assert_eq!(dataset["source"], "mysqlslap's table of 2999 rows");
        assert_eq!(
            (dataset["rows"].as_u64(), &dataset["state"]),
            (Some(2999), &state.into())
        );
        assert!(record.count() > 0);
        let text = results.text(&format!("run-000{run}.jsonl"));
        for name in [operation, "(commit)"] {
            assert!(
                text.contains(&format!("\"operation\":\"{name}\"")),
                "{name}"
            );
        }
    }
    scene.nothing_is_left();

    // The same plan can be simulated without a server.
    scene.dbdyno(["run", "types.toml", "--simulate"]).exits(0);
}

#[test]
fn an_experiment_runs_so_many_statements_of_ones_own_on_tables_of_ones_own() {
    let scene = Scene::for_servers();
    scene.file("own.toml", OWN);
    scene.file("tables.sql", TABLES);
    scene.dbdyno(["run", "own.toml"]).exits(0);
    let results = Results::at(scene.path().join("results/own-1"));
    let record = results.record(1);
    let dataset = record.one("dataset");
    assert_eq!(dataset["source"], "the tables of tables.sql");
    assert_eq!(dataset["rows"], 2);
    assert_eq!(record.count(), 101);
    // A finished experiment can be repeated from its results, with the original file.
    scene.file("tables.sql", "create table other (a int)");
    scene.dbdyno(["rerun", "results/own-1"]).exits(0);
    let again = Results::at(scene.path().join("results/own-2"));
    assert_eq!(again.record(1).count(), 101);
    scene.nothing_is_left();
}

#[test]
fn a_file_without_a_statement_is_told_before_anything_starts() {
    let scene = Scene::for_servers();
    scene.file("own.toml", OWN);
    scene.file("tables.sql", " ;\n;");
    scene
        .dbdyno(["run", "own.toml"])
        .exits(2)
        .says("tables.sql has no statement");
    assert!(!scene.path().join("results").exists());
}

/// The load's DROP TABLE IF EXISTS refers to the table of an earlier run.
#[test]
fn a_table_of_its_name_on_a_given_server_is_somebody_elses() {
    let scene = Scene::for_servers();
    let mariadb = MariaDb::start(&scene, &[]);
    mariadb.rows("create table test.t1 (theirs int)");
    mariadb.rows("insert into test.t1 values (7)");
    let given = |source: &str| {
        let server = mariadb.as_experiment();
        format!(
            "format = 1\n[server]\n{server}\ndatabase = \"test\"\n[data]\nslap = {{ {source} }}\n\
             [load]\nslap = {{ query = \"select 1\", number_of_queries = 4 }}\nconnections = 1\n"
        )
    };
    scene.file("given.toml", &given("auto_generate_sql = true"));
    scene
        .dbdyno(["run", "given.toml"])
        .exits(2)
        .says("table test.t1 exists already");
    // The user's own tables need a database that is dropped first: on a private server only.
    scene.file("given.toml", &given("create = \"create table x (a int)\""));
    scene
        .dbdyno(["run", "given.toml"])
        .exits(2)
        .says("private server");
    assert_eq!(mariadb.rows("select theirs from test.t1"), [["7"]]);
}
