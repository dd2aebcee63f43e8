//! `dbdyno wiki` and `[data] wiki`: the two tables of a contest, and that nothing else is touched.

use serde_json::Value;

use crate::{
    results::Results,
    scene::{Finished, Scene},
};

fn wiki(scene: &Scene, args: &[&str]) -> Finished {
    scene.dbdyno([&["wiki"], args, &["--server", "one"]].concat())
}

fn sql(scene: &Scene, sql: &str) -> String {
    let client = [
        "server", "client", "one", "--", "wiki", "--batch", "-N", "-e", sql,
    ];
    scene.dbdyno(client).exits(0).text()
}

#[test]
fn the_tables_are_made_once_and_removed() {
    let scene = Scene::for_servers();
    scene.dbdyno(["server", "create", "one"]).exits(0);
    let keys = "select index_name, group_concat(column_name order by seq_in_index) from information_schema.statistics \
                where table_schema = 'wiki' and table_name = 'page' group by index_name order by index_name";
    let mut all = Vec::new();
    for key_time in ["before", "after"] {
        let made = wiki(
            &scene,
            &[
                "prepare",
                "--pages",
                "2k",
                "--key-time",
                key_time,
                "--format",
                "json",
            ],
        );
        let made: Value = serde_json::from_str(&made.exits(0).text()).unwrap();
        assert_eq!(
            (&made["pages"], &made["rows"]),
            (&2000.into(), &3915.into())
        );
        all.push((
            sql(&scene, keys),
            sql(&scene, "checksum table page, revision"),
        ));
        wiki(&scene, &["prepare", "--pages", "2k"])
            .exits(2)
            .says("exists already")
            .says("dbdyno wiki cleanup removes the tables");
        wiki(&scene, &["cleanup"])
            .exits(0)
            .prints("wiki: dropped page, revision\n");
    }
    assert!(all[0] == all[1], "{all:?}");
    assert!(
        all[0]
            .0
            .contains("page_redirect_namespace_len\tpage_is_redirect,page_namespace,page_len"),
        "{}",
        all[0].0
    );
    sql(&scene, "create table page (mine int)");
    wiki(&scene, &["prepare", "--pages", "2k"])
        .exits(2)
        .says("it does not belong to MediaWiki: name another database");
    wiki(&scene, &["cleanup"])
        .exits(2)
        .says("its columns are not those of MediaWiki");
    let table = sql(&scene, "show tables");
    assert_eq!(table, "page\n");
}

#[test]
fn the_contests_queries_run_over_them() {
    let scene = Scene::for_servers();
    scene.file(
        "contest.toml",
        "format = 1\nquestion = \"How fast are five queries?\"\n[data]\nwiki = { pages = 3000, until = \"2026-01-01\" }\n\
         [load]\nscript = \"five.sql\"\nconnections = 2\nthink_time = \"20ms\"\nwarmup = \"200ms\"\nduration = \"2s\"\n",
    );
    let five = include_str!("../../../../../experiments/tuningathon/five.sql");
    scene.file("five.sql", five);
    scene
        .dbdyno(["run", "contest.toml", "--results", "out"])
        .exits(0);
    let results = Results::at(scene.path().join("out"));
    let answered = results.sql("select errors, count from runs");
    assert_eq!(answered.len(), 1);
    assert_eq!(
        answered[0][0],
        rusqlite::types::Value::Integer(0),
        "{answered:?}"
    );
    assert_ne!(
        answered[0][1],
        rusqlite::types::Value::Integer(0),
        "{answered:?}"
    );
}
