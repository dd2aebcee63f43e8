//! `[data] dump`: dumps of a real server, loaded by dbdyno and by the client, hold the same.

use std::{fs, io::Write, os::unix::fs::MetadataExt};

use rustix::process::Signal;

use crate::{
    mariadb::rows,
    own_experiment::experiment,
    private_server,
    results::Results,
    scene::{Running, Scene},
};

/// Tables with what is hard to say in SQL.
const STRANGE: &str = "\
SET SESSION sql_mode = 'NO_AUTO_VALUE_ON_ZERO';
CREATE TABLE bytes (id int PRIMARY KEY AUTO_INCREMENT, b varbinary(20), t blob, bits bit(12), f double, g float);
CREATE TABLE texts (id int PRIMARY KEY, a varchar(80), b text, j json, e enum('it''s','b,c'), s set('x','y'), KEY (a)) DEFAULT CHARSET=utf8mb4;
CREATE TABLE latin (id int PRIMARY KEY, a varchar(80)) DEFAULT CHARSET=latin1;
CREATE TABLE codes (id int PRIMARY KEY, a char(13) CHARACTER SET ascii COLLATE ascii_bin, b enum('b\\\\%','e') CHARACTER SET latin1) DEFAULT CHARSET=utf8mb4;
CREATE TABLE times (id int PRIMARY KEY, d date, dt datetime(3), ts timestamp NULL, t time, y year, n decimal(20,5));
CREATE TABLE computed (a int PRIMARY KEY, b int AS (a * 2) STORED, c varchar(10), d int AS (a + 1) VIRTUAL);
CREATE TABLE child (id int PRIMARY KEY, parent int, FOREIGN KEY (parent) REFERENCES bytes (id));
CREATE TABLE many (id int PRIMARY KEY, pad varchar(200) NOT NULL, UNIQUE KEY (pad)) DEFAULT CHARSET=utf8mb4;
CREATE TABLE plain (id int PRIMARY KEY, a varchar(10)) ENGINE=MyISAM;
INSERT INTO bytes VALUES (0, NULL, '', 0, 1e-300, 3.4e38), (1, 0x00010203090A0D1A, REPEAT(0x5C27, 9), 4095, -0.1, 0.1);
INSERT INTO bytes (b, t) VALUES (0xFFFE80C3285C6E, 0x5C4E), (0x0A5C0A, 0x275C27);
INSERT INTO texts VALUES (1, 'N', '\\\\N', '{\"a\": \"\\\\n\\\\u00e9\"}', 'it''s', 'x,y'), (2, 'tab\\tnl\\ncr\\r%_\\\\%;', '\\0\\Z''\"`', NULL, 'b,c', ''),
  (3, '\u{1f600} \u{e9}', NULL, '[1, null]', NULL, NULL), (4, '', 'NULL', '\"x\"', 'it''s', 'y'), (5, '-- not; a comment', '/* nor this', NULL, NULL, NULL);
INSERT INTO latin VALUES (1, 'Zo\u{eb}'), (2, 'plain');
INSERT INTO codes VALUES (1, 'a-1', 'b\\\\%'), (2, '', NULL), (3, 'A\\t''\\\\Z', 'e');
INSERT INTO times VALUES (1, '0000-00-00', '0000-00-00 00:00:00', '2024-02-29 12:00:00', '-838:59:59', 0, -99999.00001), (2, '2024-02-28', '2024-01-01 01:02:03.004', NULL, '00:00:01', 2155, 0), (3, NULL, NULL, NULL, NULL, 1999, NULL);
INSERT INTO computed (a, c) VALUES (1, 'x'), (2, NULL);
INSERT INTO child VALUES (1, 1), (2, NULL);
INSERT INTO plain VALUES (1, 'a'), (2, NULL);
INSERT INTO many SELECT seq, CONCAT(seq, REPEAT('x''\\\\', 60)) FROM seq_1_to_2000;
CREATE VIEW seen AS SELECT id FROM bytes;
CREATE DEFINER = gone@nowhere TRIGGER noted AFTER INSERT ON plain FOR EACH ROW SET @a = NEW.id;
CREATE DEFINER = gone@nowhere PROCEDURE two() SELECT 'a;b', \"c\";
";

const TABLES: &str = "bytes, texts, latin, codes, times, computed, child, many, plain";

