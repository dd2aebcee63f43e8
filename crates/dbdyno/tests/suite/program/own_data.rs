//! `[data]` of the user's own: schemas, rules and CSV files that are refused before a server is made.

use crate::{own_experiment::experiment, scene::Scene};

#[test]
fn a_faulty_schema_is_refused_with_its_line() {
    let scene = Scene::new();
    scene.file("load.sql", "SELECT :client_id + random(1, 9);\n");
    scene.file("own.toml", &experiment("", "sql = \"schema.sql\""));
    let run = || scene.dbdyno(["run", "own.toml"]).exits(2);
    run().says("schema.sql");
    for (schema, message) in [
        ("-- nothing\n", "it contains no statement"),
        (
            "create table t (a int);\nuse shop;\n",
            "schema.sql:2:1: USE shop",
        ),
        (
            "create table t (a int);\nselect 'a\n",
            "schema.sql:2:8: a quotation is not closed",
        ),
        ("delimiter\n", "delimiter: which one?"),
    ] {
        scene.file("schema.sql", schema);
        run().says(message);
    }
    scene.file(
        "own.toml",
        &experiment("", "sql = \"schema.sql\"\noltp = { tables = 1 }"),
    );
    run().says("`oltp` has no effect with `sql`");
}

#[test]
fn faulty_rules_are_refused_with_their_line() {
    let scene = Scene::new();
    scene.file("load.sql", "\\set id random(1, 10)\nSELECT :id;\n");
    scene.file(
        "schema.sql",
        "create table t (id int primary key, p point not null);",
    );
    let table = |rest: &str| format!("generate = {{ t = {{ {rest} }} }}");
    for (data, message) in [
        (
            table("rows = 5"),
            "own.toml:6:12: generate: table t: it has no columns",
        ),
        (
            table("rows = \"many\""),
            "table t: rows: \"many\" is not a count",
        ),
        (table("columns = { a = \"sequence\" }"), "`rows` is missing"),
        (
            table("rows = 5, columns = { a = \"sometimes\" }"),
            "t.a: \"sometimes\" is not a rule",
        ),
        (
            table("rows = 5, columns = { a = \"references u.id\" }"),
            "u.id is not a column of a generated table",
        ),
        ("generate = \"t\"".to_owned(), "generate"),
        (
            "sql = \"schema.sql\"\ngenerate = { u = { rows = 5 } }".to_owned(),
            "table u is not created by",
        ),
    ] {
        scene.file("own.toml", &experiment("", &data));
        scene.dbdyno(["run", "own.toml"]).exits(2).says(message);
    }
}

#[test]
fn csv_files_without_their_table_are_refused() {
    let scene = Scene::new();
    scene.file("schema.sql", "create table account (id int primary key);");
    scene.file("load.sql", "\\set id random(1, 10)\nSELECT :id;\n");
    scene.file("ids.csv", "id\n1\n2\n");
    let run = |data: &str| {
        scene.file("own.toml", &experiment("", data));
        scene.dbdyno(["run", "own.toml"]).exits(2)
    };
    run("csv = { account = \"ids.csv\" }")
        .says("own.toml:6:7: csv: the types of the columns come from a table");
    run("sql = \"schema.sql\"\ncsv = { acount = \"ids.csv\" }")
        .says("csv: table acount is not created by");
    run("sql = \"schema.sql\"\ncsv = { account = \"none.csv\" }").says("none.csv");
}
