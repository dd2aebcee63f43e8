//! sysbench's OLTP workloads as data and load of an experiment, on a real server and on the null server.

use crate::{
    results::{Results, names_in},
    scene::Scene,
};

const EXPERIMENT: &str = r#"
format = 1
order = "file"
[matrix]
script = ["point_select", "read_write"]
[server]
set = { innodb_buffer_pool_size = "32M" }
[data]
oltp = { tables = 2, table_size = "1k" }
[load]
oltp = { script = "{script}", point_selects = 3, range_selects = false }
connections = 2
think_time = "10ms"
warmup = "500ms"
duration = "2s"
[disturbed]
repeats = "0 %"
"#;

#[test]
fn more_prepared_statements_than_the_server_allows_are_refused_before_data_is_loaded() {
    let scene = Scene::for_servers();
    let text = EXPERIMENT.replace("\"32M\"", "\"32M\", max_prepared_stmt_count = 10");
    scene.file("scripts.toml", &text);
    // The first run, of point_select, would fit.
    scene
        .dbdyno(["run", "scripts.toml"])
        .exits(2)
        .says("2 connections prepare ")
        .says("but the server allows only 10")
        .hints("set = { max_prepared_stmt_count = ");
    let results = names_in(&scene.path().join("results/scripts-1"));
    assert!(!results.contains("run-0001.jsonl"), "{results:?}");
    scene.nothing_is_left();
}

#[test]
fn an_experiment_runs_sysbenchs_scripts_on_its_tables() {
    let scene = Scene::for_servers();
    scene.file("scripts.toml", EXPERIMENT);
    scene.dbdyno(["run", "scripts.toml"]).exits(0);
    let results = Results::at(scene.path().join("results/scripts-1"));
    for (run, state) in [(1, "loaded"), (2, "restored")] {
        let record = results.record(run);
        let dataset = record.one("dataset");
        assert_eq!(dataset["source"], "sysbench's 2 tables of 1000 rows");
        assert_eq!(dataset["rows"], 2000);
        assert_eq!(dataset["state"], state);
        assert!(record.count() > 0);
    }
    // Three point selects, two updates, a delete, an insert, BEGIN and COMMIT; no ranges.
    let text = results.text("run-0002.jsonl");
    assert!(text.contains("\"operation\":\"read_write\""));
    for (statement, is_run) in [
        ("point_select", true),
        ("delete", true),
        ("sum_range", false),
    ] {
        let name = format!("\"statement\":\"{statement}");
        assert_eq!(text.contains(&name), is_run, "{statement}");
    }
    scene.nothing_is_left();

    // The same plan can be simulated without a server.
    scene.dbdyno(["run", "scripts.toml", "--simulate"]).exits(0);
}