pub(super) fn ask(scene: &Scene, server: &str, database: &str, sql: &str) -> String {
    let client = [
        "server", "client", server, "--", database, "--batch", "-N", "-e", sql,
    ];
    scene.dbdyno(client).exits(0).text()
}

/// Starts the server that a run kept, and returns its name.
pub(super) fn start_kept(scene: &Scene) -> String {
    let server = server_of_the_run(scene);
    scene.dbdyno(["server", "start", &server]).exits(0);
    server
}

/// The name of the server that a run made.
fn server_of_the_run(scene: &Scene) -> String {
    let names = fs::read_dir(scene.servers_directory()).unwrap();
    let mut names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.find(|name| name != "s").unwrap()
}

/// A dump of the database by the tool of the installed server.
fn dump(scene: &Scene, options: &[&str], file: &str) {
    let socket = scene.servers_directory().join("s/run/mysqld.sock");
    let socket = format!("--socket={}", socket.display());
    let output = std::process::Command::new("mariadb-dump")
        .args(["--no-defaults", "-uplain", &socket, "--routines"])
        // A table of some rows takes several statements.
        .arg("--net-buffer-length=16384")
        .args(options)
        .output()
        .expect("the packages of the server have it");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    fs::write(scene.path().join(file), output.stdout).unwrap();
}

#[test]
fn a_dump_is_restored_to_the_same_rows_in_every_way() {
    let scene = Scene::for_servers();
    scene.dbdyno(["server", "create", "s"]).exits(0);
    ask(
        &scene,
        "s",
        "test",
        "create user plain@localhost; grant all on *.* to plain@localhost",
    );
    scene.file("strange.sql", STRANGE);
    let strange = fs::read_to_string(scene.path().join("strange.sql")).unwrap();
    ask(&scene, "s", "test", &strange);
    let sums = format!("checksum table {TABLES}");
    let expected = ask(&scene, "s", "test", &sums);
    assert!(!expected.contains("NULL"), "{expected}");
    scene.file(
        "load.sql",
        "\\set id random(0, 3)\nSELECT id FROM seen WHERE id = :id;\n",
    );
    dump(&scene, &["test"], "plain.sql");
    dump(
        &scene,
        &["--hex-blob", "--complete-insert", "--databases", "test"],
        "hex.sql",
    );
    dump(
        &scene,
        &["--skip-extended-insert", "--no-autocommit", "test"],
        "single.sql",
    );
    for file in ["plain.sql", "hex.sql", "single.sql"] {
        let file = fs::OpenOptions::new()
            .append(true)
            .open(scene.path().join(file));
        let modes = "CREATE TABLE modes SELECT @@innodb_autoinc_lock_mode AS at_load;\n";
        file.unwrap().write_all(modes.as_bytes()).unwrap();
    }
    let gzip = std::process::Command::new("gzip")
        .arg("-c")
        .arg(scene.path().join("plain.sql"))
        .output();
    // By its content and not by its name.
    fs::write(scene.path().join("packed.sql"), gzip.unwrap().stdout).unwrap();
    for (number, data) in [
        "dump = \"plain.sql\"",
        "dump = \"packed.sql\"",
        "dump = \"hex.sql\"",
        "dump = \"single.sql\"",
        "dump = \"plain.sql\"\ndump_as = \"inserts\"",
    ]
    .into_iter()
    .enumerate()
    {
        scene.file("own.toml", &experiment("", data));
        let results = format!("out-{number}");
        scene
            .dbdyno(["run", "own.toml", "--keep", "--results", &results])
            .exits(0);
        let server = start_kept(&scene);
        // Connections that load one table must not wait for its counter; the runs have the server's own setting.
        let modes = "select at_load, @@innodb_autoinc_lock_mode from modes";
        let insert = "insert into plain values (7, 'x'); select @a, count(*) from seen";
        let all = format!("{sums}; {modes}; call two(); {insert}");
        assert_eq!(
            ask(&scene, &server, "test", &all),
            format!("{expected}2\t1\na;b\tc\n7\t4\n"),
            "{data}"
        );
        scene.dbdyno(["server", "destroy", &server]).exits(0);
        let record = Results::at(scene.path().join(&results)).record(1);
        assert_eq!(
            record.one("dataset")["rows"],
            4 + 5 + 2 + 3 + 3 + 2 + 2 + 2000 + 2 + 1
        );
    }
    scene.dbdyno(["server", "destroy", "s"]).exits(0);
    scene.nothing_is_left();
}

