//! `dbdyno sql` on a server with every kind of table, trigger and function: whatever the statements are, nothing of the
//! server changes.

use crate::scene::{Finished, Scene};

/// Tables of both families, each with an id and a text.
const TABLES: [(&str, &str); 5] = [
    ("item", "InnoDB"),
    ("watched", "InnoDB"),
    ("log", "MyISAM"),
    ("held", "MEMORY"),
    ("line", "CSV"),
];

/// Functions, by what they do when they are called; `BY_WAY` calls the first one.
const FUNCTIONS: [(&str, &str); 5] = [
    ("noting", "insert into log values (9, 'f')"),
    ("storing", "insert into item values (9, 'f')"),
    ("holding", "update held set note = 'f'"),
    ("tuning", "set global max_connections = 77"),
    ("clearing", "delete from watched"),
];

const BY_WAY: &str = "create function by_way() returns int reads sql data return noting() + 1//\n";

/// What MariaDB has in addition.
const OF_MARIADB: &str = "create table page (id int not null, note text) engine=Aria//\n\
                          insert into page values (1, 'a'), (2, 'b')//\n\
                          create sequence counter//\n\
                          create table numbered (id int not null default (next value for counter), note text) engine=InnoDB//\n\
                          insert into numbered values (1, 'a')//\n";

fn schema(is_mariadb: bool) -> String {
    let mut sql = "set global log_bin_trust_function_creators = 1; create database shop; use shop;\ndelimiter //\n".to_owned();
    for (table, engine) in TABLES {
        let note = if engine == "MEMORY" {
            "varchar(20)"
        } else {
            "text"
        };
        sql += &format!(
            "create table {table} (id int not null, note {note} not null) engine={engine}//\n\
             insert into {table} values (1, 'a'), (2, 'b')//\n"
        );
    }
    for (name, does) in FUNCTIONS {
        sql += &format!(
            "create function {name}() returns int modifies sql data begin {does}; return 1; end//\n"
        );
    }
    sql += BY_WAY;
    for (event, row) in [("insert", "new"), ("update", "new"), ("delete", "old")] {
        sql += &format!(
            "create trigger on_{event} after {event} on watched for each row insert into log values ({row}.id, 't')//\n"
        );
    }
    sql += "create view notes as select * from log//\n\
            create view called as select id, noting() as note from item//\n\
            create procedure writing() insert into log values (9, 'p')//\n\
            create event hourly on schedule every 1 hour do insert into log values (9, 'e')//\n";
    if is_mariadb {
        sql += OF_MARIADB;
    }
    sql
}

/// Everything that a statement could have changed.
fn everything(scene: &Scene, is_mariadb: bool) -> String {
    let mut sql = String::new();
    let more = if is_mariadb {
        &["page", "numbered"][..]
    } else {
        &[]
    };
    for table in TABLES.iter().map(|it| it.0).chain(more.iter().copied()) {
        sql += &format!("select '{table}', id, note from {table} order by 2, 3;");
    }
    if is_mariadb {
        sql += "select next_not_cached_value, cycle_count, lastval(counter) from counter;";
    }
    sql += "select table_name from information_schema.tables where table_schema = 'shop' order by 1;\
            select @@global.max_connections, @@global.sql_mode;\
            select count(*) from mysql.user;";
    ask(scene, &sql)
}

fn ask(scene: &Scene, sql: &str) -> String {
    let client = [
        "server", "client", "one", "--", "shop", "--batch", "-N", "-e", sql,
    ];
    scene.dbdyno(client).exits(0).text()
}

