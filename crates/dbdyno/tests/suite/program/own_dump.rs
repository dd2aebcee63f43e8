//! `[data] dump`: what is refused before a server is made.

use crate::{own_experiment::experiment, scene::Scene};

#[test]
fn a_dump_that_is_not_there_or_has_no_place_is_refused() {
    let scene = Scene::new();
    scene.file("load.sql", "\\set id random(0, 3)\nSELECT :id;\n");
    let run = || scene.dbdyno(["run", "own.toml"]).exits(2);
    scene.file("own.toml", &experiment("", "dump = \"prod.sql\""));
    scene.file("prod.sql", "BZh91AY&SY");
    run().says("bunzip2 --keep unpacks it");
    scene.file("prod.sql", "");
    run()
        .says("prod.sql: the file is empty")
        .hints("create the dump again");
    scene.file("prod.sql", "CREATE TABLE t (a int);\n");
    scene.file("own.toml", &experiment("", "dump = \"none.sql\""));
    run().says("none.sql");
    scene.file(
        "own.toml",
        &experiment("", "dump = \"prod.sql\"\nsql = \"load.sql\""),
    );
    run().says("`sql` cannot be used with `dump`");
    let given = experiment("address = \"db1\"", "dump = \"prod.sql\"");
    scene.file("own.toml", &given);
    run().says("`dump` is for a private server");
}
