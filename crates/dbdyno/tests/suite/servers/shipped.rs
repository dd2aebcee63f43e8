//! Experiments of `experiments/` on real servers: one for each way to make data and drive it. `program/shipped` plans
//! all of them, `long/shipped` runs the others, and TPC-C has its own in `tpcc`.

use std::time::Duration;

use rusqlite::types::Value::{Integer, Text};

use crate::{
    scene::Scene,
    shipped::{experiments, for_any_mariadb, run_until, smaller, unhurried},
};

#[test]
fn a_shop_of_ones_own_data_runs() {
    let scene = Scene::for_servers();
    experiments(&scene);
    unhurried(&scene, "shop");
    let smaller = smaller("0.02", &["flush=2", "connections=4"]);
    let two_seconds = (Duration::from_secs(100), smaller.as_slice());
    let results = run_until(&scene, "shop", two_seconds, |results| {
        results.record(1).count() > 0
    });
    let record = results.record(1);
    let dataset = record.one("dataset");
    assert!(
        dataset["source"]
            .as_str()
            .unwrap()
            .starts_with("the tables of schema.sql, ")
    );
}

#[test]
fn a_library_from_its_dump() {
    let scene = Scene::for_servers();
    experiments(&scene);
    unhurried(&scene, "library");
    for_any_mariadb(&scene, "library");
    let smaller = smaller("0.03", &["version=mariadb"]);
    let two_seconds = (Duration::from_secs(70), smaller.as_slice());
    let ran = "select distinct operation from operations where count > 0 and errors = 0 and operation not like '%:%' \
               order by 1";
    let all = ["account", "desk", "overdue", "search"].map(|name| vec![Text(name.to_owned())]);
    // Every script ran, on the tables that its run's level says: with the index, the loans take more space.
    let results = run_until(&scene, "library", two_seconds, |results| {
        results.sql(ran) == all
    });
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
    let smaller = smaller("0.1", &["connections=2"]);
    let two_seconds = (Duration::from_secs(20), smaller.as_slice());
    let results = run_until(&scene, "quickstart", two_seconds, |_| true);
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
    let smaller = smaller("0.02", &["beside=report"]);
    let two_seconds = (Duration::from_secs(100), smaller.as_slice());
    let found = "select beside, load, complete, count > 0 from results where beside = 'report' order by 1, 2";
    let expected = ["oltp", "report"].map(|load| {
        let [beside, load] = ["report", load].map(|name| Text(name.to_owned()));
        vec![beside, load, Integer(1), Integer(1)]
    });
    run_until(&scene, "batch-beside-oltp", two_seconds, |results| {
        results.sql(found) == expected
    });
}
