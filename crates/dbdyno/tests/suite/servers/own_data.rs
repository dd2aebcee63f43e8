//! `[data]` of the user's own: tables by SQL, on private and on given servers.

use crate::{own_experiment::experiment, results::Results, scene::Scene};

/// A schema as people write one, with a second file, a trigger with a delimiter of its own, and comments.
const SCHEMA: &str = "\
-- The shop; it has customers.
CREATE TABLE customer (
  id int NOT NULL PRIMARY KEY, -- not generated; see rows.sql
  name varchar(40) NOT NULL /* in any script; */
);
CREATE TABLE log (customer int, what varchar(10));
DELIMITER //
CREATE TRIGGER noted AFTER INSERT ON customer FOR EACH ROW
BEGIN
  INSERT INTO log VALUES (NEW.id, 'new;');
END//
DELIMITER ;
source rows.sql
";

const ROWS: &str = "INSERT INTO customer VALUES (1, 'O''Neil; \"A\"'), (2, 'Zo\u{eb}');\n";

#[test]
fn a_schema_makes_the_tables_of_scripts() {
    let scene = Scene::for_servers();
    std::fs::create_dir(scene.path().join("sql")).unwrap();
    scene.file("sql/schema.sql", SCHEMA);
    scene.file("sql/rows.sql", ROWS);
    scene.file(
        "load.sql",
        "\\set id random(1, 2)\nSELECT c.name, l.what FROM customer c JOIN log l ON l.customer = c.id \
         WHERE c.id = :id AND l.what = 'new;' \\gset\n",
    );
    let text = experiment("", "sql = \"sql/schema.sql\"");
    scene.file("own.toml", &text);
    scene
        .dbdyno(["run", "own.toml", "--results", "out"])
        .exits(0);
    let results = Results::at(scene.path().join("out"));
    let record = results.record(1);
    let dataset = record.one("dataset");
    assert_eq!(dataset["source"], "the tables of schema.sql");
    assert_eq!(dataset["rows"], 4);
    assert!(record.count() > 0);
    // Both files belong to the experiment.
    for kept in ["sql/schema.sql", "sql/rows.sql"] {
        assert!(scene.path().join("out/files").join(kept).is_file());
    }
    scene.file("sql/rows.sql", "INSERT INTO customer VALUES (3, 'new');\n");
    scene
        .dbdyno(["run", "own.toml", "--results", "out", "--resume"])
        .exits(2)
        .says("rows.sql has changed since");
    scene.nothing_is_left();
}

#[test]
fn a_faulty_statement_of_a_schema_is_reported_with_its_line() {
    let scene = Scene::for_servers();
    scene.file("load.sql", "SELECT :client_id + random(1, 9);\n");
    scene.file("own.toml", &experiment("", "sql = \"schema.sql\""));
    let run = || scene.dbdyno(["run", "own.toml"]).exits(2);
    // What only the server knows.
    scene.file(
        "schema.sql",
        "create table t (a int);\ncreate table u (\n  a int,\n  b int wrong);\n",
    );
    run()
        .says("schema.sql:4:14: create table u ( a int, b int wrong): error 1064")
        .says("correct it and run again");
    scene.nothing_is_left();
}

