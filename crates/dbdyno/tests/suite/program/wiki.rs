//! `dbdyno wiki` and the contest's files, without a server: options that are refused, and the two lists of queries.

use crate::scene::Scene;

#[test]
fn dates_and_sizes_are_checked() {
    let scene = Scene::new();
    scene
        .dbdyno([
            "wiki",
            "prepare",
            "--until",
            "2013-02-30",
            "--server",
            "one",
        ])
        .exits(2)
        .says("--until: \"2013-02-30\" is not a date from 1980 to 9999");
    scene
        .dbdyno(["wiki", "prepare", "--pages", "5", "--server", "one"])
        .exits(2)
        .says("100");
    scene.file(
        "x.toml",
        "format = 1\n[data]\nwiki = { until = \"soon\" }\n[load]\nslap = { query = \"select 1\" }\nconnections = 1\nduration = \"1s\"\n",
    );
    scene
        .dbdyno(["run", "x.toml"])
        .exits(2)
        .says("x.toml:3")
        .says("\"soon\" is not a date");
}

/// A script is executed by servers without a query cache, too, and the clients of mysqlslap know no `source`: so there are
/// two files.
#[test]
fn the_contests_five_queries_are_its_six_without_the_first() {
    let six = include_str!("../../../../../experiments/tuningathon/queries.sql");
    let five = include_str!("../../../../../experiments/tuningathon/five.sql");
    assert_eq!(
        six.strip_prefix("RESET /* Q0 */ QUERY CACHE;\n"),
        Some(five)
    );
}
