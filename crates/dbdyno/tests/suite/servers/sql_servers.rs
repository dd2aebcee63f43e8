//! `dbdyno sql compare` and `sql advise` with servers of their own: option files, versions, and copies that do not
//! start.

use std::{collections::BTreeSet, fs, thread, time::Duration};

use serde_json::Value;

use crate::{results::names_in, scene::Scene};

/// The time between two looks at copies that are made, and how many looks are enough on the busiest machine.
const POLL: Duration = Duration::from_millis(2);
const LOOKS: u32 = 150_000;

const SCHEMA: &str = "create table item (id int primary key auto_increment, price int not null, kind int not null) engine=InnoDB;\n\
                      insert into item (price, kind) values (1, 1), (2, 1), (3, 2), (4, 2), (5, 3), (6, 3), (7, 4), (8, 4);\n\
                      insert into item (price, kind) select a.price + b.price, a.kind from item a, item b, item c, item d;\n";

fn one_json(text: &str) -> Value {
    serde_json::from_str(text).expect("it is one JSON value")
}

/// A server `one` with this buffer pool, and the schema in the database `shop`.
fn create_shop(scene: &Scene, buffer_pool: &str) {
    let pool = format!("innodb_buffer_pool_size={buffer_pool}");
    scene
        .dbdyno(["server", "create", "one", "--set", &pool])
        .exits(0);
    let load = format!("create database shop; use shop; {SCHEMA}");
    let client = ["server", "client", "one", "--", "-e", &load];
    scene.dbdyno(client).exits(0);
}

#[test]
fn option_files_and_versions_are_compared_on_new_servers() {
    let scene = Scene::for_servers();
    let setup = scene.file("setup.sql", SCHEMA);
    let setup = setup.to_str().expect("the path is text");
    scene.file("small.cnf", "[mysqld]\ninnodb_buffer_pool_size=32M\n");
    let large = "[mysqld]\ninnodb_buffer_pool_size=48M\nsql_mode=''\n";
    scene.file("large.cnf", large);
    let query = "select /* Q */ @@innodb_buffer_pool_size > 40000000, count(*) from item";
    let compare = |args: &[&str]| {
        let common = ["--runs", "3", "--budget", "5s", "--format", "json"];
        scene.dbdyno([&["sql", "compare", "-e", query], args, &common].concat())
    };
    let files = ["--cnf", "small.cnf,large.cnf"];
    let on_new = ["--setup", setup, "--database", "shop"];
    // Each side has its own options, which the statement shows.
    let found = compare(&[&files[..], &on_new].concat()).exits(1).text();
    let found = one_json(&found);
    let comparison = &found["comparisons"][0];
    assert_eq!(comparison["variant"], "large", "{found}");
    assert_eq!(comparison["result"], "different", "{found}");
    assert_eq!(
        (&found["baseline"], &found["setup"]),
        (&"small".into(), &setup.into())
    );
    let run = ["--run", "mariadb", "--cnf", "small.cnf,small.cnf"];
    compare(&[&run[..], &on_new].concat())
        .exits(2)
        .says("two sides have the name mariadb+small");
    for (args, message) in [
        (&["--run", "mariadb,mysql-1.0"][..], "mysql-1.0"),
        (&["--cnf", "small.cnf"], "is the only side"),
        (&["--cnf", "small.cnf,gone.cnf"], "gone.cnf"),
    ] {
        compare(&[args, &on_new].concat()).exits(2).says(message);
    }
    compare(&["--run", "mariadb,mysql"])
        .exits(2)
        .says("--setup FILE.sql");
    let wrong = scene.file(
        "wrong.sql",
        "create table a (id int);\ninsert into gone values (1);\n",
    );
    let wrong = wrong.to_str().expect("the path is text");
    compare(&["--setup", wrong, "--variant", "a: set @a = 1"])
        .exits(3)
        .says("wrong.sql:2:1: error 1146");
    assert!(names_in(&scene.servers_directory()).is_empty());

    // The same files on copies of a server.
    create_shop(&scene, "40M");
    let on_copies = ["--server", "one", "--database", "shop"];
    let found = compare(&[&files[..], &on_copies].concat()).exits(1).text();
    let found = one_json(&found);
    assert_eq!(found["comparisons"][0]["result"], "different", "{found}");
    assert_eq!(found["copied_server"], "one", "{found}");
    scene.file("other.cnf", "[mysqld]\ninnodb_page_size=8K\n");
    compare(&[&["--cnf", "small.cnf,other.cnf"][..], &on_copies].concat())
        .exits(2)
        .says("innodb_page_size");
    scene.dbdyno(["server", "destroy", "one"]).exits(0);
    scene.nothing_is_left();
}

/// Candidates take turns on the second copy: without it none of them can be made, and that is their result.
#[test]
fn candidates_whose_copy_does_not_start_cannot_be_made() {
    let scene = Scene::for_servers();
    create_shop(&scene, "32M");
    let query = "select /* Q */ count(kind) from item where price = 3";
    let advise = [
        "sql",
        "advise",
        "-e",
        query,
        "--try",
        "--budget",
        "5s",
        "--server",
        "one",
        "--database",
        "shop",
        "--format",
        "json",
    ];
    let running = scene.start(advise);
    // The second copy gets an option that no server knows, while the first one starts.
    let servers = scene.servers_directory();
    let spoiled = thread::scope(|scope| {
        let spoiling = scope.spawn(|| {
            for _ in 0..LOOKS {
                let names = names_in(&servers);
                let started = names.iter().find(|it| it.ends_with("-1"));
                let log = started.map(|it| servers.join(it).join("server.log"));
                let log = log.and_then(|log| fs::metadata(log).ok());
                let is_started = log.is_some_and(|it| it.len() > 0);
                let second = names
                    .iter()
                    .find(|it| it.ends_with("-2") && it.starts_with("one-"));
                if let (Some(second), true) = (second, is_started) {
                    let file = servers.join(second).join("my.cnf");
                    let text = fs::read_to_string(&file).unwrap_or_default();
                    return fs::write(&file, format!("{text}\nno_such_option=1\n")).is_ok();
                }
                thread::sleep(POLL);
            }
            false
        });
        spoiling.join().expect("the thread ends")
    });
    assert!(spoiled);
    let tried = one_json(&running.finish().text());
    let candidates = tried["candidates"].as_array().expect("a list");
    let outcomes: Vec<&str> = candidates
        .iter()
        .filter_map(|it| it["trial"]["outcome"].as_str())
        .collect();
    assert!(outcomes.len() >= 2, "{tried}");
    assert!(outcomes.iter().all(|it| *it == "cannot be made"), "{tried}");
    assert_eq!(
        names_in(&servers),
        BTreeSet::from(["one".to_owned()]),
        "no copy is left"
    );
    scene.dbdyno(["server", "destroy", "one"]).exits(0);
}