#[test]
fn a_given_server_loses_nothing_that_is_not_dbdynos() {
    let scene = Scene::for_servers();
    scene.dbdyno(["server", "create", "s"]).exits(0);
    let sql = |sql: &str| {
        let client = [
            "server", "client", "s", "--", "test", "--batch", "-N", "-e", sql,
        ];
        scene.dbdyno(client).exits(0).text()
    };
    let socket = scene.servers_directory().join("s/run/mysqld.sock");
    let server = format!("address = {socket:?}\nuser = \"plain\"\ndatabase = \"test\"");
    scene.file(
        "load.sql",
        "\\set id random(1, 2)\nSELECT a FROM mine WHERE a = :id;\n",
    );
    scene.file("own.toml", &experiment(&server, "sql = \"schema.sql\""));
    let schema = |text: &str| scene.file("schema.sql", text);
    let run = |code| {
        scene
            .dbdyno(["run", "own.toml", "--results", "out"])
            .exits(code)
    };
    sql(
        "create user plain@localhost; grant all on *.* to plain@localhost; create table theirs (a int); insert into theirs values (7); create table mine (other int)",
    );
    for (text, message) in [
        (
            "create table mine (a int); drop table theirs;",
            "schema.sql:1:28: drop table theirs: this file does not create theirs",
        ),
        (
            "create table mine (a int); create view v as select 1;",
            "it may change more than the tables",
        ),
        (
            "create table mine (a int); drop database test;",
            "it may change more than the tables",
        ),
        (
            "create table mine (a int); set global max_connections = 9;",
            "it may change more than the tables",
        ),
        // A table of another user has the name.
        (
            "drop table if exists mine; create table mine (a int);",
            "table test.mine exists already",
        ),
    ] {
        schema(text);
        run(2).says(message);
        let there = sql("select a from theirs; show columns from mine");
        let (theirs, mine) = there.split_once('\n').unwrap();
        assert_eq!(theirs, "7");
        assert!(mine.contains("other"), "{mine}");
    }
    sql("drop table mine");
    std::fs::remove_dir_all(scene.path().join("out")).ok();
    schema("create table mine (a int primary key); insert into mine values (1), (2);");
    run(0);
    assert_eq!(sql("show tables").trim(), "theirs");
    // Tables that refer to each other, with names that need quotes.
    schema(
        "create table mine (a int primary key); create table `a-child` (a int references mine (a), \
         foreign key (a) references mine (a)); insert into mine values (1), (2); insert into `a-child` values (1);",
    );
    std::fs::remove_dir_all(scene.path().join("out")).unwrap();
    run(0);
    assert_eq!(sql("show tables").trim(), "theirs");
    scene.dbdyno(["server", "destroy", "s"]).exits(0);
    scene.nothing_is_left();
}

/// Tables of many types with keys of all kinds.
const SHOP: &str = "\
create table customer (
  id int not null auto_increment primary key, name varchar(40) not null, mail varchar(60) not null unique,
  born date, balance decimal(10,2) not null, score double, rank_ smallint unsigned,
  kind enum('shop','it''s one','web') not null, active tinyint(1) not null, seen timestamp null,
  at time, flags bit(12) not null, about text, photo varbinary(40), born_in year,
  half decimal(12,3) as (balance / 2) stored);
create table orders (
  id bigint not null primary key, customer int not null, created datetime not null, state varchar(10) not null,
  note varchar(200), parent bigint, key (customer), key (created), key (parent),
  foreign key (customer) references customer (id), foreign key (parent) references orders (id));
create table item (
  orders bigint not null, line smallint not null, product char(8) not null, quantity int not null,
  primary key (orders, line), foreign key (orders) references orders (id),
  foreign key (product) references product (code));
create table product (code char(8) not null primary key, price decimal(6,2) not null);
insert into product values ('a', 1), ('b\\t', 2), ('\u{e9}', 3);
";

const RULES: &str = r#"
[data.generate.customer]
rows = 2000
[data.generate.orders]
rows = "5k"
[data.generate.orders.columns]
id = "sequence 100"
customer = "zipf 1..50k 1.1"
created = "2024-01-01..2026-01-01"
state = "one of new@70, paid@20, \u00e9nd@10"
note = "text 20..200 null 25%"
[data.generate.item]
rows = "12k"
"#;

