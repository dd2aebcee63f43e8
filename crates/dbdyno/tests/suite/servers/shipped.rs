//! Experiments of `experiments/` on real servers: one for each way to make data and drive it. `program/shipped` plans
//! all of them, `long/shipped` runs the others, and TPC-C has its own in `tpcc`.

use rusqlite::types::Value::{Integer, Text};

use crate::{
    scene::Scene,
    shipped::{experiments, for_any_mariadb, rewritten, run, smaller, two_seconds, unhurried},
};

#[test]
fn a_shop_of_ones_own_data_runs() {
    let scene = Scene::for_servers();
    experiments(&scene);
    unhurried(&scene, "shop");
    let smaller = two_seconds("100s", smaller("0.02", &["flush=2", "connections=4"]));
    let results = run(&scene, "shop", &smaller);
    let record = results.record(1);
    let dataset = record.one("dataset");
    assert!(
        dataset["source"]
            .as_str()
            .unwrap()
            .starts_with("the tables of schema.sql, ")
    );
    assert!(record.count() > 0);
}

#[test]
fn a_library_from_its_dump() {
    let scene = Scene::for_servers();
    experiments(&scene);
    unhurried(&scene, "library");
    for_any_mariadb(&scene, "library");
    // So that few operations are enough for each script to be among them.
    for rare in ["account.sql@25", "desk.sql@10", "overdue.sql@5"] {
        let (script, _) = rare.split_once('@').unwrap();
        rewritten(&scene, "library", rare, &format!("{script}@60"));
    }
    let smaller = two_seconds("70s", smaller("0.03", &["version=mariadb"]));
    let results = run(&scene, "library", &smaller);
    // Every script ran, on the tables that its run's level says: with the index, the loans take more space.
    let ran = "select distinct operation from operations where count > 0 and errors = 0 and operation not like '%:%' \
               order by 1";
    let expected = ["account", "desk", "overdue", "search"].map(|name| vec![Text(name.to_owned())]);
    assert_eq!(results.sql(ran), expected);
    let [with, without] = ["with", "without"].map(|index| {
        let records = [1, 2].map(|run| results.record(run));
        let mut records = records.iter();
        let record = records
            .find(|it| it.one("run")["combination"]["index"] == index)
            .unwrap();
        let tables = record.one("table_sizes")["tables"].as_array().unwrap();
        let loans = tables.iter().find(|it| it["table"] == "loan").unwrap();
        loans["index_bytes"].as_u64().unwrap()
    });
    assert!(with > without, "{with} {without}");
}

#[test]
fn quickstart() {
    let scene = Scene::for_servers();
    experiments(&scene);
    unhurried(&scene, "quickstart");
    let smaller = two_seconds("20s", smaller("0.1", &["connections=2"]));
    let results = run(&scene, "quickstart", &smaller);
    assert!(
        results
            .text("report.html")
            .contains("what do durable updates cost?")
    );
}

#[test]
fn batch_beside_oltp() {
    let scene = Scene::for_servers();
    experiments(&scene);
    unhurried(&scene, "batch-beside-oltp");
    for_any_mariadb(&scene, "batch-beside-oltp");
    let smaller = two_seconds("100s", smaller("0.02", &["beside=report"]));
    let results = run(&scene, "batch-beside-oltp", &smaller);
    let found = results.sql("select beside, load, complete, count > 0 from results where beside = 'report' order by 1, 2");
    let expected = ["oltp", "report"].map(|load| {
        let [beside, load] = ["report", load].map(|name| Text(name.to_owned()));
        vec![beside, load, Integer(1), Integer(1)]
    });
    assert_eq!(found, expected);
}
