//! Rows are those that were meant, whatever the server's own settings are.

use rustix::process::Signal;

use crate::{
    mariadb::{MariaDb, PASSWORD},
    results::Results,
    scene::{Running, Scene},
};

/// Global variables of a server, which sessions inherit.
type Settings = &'static [(&'static str, &'static str)];

/// The settings of the short round.
const HOSTILE: [Settings; 5] = [
    &[("sql_mode", "'NO_BACKSLASH_ESCAPES,ANSI'")],
    &[
        ("sql_mode", "'NO_BACKSLASH_ESCAPES,ANSI'"),
        ("local_infile", "0"),
    ],
    &[
        ("autocommit", "0"),
        ("completion_type", "'RELEASE'"),
        ("time_zone", "'+09:00'"),
        ("auto_increment_increment", "5"),
        ("auto_increment_offset", "3"),
    ],
    &[
        ("tx_read_only", "1"),
        ("tx_isolation", "'SERIALIZABLE'"),
        ("sql_mode", "'EMPTY_STRING_IS_NULL,PAD_CHAR_TO_FULL_LENGTH'"),
        ("max_error_count", "0"),
        ("local_infile", "0"),
    ],
    &[
        ("sql_mode", "'ORACLE'"),
        (
            "init_connect",
            "'set sql_select_limit = 1, sql_safe_updates = 1, sql_auto_is_null = 1, sql_big_selects = 0'",
        ),
    ],
];

/// Those of the long round, each by LOAD DATA and by INSERT.
const MORE: [Settings; 15] = [
    &[("autocommit", "0")],
    &[("completion_type", "'CHAIN'")],
    &[("sql_mode", "'TRADITIONAL'")],
    &[(
        "sql_mode",
        "'REAL_AS_FLOAT,IGNORE_SPACE,HIGH_NOT_PRECEDENCE,PIPES_AS_CONCAT'",
    )],
    &[("sql_mode", "'MSSQL'")],
    &[(
        "sql_mode",
        "'STRICT_ALL_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE'",
    )],
    &[("sql_mode", "''")],
    &[("time_zone", "'-11:30'")],
    &[("div_precision_increment", "0")],
    &[("max_error_count", "0"), ("sql_notes", "0")],
    &[("foreign_key_checks", "0"), ("unique_checks", "0")],
    &[("lc_messages", "'ja_JP'"), ("lc_time_names", "'de_DE'")],
    &[("max_statement_time", "0.05")],
    &[("max_allowed_packet", "16384")],
    &[(
        "init_connect",
        "'set names latin1, wait_timeout = 1, net_read_timeout = 1'",
    )],
];