#[test]
fn rows_are_generated_by_rules_and_keys_hold() {
    let scene = Scene::for_servers();
    let schema = SHOP.replace("create table item", "-- item\ncreate table item");
    scene.file(
        "schema.sql",
        &format!("set foreign_key_checks = 0;\n{schema}"),
    );
    scene.file(
        "load.sql",
        "\\set id random(1, 2000)\nSELECT name FROM customer WHERE id = :id;\n",
    );
    let text =
        experiment("", "sql = \"schema.sql\"").replace("[load]", &format!("{RULES}\n[load]"));
    let keep = ["run", "own.toml", "--keep", "--results"];
    let mut sums = Vec::new();
    for (seed, results) in [(1, "one"), (1, "same"), (2, "other")] {
        scene.file("own.toml", &format!("seed = {seed}\n{text}"));
        let said = scene.dbdyno([&keep[..], &[results]].concat()).exits(0);
        said.says("orders.customer: 1..50000 ends at 2000, the last key of customer");
        let record = Results::at(scene.path().join(results)).record(1);
        assert_eq!(record.one("dataset")["rows"], 2000 + 5000 + 12_000 + 3);
        let source = format!("the tables of schema.sql, 19000 generated rows (seed {seed})");
        assert_eq!(record.one("dataset")["source"], source.as_str());
        let server = kept_server(&scene);
        scene.dbdyno(["server", "start", &server]).exits(0);
        let ask = |sql: &str| {
            let client = [
                "server", "client", &server, "--", "test", "--batch", "-N", "-e", sql,
            ];
            scene.dbdyno(client).exits(0).text()
        };
        let orphans = ask(
            "select (select count(*) from orders o left join customer c on c.id = o.customer where c.id is null), \
             (select count(*) from orders o left join orders p on p.id = o.parent where p.id is null), \
             (select count(*) from item i left join orders o on o.id = i.orders where o.id is null), \
             (select count(*) from item i left join product p on p.code = i.product where p.code is null), \
             (select count(distinct orders) from item), (select min(id) from orders), \
             (select count(*) > 1000 and count(*) < 1500 from orders where note is null), \
             (select count(*) from orders where state not in ('new', 'paid', '\u{e9}nd'))",
        );
        assert_eq!(orphans.trim(), "0\t1\t0\t0\t5000\t100\t1\t0");
        sums.push(ask("checksum table customer, orders, item"));
        scene.dbdyno(["server", "destroy", &server]).exits(0);
    }
    assert_eq!(sums[0], sums[1]);
    assert_ne!(sums[0], sums[2]);
    scene.nothing_is_left();
}

/// The server that a run left behind.
fn kept_server(scene: &Scene) -> String {
    let mut names = std::fs::read_dir(scene.servers_directory()).unwrap();
    let name = names.next().unwrap().unwrap().file_name();
    assert!(names.next().is_none());
    name.into_string().unwrap()
}

#[test]
fn rules_make_tables_where_there_is_no_schema() {
    let scene = Scene::for_servers();
    scene.file(
        "load.sql",
        "\\set id random(1, 10)\nSELECT total FROM orders WHERE customer = :id;\n",
    );
    let generate = "generate = { orders = { rows = 500, columns = { id = \"sequence\", customer = \"references \
                    customer.id\", total = \"0.50..99.99\", made = \"2024-01-01..2025-01-01\" } }, \
                    customer = { rows = 100, columns = { id = \"sequence\", token = \"uuid\" } } }";
    scene.file("own.toml", &experiment("", generate));
    scene
        .dbdyno(["run", "own.toml", "--results", "out"])
        .exits(0);
    let record = Results::at(scene.path().join("out")).record(1);
    assert_eq!(record.one("dataset")["rows"], 600);
    // Fewer rows of everything; references still hold.
    scene
        .dbdyno(["run", "own.toml", "--results", "small", "--scale", "0.5"])
        .exits(0);
    let record = Results::at(scene.path().join("small")).record(1);
    assert_eq!(record.one("dataset")["rows"], 350);
    scene.nothing_is_left();
}

#[test]
fn rules_that_do_not_fit_the_table_are_refused() {
    let scene = Scene::for_servers();
    scene.file("load.sql", "\\set id random(1, 10)\nSELECT :id;\n");
    scene.file(
        "schema.sql",
        "create table t (id int primary key, p point not null);",
    );
    for (data, message) in [
        (
            "sql = \"schema.sql\"\ngenerate = { t = { rows = 5, columns = { x = \"1..2\" } } }"
                .to_owned(),
            "the table has no such column",
        ),
        (
            "sql = \"schema.sql\"\ngenerate = { t = { rows = 5 } }".to_owned(),
            "t.p: its type point needs a rule",
        ),
    ] {
        scene.file("own.toml", &experiment("", &data));
        scene.dbdyno(["run", "own.toml"]).exits(2).says(message);
    }
    scene.nothing_is_left();
}

const LEDGER: &str = "\
create table account (id int primary key, name varchar(60) character set latin1, opened date, note text, flags bit(5));
create table entry (id int auto_increment primary key, account int not null, amount decimal(8,2),
  foreign key (account) references account (id));
";

