//! The prepared statements of a load: more than the server allows are refused before anything is measured.

use crate::{null_server::null_server, scene::Scene};

#[test]
fn more_prepared_statements_than_the_server_allows_are_refused_before_the_load() {
    let scene = Scene::new();
    let (_server, socket) = null_server(&scene, &["--variable", "max_prepared_stmt_count=10"]);
    let script = "\\set a random(1, 9)\nSELECT :a;\nSELECT :a + 1;\n";
    scene.file("two.sql", script);
    for (command, fault, remedy) in [
        (
            "oltp point_select run --connections=11",
            "11 connections prepare 11 statements, but the server allows only 10",
            "SET GLOBAL max_prepared_stmt_count=11, or --db-ps-mode=disable",
        ),
        (
            "script run two.sql --connections=6",
            "6 connections prepare 12 statements, but the server allows only 10",
            "SET GLOBAL max_prepared_stmt_count=12, or --mode text",
        ),
        (
            // One courier for two terminals.
            "tpcc run --connections=2",
            "3 connections prepare ",
            ", or fewer --connections",
        ),
    ] {
        let place = ["--record", "refused.jsonl", "--socket"];
        let words = command.split(' ').chain(place);
        let words = words.chain([socket.to_str().unwrap()]);
        scene.dbdyno(words).exits(2).says(fault).hints(remedy);
        assert!(!scene.path().join("refused.jsonl").exists(), "{command}");
    }
}