const SCHEMA: &str = "\
create table t (id int not null auto_increment primary key, note varchar(40), seen timestamp null, day date);
create table u (id int not null auto_increment primary key, note varchar(40));
insert into u (note) values ('it\\'s \\\\ \"q\"'), (null), ('');
create table g (id int not null primary key, note varchar(20), n int, j json);
";

const ROWS: &str = "\
id,note,seen,day
0,\"a\\\\b \"\"q\"\" 'x'\",2020-03-29 02:30:00,2020-00-15
7,\\N,\\N,0000-00-00
8,,2020-01-01 00:00:00,2020-01-01
9,\"\\N\",\\N,\\N
";

/// What these tables hold.
const ROWS_OF: [(&str, &str); 3] = [
    ("t", "select id, note, seen, day from t order by id"),
    ("u", "select id, note from u order by id"),
    ("g", "select id, note, n, j from g order by id"),
];

/// A server, and an account without the rights that would save it from `init_connect`.
struct Ground {
    scene: Scene,
    server: MariaDb,
}

impl Ground {
    fn prepare() -> Self {
        let scene = Scene::for_servers();
        let server = MariaDb::start(&scene, &[]);
        server.rows(&format!("create user plain@'%' identified by '{PASSWORD}'"));
        server.rows("grant all on `h%`.* to plain@'%'");
        server.rows("set global local_infile = 1");
        scene.file("schema.sql", SCHEMA);
        scene.file("t.csv", ROWS);
        scene.file("load.sql", "\\set x random(1, 2)\nSELECT :x;\n");
        Self { scene, server }
    }

    /// Loads everything under these settings; returns the rows, as they are read under the server's defaults.
    fn rows_under(&self, settings: Settings, database: &str) -> Vec<Vec<Vec<String>>> {
        self.server.rows(&format!("create database {database}"));
        let set = |to: fn(&(&'static str, &'static str)) -> String| {
            for setting in settings {
                self.server.rows(&format!("set global {}", to(setting)));
            }
        };
        set(|(name, value)| format!("{name} = {value}"));
        let loaded = self.load(database);
        set(|(name, _)| format!("{name} = default"));
        self.server.rows("set global local_infile = 1");
        let mut rows: Vec<_> = ROWS_OF
            .iter()
            .map(|(table, sql)| {
                let qualified = format!("from {database}.{table} ");
                self.server
                    .rows(&sql.replace(&format!("from {table} "), &qualified))
            })
            .collect();
        let of_oltp = self
            .server
            .rows(&format!("checksum table {database}.sbtest1"));
        rows.push(vec![vec![of_oltp[0][1].clone()]]);
        loaded.signal(Signal::INT);
        loaded.finish().exits(130);
        rows
    }

    /// Loads everything; the tables of the experiment are there until its run ends.
    fn load(&self, database: &str) -> Running {
        let server = self
            .server
            .as_experiment()
            .replace("\"trial\"", "\"plain\"");
        let own = format!(
            "format = 1\nseed = 5\nquestion = \"Is it there?\"\n[server]\n{server}\ndatabase = \"{database}\"\n\
             [data]\nsql = \"schema.sql\"\ncsv = {{ t = \"t.csv\" }}\n[data.generate.g]\nrows = 30\n\
             [data.generate.g.columns]\nid = \"sequence 0\"\nnote = \"text 1..20 null 30%\"\nn = \"1..9\"\n\
             [load]\nscript = \"load.sql\"\nconnections = 1\nthink_time = \"20ms\"\nwarmup = \"0s\"\n\
             duration = \"1h\"\n"
        );
        self.scene.file("own.toml", &own);
        let results = format!("out-{database}");
        let mut running = self.scene.start(["run", "own.toml", "--results", &results]);
        let results = Results::at(self.scene.path().join(results));
        running.wait_until("it measures", || results.measured_so_far(1) > 0);
        let prepare = format!(
            "oltp point_select prepare --host=127.0.0.1 --port={} --user=plain --password-file=password \
             --database={database} --tables=1 --table-size=40",
            self.server.port()
        );
        self.scene.dbdyno(prepare.split_whitespace()).exits(0);
        running
    }
}

#[test]
fn rows_are_those_that_were_meant_on_a_server_with_hostile_settings() {
    let ground = Ground::prepare();
    let expected = ground.rows_under(&[], "h_plain");
    let text = |rows: &[&[&str]]| -> Vec<Vec<String>> {
        let text = |row: &&[&str]| row.iter().map(|it| (*it).to_owned()).collect();
        rows.iter().map(text).collect()
    };
    assert_eq!(
        expected[0],
        text(&[
            &["0", "a\\\\b \"q\" 'x'", "2020-03-29 02:30:00", "2020-00-15"],
            &["7", "NULL", "NULL", "0000-00-00"],
            &["8", "", "2020-01-01 00:00:00", "2020-01-01"],
            &["9", "\\N", "NULL", "NULL"],
        ])
    );
    assert_eq!(
        expected[1],
        text(&[&["1", "it's \\ \"q\""], &["2", "NULL"], &["3", ""]])
    );
    assert_eq!((expected[2].len(), expected[2][0][0].as_str()), (30, "0"));
    assert!(expected[2].iter().any(|row| row[1] == "NULL"));
    assert!(expected[2][0][3].starts_with('{'), "{:?}", expected[2][0]);
    for (number, settings) in HOSTILE.iter().enumerate() {
        let found = ground.rows_under(settings, &format!("h{number}"));
        assert_eq!(found, expected, "{settings:?}");
    }
}

#[ignore = "a long round: make test-all"]
#[test]
fn no_setting_of_a_server_changes_a_row() {
    let ground = Ground::prepare();
    let expected = ground.rows_under(&[], "h_plain");
    for (number, settings) in HOSTILE.iter().chain(&MORE).enumerate() {
        for local in ["1", "0"] {
            ground
                .server
                .rows(&format!("set global local_infile = {local}"));
            let found = ground.rows_under(settings, &format!("h{number}_{local}"));
            assert_eq!(found, expected, "{settings:?}, local_infile {local}");
        }
    }
}