#[test]
fn csv_files_are_loaded_as_they_are_written() {
    let scene = Scene::for_servers();
    scene.file("schema.sql", LEDGER);
    scene.file(
        "load.sql",
        "\\set id random(1, 3)\nSELECT name FROM account WHERE id = :id;\n",
    );
    // A line end, a tab, a backslash and quotes within fields; NULL; columns in an order of their own.
    scene.file(
        "account.csv",
        "name,id,note,opened,flags\r\n\"O'Neil, \"\"A\"\"\",1,\"two\nlines\tand \\n\",2024-02-29,17\r\nZo\u{eb},2,,,\\N\r\n\\N,3,\\N,\\N,0\r\n",
    );
    let entries: String = (0..40_000)
        .map(|at| format!("{},{}.50\n", at % 3 + 1, at))
        .collect();
    scene.file("entry.csv", &format!("account,amount\n{entries}"));
    let data = "sql = \"schema.sql\"\ncsv = { account = \"account.csv\", entry = \"entry.csv\" }";
    scene.file("own.toml", &experiment("", data));
    scene
        .dbdyno(["run", "own.toml", "--keep", "--results", "out"])
        .exits(0);
    let record = Results::at(scene.path().join("out")).record(1);
    assert_eq!(record.one("dataset")["rows"], 40_003);
    assert_eq!(
        record.one("dataset")["source"],
        "the tables of schema.sql, account.csv, entry.csv"
    );
    let server = kept_server(&scene);
    scene.dbdyno(["server", "start", &server]).exits(0);
    let sql = "select concat_ws('|', id, hex(name), opened, hex(note), flags + 0, name is null, note is null) from account \
               order by id; select count(*), sum(amount), count(distinct id) from entry";
    let client = [
        "server", "client", &server, "--", "test", "--batch", "-N", "-e", sql,
    ];
    let hex = |text: &[u8]| {
        text.iter()
            .map(|byte| format!("{byte:02X}"))
            .collect::<String>()
    };
    let expected = [
        format!(
            "1|{}|2024-02-29|{}|17|0|0",
            hex(b"O'Neil, \"A\""),
            hex(b"two\nlines\tand \\n")
        ),
        format!("2|{}||0|0", hex(b"Zo\xeb")),
        "3|0|1|1".to_owned(),
        "40000\t800000000.00\t40000".to_owned(),
    ];
    let found = scene.dbdyno(client).exits(0).text();
    let found: Vec<&str> = found.trim().lines().collect();
    assert_eq!(found, expected);
    scene.dbdyno(["server", "destroy", &server]).exits(0);
    // The files are too large to be copied, but a change is seen.
    assert!(!scene.path().join("out/files/entry.csv").exists());
    scene.dbdyno(["report", "out"]).exits(0);
    scene.file("entry.csv", "account,amount\n1,1\n");
    scene.dbdyno(["report", "out"]).exits(0);
    let changed = "entry.csv has changed since";
    scene
        .dbdyno(["run", "own.toml", "--results", "out", "--resume"])
        .exits(2)
        .says(changed);
    scene.dbdyno(["rerun", "out"]).exits(2).says(changed);
    scene.nothing_is_left();
}

#[test]
fn faulty_csv_files_are_told_with_their_line() {
    let scene = Scene::for_servers();
    scene.file("schema.sql", LEDGER);
    scene.file("load.sql", "\\set id random(1, 10)\nSELECT :id;\n");
    scene.file("ids.csv", "id\n1\n2\n");
    let run = |data: &str| {
        scene.file("own.toml", &experiment("", data));
        scene.dbdyno(["run", "own.toml"]).exits(2)
    };
    let both = "sql = \"schema.sql\"\ncsv = { account = \"ids.csv\", entry = \"entry.csv\" }";
    for (text, message) in [
        ("", "entry.csv:1: it is empty"),
        (
            "account,account\n",
            "entry.csv:1: column account is named twice",
        ),
        (
            "account,sum\n1,2\n",
            "entry.csv:1: table entry has no column sum",
        ),
        (
            "account,amount\n1,2\n\"1\",\"2\n\"\n1\n",
            "entry.csv:5: 1 fields, and the first line names 2 columns",
        ),
        (
            "account,amount\n1,2\n7,3\n",
            "1 rows of entry have a account that account does not have",
        ),
        ("account,amount\n1,2\n2,many\n", "entry.csv:3: "),
    ] {
        scene.file("entry.csv", text);
        run(both).says(message);
    }
    scene.nothing_is_left();
}
