//! `prepare` of benchmarks that have a `check`: tables that it would find wrong are a failure of `prepare`.

use crate::{null_server::null_server, scene::Scene};

#[test]
fn prepare_fails_where_the_tables_are_not_as_prepared() {
    let scene = Scene::new();
    // It takes all rows and has none of them afterwards.
    let (_server, socket) = null_server(&scene, &[]);
    for (command, fault) in [
        (
            "oltp read_write prepare --table-size=100",
            "right after their load, sbtest: 1 of 1 tables not as prepared: sbtest1 is missing",
        ),
        (
            "tpch prepare --scale-factor=0.001",
            "right after its load, lineitem: 0 rows, not 6005",
        ),
        (
            "tpcc prepare --warehouses=1",
            "right after its load, condition 1 is violated",
        ),
    ] {
        let words = command
            .split(' ')
            .chain(["--socket", socket.to_str().unwrap()]);
        scene.dbdyno(words).exits(3).says(fault).hints("cleanup");
    }
    let unchecked = "tpcc prepare --warehouses=1 --no-check --socket";
    let words = unchecked.split(' ').chain([socket.to_str().unwrap()]);
    scene.dbdyno(words).exits(0);
}
