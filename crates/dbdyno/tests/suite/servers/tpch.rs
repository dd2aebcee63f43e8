//! `dbdyno tpch`: loads with indexes for foreign keys, compared with dbgen's rows; refusals, drops and interruptions.

use rustix::process::Signal;
use serde_json::Value;

use crate::{
    private_server,
    results::Results,
    scene::{Finished, Scene},
};

/// The indexes of the largest table.
const KEYS: &str = "select group_concat(distinct index_name order by index_name) from information_schema.statistics \
                where table_schema = 'tpch' and table_name = 'lineitem'";

fn server() -> Scene {
    let scene = Scene::for_servers();
    let set = "innodb_buffer_pool_size=64M";
    scene
        .dbdyno(["server", "create", "one", "--set", set])
        .exits(0);
    scene
}

fn tpch(scene: &Scene, args: &[&str]) -> Finished {
    scene.dbdyno([&["tpch"], args, &["--server", "one"]].concat())
}

fn sql(scene: &Scene, sql: &str) -> String {
    private_server::text(scene, "one", Some("tpch"), sql).unwrap()
}

/// Loads at the smallest scale factor whose rows dbgen has all, and checks what the load tells and the indexes.
fn load(scene: &Scene, args: &[&str], indexes: &str) {
    let load = ["load", "--scale-factor", "0.01", "--format", "json"];
    let loaded = tpch(scene, &[&load, args].concat()).exits(0).text();
    let loaded: Value = serde_json::from_str(&loaded).expect("it is one JSON value");
    assert_eq!(loaded["rows"], 86_805);
    assert_eq!(sql(scene, KEYS), format!("{indexes}\n"), "{args:?}");
}

/// Every load and every check makes 300 MB of text first, which costs more than the rows: there are as few as possible.
#[test]
fn the_tables_hold_what_dbgen_makes_whenever_keys_are_made() {
    let scene = server();
    let with_indexes = "lineitem_order,lineitem_part_supplier,PRIMARY";
    load(
        &scene,
        &["--keys", "foreign", "--parallel", "3"],
        with_indexes,
    );
    let checked = tpch(&scene, &["check"])
        .exits(0)
        .prints("scale factor 0.01");
    assert_eq!(checked.text().matches("ok ").count(), 16);
    tpch(&scene, &["load"]).exits(2).hints("tpch cleanup");
    tpch(&scene, &["drop"]).exits(0).prints("dropped lineitem");
    let checked_at_once = [
        "--keys",
        "foreign",
        "--key-time",
        "before",
        "--checks",
        "on",
    ];
    load(&scene, &checked_at_once, with_indexes);
    what_is_wrong_is_found_and_what_is_in_the_way_is_left_alone(&scene);
    scene.dbdyno(["server", "destroy", "one"]).exits(0);
}

fn what_is_wrong_is_found_and_what_is_in_the_way_is_left_alone(scene: &Scene) {
    sql(
        scene,
        "set foreign_key_checks = 0; update part set p_size = p_size + 1 where p_partkey = 7; \
         delete from customer where c_custkey = 1",
    );
    let checked = tpch(scene, &["check"])
        .exits(1)
        .prints("WRONG  part: its rows are not those of dbgen")
        .prints("WRONG  customer: 1499 rows, not 1500")
        .prints("refer to missing rows of customer")
        .prints("ok     lineitem\n");
    assert_eq!(
        checked.text().matches("ok ").count(),
        13,
        "{}",
        checked.text()
    );
    let counted = tpch(scene, &["check", "--no-checksums"]).exits(1);
    assert!(
        counted.text().contains("ok     part\n"),
        "it is only counted"
    );

    sql(
        scene,
        "set foreign_key_checks = 0; drop table orders; create table orders (id int)",
    );
    tpch(scene, &["drop"]).exits(2).says("nothing was dropped");
    tpch(scene, &["check"]).exits(2).says("no table orders");
    sql(scene, "set foreign_key_checks = 0; drop table orders");
    tpch(scene, &["drop"]).exits(0);
    tpch(scene, &["drop"]).exits(0).prints("no tables");
    tpch(scene, &["load", "--scale-factor", "0"]).exits(2);
    // MariaDB's redo log cannot be disabled.
    tpch(scene, &["load", "--redo-log", "off"])
        .exits(2)
        .hints("8.0.21");
}

#[test]
fn an_interrupted_load_says_how_to_clear_up() {
    let scene = server();
    // Other keys would be made with their tables, before the first row.
    let args = "tpch load --server one --scale-factor 20 --keys primary --key-time before";
    let mut loading = scene.start(args.split(' '));
    let tables = scene.servers_directory().join("one/data/tpch/lineitem.ibd");
    loading.wait_until("there is a table", || tables.exists());
    loading.signal(Signal::INT);
    loading.finish().exits(130).hints("tpch cleanup");
    assert_eq!(sql(&scene, KEYS), "PRIMARY\n");
    tpch(&scene, &["drop"]).exits(0).prints("dropped lineitem");
    scene.dbdyno(["server", "destroy", "one"]).exits(0);
}

#[test]
fn the_load_of_a_table_is_measured_from_empty_every_time() {
    let scene = Scene::for_servers();
    let text = "format = 1\norder = \"file\"\n[matrix]\nstatements = [2, 3]\n\
                [server.set]\ninnodb_buffer_pool_size = \"64M\"\n\
                [data]\ncache = \"cold\"\ntpch = { scale_factor = 0.01, keys = \"foreign\" }\n\
                [load]\nconnections = 2\non_error = \"retry\"\ntpch = { table = \"lineitem\", statements = \"{statements}\" }\n\
                [verdict]\nmetric = \"elapsed\"\nbaseline = { statements = 2 }\nmin_effect = \"5 %\"\n";
    scene.file("load.toml", text);
    scene
        .dbdyno(["run", "load.toml", "--results", "results"])
        .exits(0)
        .prints("statements 3 against 2: ");
    let results = Results::at(scene.path().join("results"));
    for run in [1_u32, 2] {
        let record = results.text(&format!("run-{run:04}.jsonl"));
        let lines: Vec<Value> = record
            .lines()
            .map(|line| serde_json::from_str(line).expect("every line is JSON"))
            .collect();
        let only = |kind: &str| {
            lines
                .iter()
                .find(|line| line["line"] == kind)
                .expect("it has one")
        };
        let dataset = only("dataset");
        assert_eq!(dataset["rows"], 86_805 - 60_175, "lineitem was empty");
        assert_eq!(
            dataset["source"],
            "TPC-H at scale factor 0.01 without lineitem"
        );
        assert_eq!(only("end")["complete"], true);
        let done = |operation: &str| {
            let intervals = lines.iter().filter(|line| line["line"] == "interval");
            let all =
                intervals.flat_map(|line| line["operations"].as_array().expect("a list").clone());
            let of_it = all.filter(|one| one["operation"] == operation);
            of_it
                .map(|one| one["count"].as_u64().expect("a count"))
                .sum::<u64>()
        };
        assert_eq!((done("rows"), done("keys")), (u64::from(run) + 1, 1));
    }
}
