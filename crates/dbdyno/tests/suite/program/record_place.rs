//! The file of a single run's record, and the page beside it.

use std::fs;

use crate::{null_server::null_server, scene::Scene};

#[test]
fn a_page_of_an_earlier_run_is_replaced_and_no_other() {
    let scene = Scene::new();
    let (_server, socket) = null_server(&scene, &[]);
    let run = || {
        let words =
            "oltp point_select run --connections=1 --operations=5 --record one.jsonl --socket";
        let words = words.split(' ').chain([socket.to_str().unwrap()]);
        scene.dbdyno(words)
    };
    let record = scene.path().join("one.jsonl");
    run().exits(0);
    fs::remove_file(&record).unwrap();
    run().exits(0);
    fs::remove_file(&record).unwrap();
    scene.file("one.html", "<p>My page about dbdyno.</p>");
    run().exits(2).says("one.html: the report would replace it");
    assert!(!record.exists());
}