#[test]
fn a_dump_that_fails_says_where() {
    let scene = Scene::for_servers();
    scene.file("load.sql", "\\set id random(0, 3)\nSELECT :id;\n");
    let begin = "-- a dump\nCREATE TABLE t (a int PRIMARY KEY, b varchar(5));\nINSERT INTO t VALUES (1,'a'),\n(2,'b');\n";
    scene.file("own.toml", &experiment("", "dump = \"prod.sql\""));
    let run = || scene.dbdyno(["run", "own.toml"]).exits(2);
    for (rest, message) in [
        (
            "CREATE TABLE u (a wrong);",
            "prod.sql, line 5: CREATE TABLE u (a wrong): error ",
        ),
        (
            "\n\nINSERT INTO t VALUES (3,'c'),(3,'d');",
            "prod.sql, line 7: INSERT INTO t VALUES (3,'c'),(3,'d'): ",
        ),
        (
            "INSERT INTO t VALUES (3,'cut",
            "prod.sql: line 5: the file ends within the statement that begins here",
        ),
        (
            "INSERT INTO t VALUES (3,nothing());",
            "prod.sql, line 5: INSERT INTO t VALUES (3,nothing()): error 1305",
        ),
        (
            "INSERT INTO none VALUES (3);",
            "prod.sql, line 5: INSERT INTO none VALUES (3): error 1146",
        ),
        (
            "USE a;\nUSE b;",
            "prod.sql, line 6: a second database, b, after a",
        ),
    ] {
        scene.file("prod.sql", &format!("{begin}{rest}\n"));
        run().says(message).says("the tables are incomplete");
    }
    fs::write(scene.path().join("prod.sql"), [0x28, 0xb5, 0x2f, 0xfd, 0]).unwrap();
    run().says("prod.sql: ");
    fs::write(scene.path().join("prod.sql"), [0x1f, 0x8b, 8, 0, 1]).unwrap();
    run().says("prod.sql: ");
    scene.nothing_is_left();
}