/// Statements that change something, could, or only look like it.
fn statements(is_mariadb: bool) -> Vec<String> {
    let mut all = Vec::new();
    let mut names: Vec<&str> = TABLES.iter().map(|it| it.0).collect();
    names.extend(["notes", "called", "mysql.user", "`log`", "shop.log"]);
    let mut calls: Vec<String> = FUNCTIONS.iter().map(|it| format!("{}()", it.0)).collect();
    calls.extend(
        [
            "by_way()",
            "shop.noting()",
            "`noting` ()",
            "NOTING()",
            "noting/**/()",
        ]
        .map(str::to_owned),
    );
    if is_mariadb {
        names.extend(["page", "numbered", "counter"]);
        calls.extend(
            [
                "nextval(counter)",
                "next value for counter",
                "setval(counter, 50)",
            ]
            .map(str::to_owned),
        );
    }
    for name in &names {
        for form in [
            "insert into {} values (7, 'x')",
            "replace into {} values (1, 'x')",
            "update {} set note = 'x'",
            "delete from {}",
            "delete from {} where id = 1 limit 1",
            "insert into {} select id + 10, note from item",
            "insert into {} (id) values (8) on duplicate key update id = 9",
            "delete x from item x join {} y on x.id = y.id",
            "update item x, {} y set y.note = 'x' where x.id = y.id",
            "select * from {} for update",
            "select * from {}",
            "with x as (select * from {}) select count(*) from x",
            "with x as (select 1 as id) delete y from {} y join x on x.id = y.id",
            "insert ignore into {} set id = 7, note = 'x'",
            "replace into {} select * from item",
            "update {} set id = id + 1 order by id desc limit 1",
            "select count(*) from {} x join item y on x.id = y.id lock in share mode",
            "/* one */ delete /* two */ from /* three */ {} # four",
        ] {
            all.push(form.replace("{}", name));
        }
    }
    for call in &calls {
        for form in [
            "select {}",
            "select id from item where id = {}",
            "select id from item order by {}",
            "select id from item group by {}, id having count(*) > {}",
            "select (select {} from item limit 1)",
            "select * from (select {} as x) y",
            "select if(1, {}, 2) into @x",
            "insert into item values ({}, 'x')",
            "update item set id = {}",
            "delete from item where id = {}",
            "set @a = {}",
            "set @a = (select {})",
            "set session sort_buffer_size = 100000 + {}",
            "select distinct {} from item union select 1",
            "select case when {} then 1 end from item where exists (select {})",
            "select count(*) from item where note in (select note from item where {} = 1)",
            "replace into watched values ({}, 'x')",
            "insert into item values (1, 'x') on duplicate key update id = {}",
            "values row({})",
            "set @a = 1, @b = if(1, {}, 2)",
        ] {
            all.push(form.replace("{}", call));
        }
    }
    all.extend(
        [
            "set @a = (select count(*) from log)",
            "set global max_connections = 77",
            "set @@global.max_connections = 77",
            "set password = ''",
            "set @a = 1, global max_connections = 77",
            "call writing()",
            "do noting()",
            "truncate table log",
            "drop table log",
            "create table other (id int)",
            "alter table item add column more int",
            "load data infile '/etc/hostname' into table log",
            "select 1 into outfile '/tmp/dbdyno_canary'",
            "select 1 /*!50000 into outfile '/tmp/dbdyno_canary' */",
            "handler log open",
            "lock tables log write",
            "create user canary",
            "select 'a\\'; drop table log; -- '",
            "select 'a\\\\'; drop table log; -- '",
            "select \"a\\\"; drop table log; -- \"",
            "set sql_mode = 'NO_BACKSLASH_ESCAPES'; select 'a\\'; drop table log; -- '",
            "set sql_mode = 'ANSI_QUOTES'; delete from \"log\"",
            "set names gbk; select '\u{3b1}\\'; drop table log; -- '",
            "set autocommit = 1; delete from log",
            "use mysql; delete from user",
            "set completion_type = 2; delete from item",
            "prepare x from 'delete from log'",
            "execute immediate 'delete from log'",
            "begin not atomic delete from log; end",
            "insert delayed into log values (7, 'x')",
            "analyze table log",
            "explain delete from log",
            "set statement max_statement_time = 5 for delete from log",
        ]
        .map(str::to_owned),
    );
    all
}

/// One of the commands on a statement.
fn execute(scene: &Scene, command: usize, statement: &str) -> Finished {
    let in_command: &[&str] = match command {
        0 => &["time", "--runs", "1"],
        1 => &["explain"],
        2 => &["explain", "--no-analyze"],
        3 => &["explain", "--analyze"],
        4 => &[
            "compare",
            "--runs",
            "3",
            "--budget",
            "1s",
            "--variant",
            "x: set @x = 1",
        ],
        _ => &["advise"],
    };
    let place = [
        "--server",
        "one",
        "--database",
        "shop",
        "--timeout",
        "20s",
        "-e",
        statement,
    ];
    scene.dbdyno([&["sql"], in_command, &place].concat())
}

/// Every `step`-th statement by one of the commands, in turn; with a step of 1 all by all.
fn nothing_changes(scene: &Scene, is_mariadb: bool, step: usize) {
    let all = statements(is_mariadb);
    assert!(all.len() >= 400, "{}", all.len());
    let before = everything(scene, is_mariadb);
    let mut done = 0;
    for (at, statement) in all.iter().enumerate().step_by(step) {
        for command in 0..6 {
            if step == 1 || command == at / step % 6 {
                let finished = execute(scene, command, statement);
                let code = finished.code();
                assert!(
                    matches!(code, Some(0..=4)),
                    "{command} {statement}: {}",
                    finished.shown()
                );
                done += u32::from(code == Some(0));
            }
        }
        // The last statement is the one that did it.
        let after = everything(scene, is_mariadb);
        assert_eq!(after, before, "{statement}");
    }
    assert!(done > 0, "no statement was executed at all");
}

fn scene_with(run: &str, options: &[&str]) -> Scene {
    let scene = Scene::for_servers();
    scene.link_installs();
    let create = ["server", "create", "one", "--run", run];
    scene.dbdyno([&create, options].concat()).exits(0);
    let client = ["server", "client", "one", "--", "-e"];
    let schema = schema(run == "mariadb");
    scene
        .dbdyno(client.iter().copied().chain([schema.as_str()]))
        .exits(0);
    scene
}

fn on(run: &str, options: &[&str], step: usize) {
    let scene = scene_with(run, options);
    nothing_changes(&scene, run == "mariadb", step);
    scene.dbdyno(["server", "destroy", "one"]).exits(0);
}

#[test]
fn a_sample_of_statements_changes_nothing() {
    on("mariadb", &[], 17);
}

#[test]
#[ignore = "a long round: make test-all"]
fn no_statement_changes_anything() {
    for run in ["mysql", "mariadb"] {
        on(run, &[], 1);
        on(run, &["--set", "sql_mode=NO_BACKSLASH_ESCAPES"], 3);
        on(run, &["--set", "sql_mode=ANSI"], 3);
    }
}