/// Rows that depend on others, settings of several kinds, and a trigger with a mode of its own.
const ORDERED: &str = r"
SET autocommit=0, unique_checks=0;
CREATE TABLE t (id int PRIMARY KEY AUTO_INCREMENT, a varchar(20)) CHARSET=utf8mb4;
CREATE TABLE u (id int PRIMARY KEY, t int, a varchar(20));
INSERT INTO t (a) VALUES ('first');
SET @first = LAST_INSERT_ID();
INSERT INTO t VALUES (NULL,'second'),(NULL,'third');
INSERT INTO u VALUES (1, @first, 'x'), (2, (SELECT max(id) FROM t), 'y');
SET @saved_sql_mode = @@sql_mode;
SET sql_mode = 'NO_BACKSLASH_ESCAPES';
INSERT INTO u VALUES (3, 3, 'a\');
SET @inner_sql_mode = @@sql_mode;
SET sql_mode = '';
INSERT INTO u VALUES (4, 4, 'b\';');
SET sql_mode = @inner_sql_mode;
INSERT INTO u VALUES (5, 5, 'c\');
SET sql_mode = @saved_sql_mode;
ALTER DATABASE `shop` CHARACTER SET latin1 COLLATE latin1_swedish_ci ;
DROP SCHEMA IF EXISTS `shop`;
CREATE TABLE x (id int PRIMARY KEY);
CREATE TABLE noted (number int PRIMARY KEY AUTO_INCREMENT, x int, ts int);
INSERT INTO x VALUES (0);
CREATE TRIGGER note AFTER INSERT ON x FOR EACH ROW INSERT INTO noted (x, ts) SELECT NEW.id, COUNT(*) FROM t;
";

#[test]
fn rows_that_depend_on_others_are_loaded_in_order() {
    let scene = Scene::for_servers();
    let noted = (1..=30).map(|id| {
        format!("INSERT INTO x VALUES ({id});\nINSERT INTO t VALUES ({id}0, 'later');\n")
    });
    let dump = ORDERED.to_owned() + &noted.collect::<String>() + "COMMIT;\n";
    scene.file("prod.sql", &dump);
    scene.file(
        "load.sql",
        "\\set id random(1, 3)\nSELECT a FROM t WHERE id = :id \\gset\n",
    );
    scene.file("own.toml", &experiment("", "dump = \"prod.sql\""));
    scene.dbdyno(["run", "own.toml", "--keep"]).exits(0);
    let server = start_kept(&scene);
    let rows = ask(
        &scene,
        &server,
        "test",
        "select * from t where id < 10; select id, t, hex(a) from u; select @@character_set_database; \
         select count(*), sum(number = x), sum(ts = 2 + x) from noted",
    );
    assert_eq!(
        rows,
        "1\tfirst\n2\tsecond\n3\tthird\n1\t1\t78\n2\t3\t79\n3\t3\t615C\n4\t4\t62273B\n5\t5\t635C\nlatin1\n\
         30\t30\t30\n"
    );
    scene.dbdyno(["server", "destroy", &server]).exits(0);
    scene.nothing_is_left();
}

/// Statements of a dump that wait until [`Locked`] has its rows.
const WAIT_FOR_LOCK: &str = "DELIMITER $\nCREATE PROCEDURE wait_for_lock()\n\
     WHILE IS_FREE_LOCK('held') DO DO SLEEP(0.01); END WHILE$\nDELIMITER ;\nCALL wait_for_lock();\n";

/// Rows of the table `far` of a server that is loaded, of which a client says that it inserts them.
struct Locked {
    server: String,
    client: Running,
}

impl Locked {
    fn hold(scene: &Scene, running: &mut Running, ids: &[u32]) -> Self {
        let servers = scene.servers_directory();
        running.wait_until("a server with the table", || {
            let mut servers = fs::read_dir(&servers).into_iter().flatten().flatten();
            servers.any(|server| server.path().join("data/test/far.ibd").exists())
        });
        let server = server_of_the_run(scene);
        let rows = ids.iter().map(|id| format!("({id}, now(), '')"));
        let rows = rows.collect::<Vec<_>>().join(", ");
        let sql =
            format!("begin; insert into far values {rows}; do get_lock('held', 0); do sleep(600)");
        let client = ["server", "client", &server, "--", "test", "-e", &sql];
        let client = scene.start(client);
        Self { server, client }
    }

    fn release(self, scene: &Scene) {
        let clients = "select id from information_schema.processlist where info = 'do sleep(600)'";
        let client = ask(scene, &self.server, "test", clients);
        ask(scene, &self.server, "test", &format!("kill {client}"));
        self.client.finish();
    }
}

fn table(name: &str) -> String {
    format!("CREATE TABLE {name} (id int PRIMARY KEY, ts timestamp NOT NULL, pad text);\n")
}

/// Rows of such a table in statements long enough to be read again from the file when they are sent.
fn long_inserts(table: &str, ids: std::ops::Range<u32>) -> String {
    let pad = "x".repeat(1000);
    let ids: Vec<u32> = ids.collect();
    let statement = |ids: &[u32]| {
        let rows = ids
            .iter()
            .map(|id| format!("({id},'2024-06-01 12:00:00','{pad}')"));
        format!(
            "INSERT INTO {table} VALUES {};\n",
            rows.collect::<Vec<_>>().join(",\n")
        )
    };
    ids.chunks(100).map(statement).collect()
}

#[test]
fn tables_loaded_at_the_same_time_have_settings_of_their_own() {
    let scene = Scene::for_servers();
    let parts = [
        table("far") + &table("near") + &table("last"),
        // The connection of the other tables helps with those of far at the end.
        WAIT_FOR_LOCK.to_owned(),
        "SET time_zone = '+02:00';\n".to_owned() + &long_inserts("far", 0..2000),
        "SET time_zone = '+05:00';\n".to_owned() + &long_inserts("near", 0..500),
        "SET time_zone = '-03:00';\n".to_owned() + &long_inserts("last", 0..500),
        // Checks of foreign keys are on: a row waits for the one that it refers to.
        "CREATE TABLE child (id int PRIMARY KEY, far int, FOREIGN KEY (far) REFERENCES far (id));\n"
            .to_owned(),
        long_inserts("far", 2000..2500),
        "INSERT INTO child VALUES (1, 1999), (2, 2499);\n".to_owned(),
    ];
    scene.file("prod.sql", &parts.concat());
    scene.file("load.sql", "SELECT count(*) FROM far;\n");
    scene.file("own.toml", &experiment("", "dump = \"prod.sql\""));
    let mut running = scene.start(["run", "own.toml", "--keep"]);
    let locked = Locked::hold(&scene, &mut running, &[50]);
    let last = "select count(*) from last";
    // The client prints nothing as long as there is no such table.
    running.wait_until("the other tables are there", || {
        ask(&scene, &locked.server, "test", last) == "500\n"
    });
    locked.release(&scene);
    running.finish().exits(0);
    let server = start_kept(&scene);
    let times: Vec<String> = ["far", "near", "last"]
        .map(|table| {
            format!("select '{table}', hour(ts), count(*), sum(id), min(length(pad)) from {table} group by 1, 2")
        })
        .into();
    let rows = ask(
        &scene,
        &server,
        "test",
        &format!(
            "set time_zone = '+00:00'; {}; select * from child",
            times.join("; ")
        ),
    );
    assert_eq!(
        rows,
        "far\t10\t2000\t1999000\t1000\nfar\t15\t500\t1124750\t1000\nnear\t7\t500\t124750\t1000\n\
         last\t15\t500\t124750\t1000\n1\t1999\n2\t2499\n"
    );
    scene.dbdyno(["server", "destroy", &server]).exits(0);
    scene.nothing_is_left();
}

#[test]
fn rows_of_a_compressed_dump_wait_in_a_file_without_a_name() {
    let scene = Scene::for_servers();
    let parts = [
        table("far") + &table("near"),
        WAIT_FOR_LOCK.to_owned(),
        // More than memory takes.
        long_inserts("far", 0..36_000),
        long_inserts("near", 0..2_000),
    ];
    scene.file("prod.sql", &parts.concat());
    let prod = scene.path().join("prod.sql");
    let gzip = std::process::Command::new("gzip").arg(&prod).status();
    assert!(gzip.unwrap().success());
    scene.file("load.sql", "SELECT count(*) FROM far;\n");
    scene.file("own.toml", &experiment("", "dump = \"prod.sql.gz\""));
    let mut running = scene.start(["run", "own.toml", "--keep"]);
    let locked = Locked::hold(&scene, &mut running, &[50, 150]);
    let files = format!("/proc/{}/fd", running.pid());
    running.wait_until("rows wait in a file", || {
        let files = fs::read_dir(&files).into_iter().flatten().flatten();
        files.into_iter().any(|file| {
            let target = fs::read_link(file.path()).unwrap_or_default();
            let is_unnamed = target.to_string_lossy().ends_with(" (deleted)");
            is_unnamed && fs::metadata(file.path()).is_ok_and(|it| it.is_file() && it.blocks() > 0)
        })
    });
    locked.release(&scene);
    running.finish().exits(0);
    let server = start_kept(&scene);
    let rows = "select count(*), sum(id), min(length(pad)) from far union all \
                select count(*), sum(id), min(length(pad)) from near";
    assert_eq!(
        ask(&scene, &server, "test", rows),
        "36000\t647982000\t1000\n2000\t1999000\t1000\n"
    );
    scene.dbdyno(["server", "destroy", &server]).exits(0);
    scene.nothing_is_left();
}

#[test]
fn a_load_that_waits_in_the_server_is_interrupted_at_once() {
    let scene = Scene::for_servers();
    scene.file(
        "prod.sql",
        "CREATE TABLE t (a int PRIMARY KEY);\nCREATE TABLE u (a int);\n\
         CREATE TRIGGER slow BEFORE INSERT ON t FOR EACH ROW SET @slept = SLEEP(3600);\n\
         INSERT INTO u VALUES (1);\nINSERT INTO t VALUES (1);\n",
    );
    scene.file("load.sql", "SELECT 1;\n");
    scene.file("own.toml", &experiment("", "dump = \"prod.sql\""));
    let mut running = scene.start(["run", "own.toml", "--results", "out"]);
    let log = scene.servers_directory();
    running.wait_until("a server to load", || {
        let servers = fs::read_dir(&log).into_iter().flatten().flatten();
        servers
            .into_iter()
            .any(|server| server.path().join("data/test/u.ibd").exists())
    });
    let server = server_of_the_run(&scene);
    let waiting = "select count(*) from information_schema.processlist where state = 'User sleep'";
    let server = private_server::endpoint(&scene, &server);
    running.wait_until("it waits in the trigger", || {
        rows(&server, waiting) == [["1"]]
    });
    running.signal(Signal::INT);
    // Long before the statement ends.
    running.finish().exits(130);
    scene.nothing_is_left();
}
