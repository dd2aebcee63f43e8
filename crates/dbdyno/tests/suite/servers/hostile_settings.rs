//! Rows are those that were meant, whatever the server's own settings are.

mod dumps;
mod settings;

use rustix::process::Signal;
use server::Installation;

use self::settings::{Hostile, MARIADB, MORE, MYSQL, Settings};
use crate::{
    mariadb::{MariaDb, PASSWORD},
    results::Results,
    scene::{Running, Scene},
};

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

/// A table with rows of a data file.
const SMACK: &str = r#"
client "c" { db "DATABASE"; query_barrel "1 q"; }
table "s" { client "c"; create "create table s (id int not null auto_increment primary key, note varchar(40), n int)";
  min_rows "3"; data_file "s.dat"; }
query "q" { query "select note from s where id = 1"; type "q"; has_result_set "y"; parsed "n"; }
main { c.init(); c.set_num_rounds($2); c.create_threads($1); c.connect(); c.unload_query_barrel(); c.collect_threads();
  c.disconnect(); }
"#;

const SMACK_ROWS: &str = "0,a\\\\b 'x',7\n1,\\N,\\N\n5,,0\n";

/// What these tables hold.
const ROWS_OF: [(&str, &str); 4] = [
    ("t", "select id, note, seen, day from t order by id"),
    ("u", "select id, note from u order by id"),
    ("g", "select id, note, n, j from g order by id"),
    ("s", "select id, note, n from s order by id"),
];

const TPCC: [&str; 9] = [
    "warehouse",
    "district",
    "customer",
    "history",
    "new_orders",
    "orders",
    "order_line",
    "item",
    "stock",
];
const TPCH: [&str; 8] = [
    "region", "nation", "supplier", "part", "partsupp", "customer", "orders", "lineitem",
];

/// A server, and an account without the rights that would save it from `init_connect`.
struct Ground {
    scene: Scene,
    server: MariaDb,
    hostile: Hostile,
}

impl Ground {
    fn of_mariadb() -> Self {
        let scene = Scene::for_servers();
        let server = MariaDb::start(&scene, &[]);
        Self::prepare(scene, server, MARIADB)
    }

    /// On the newest MySQL that is installed; `None` without one.
    fn of_mysql() -> Option<Self> {
        let installation = mysql()?;
        let scene = Scene::for_servers();
        let server = MariaDb::start_installed(&scene, &installation);
        let ground = Self::prepare(scene, server, MYSQL);
        // Without it an account cannot set the steps of AUTO_INCREMENT.
        let grant = "grant session_variables_admin on *.* to plain@'%'";
        ground.server.rows(grant);
        Some(ground)
    }

    fn prepare(scene: Scene, server: MariaDb, hostile: Hostile) -> Self {
        server.rows(&format!("create user plain@'%' identified by '{PASSWORD}'"));
        server.rows("grant all on `h%`.* to plain@'%'");
        server.rows("set global local_infile = 1");
        scene.file("schema.sql", SCHEMA);
        scene.file("t.csv", ROWS);
        scene.file("s.dat", SMACK_ROWS);
        scene.file("load.sql", "\\set x random(1, 2)\nSELECT :x;\n");
        Self {
            scene,
            server,
            hostile,
        }
    }

    fn set(&self, settings: Settings, to: fn(&(&'static str, &'static str)) -> String) {
        for setting in settings {
            self.server.rows(&format!("set global {}", to(setting)));
        }
    }

    /// What `load` returns for a new database, loaded under these settings.
    fn loaded_under<T>(
        &self,
        settings: Settings,
        database: &str,
        load: impl FnOnce(&str) -> T,
    ) -> T {
        self.server.rows(&format!("create database {database}"));
        self.set(settings, |(name, value)| format!("{name} = {value}"));
        let loaded = load(database);
        self.set(settings, |(name, _)| format!("{name} = default"));
        self.server.rows("set global local_infile = 1");
        loaded
    }

    /// Loads everything that takes no time under these settings; returns the rows, as they are read under the server's
    /// defaults.
    fn rows_under(&self, settings: Settings, database: &str) -> Vec<Vec<Vec<String>>> {
        let loaded = self.loaded_under(settings, database, |database| self.load(database));
        let mut rows: Vec<_> = ROWS_OF
            .iter()
            .map(|(table, sql)| {
                let qualified = format!("from {database}.{table} ");
                self.server
                    .rows(&sql.replace(&format!("from {table} "), &qualified))
            })
            .collect();
        rows.push(self.checksums(database, &["sbtest1"]));
        loaded.signal(Signal::INT);
        loaded.finish().exits(130);
        rows
    }

    /// Checksums of tables.
    fn checksums(&self, database: &str, tables: &[&str]) -> Vec<Vec<String>> {
        let tables: Vec<String> = tables.iter().map(|it| format!("{database}.{it}")).collect();
        let sql = format!("checksum table {}", tables.join(", "));
        let rows = self.server.rows(&sql).into_iter();
        rows.map(|row| vec![row[1].clone()]).collect()
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
        self.benchmark(
            database,
            "oltp point_select prepare --tables=1 --table-size=200",
        );
        let smack = SMACK.replace("DATABASE", database);
        let smack = self.scene.file("test.smack", &smack);
        let words = ["-D", ".", smack.to_str().unwrap(), "1", "1"];
        let words = words.into_iter().map(str::to_owned);
        self.scene
            .called("super-smack", self.connection().into_iter().chain(words))
            .exits(0);
        running
    }

    fn connection(&self) -> Vec<String> {
        let port = self.server.port();
        let options =
            format!("--host=127.0.0.1 --port={port} --user=plain --password-file=password");
        options.split(' ').map(str::to_owned).collect()
    }

    /// A command of a benchmark, on a database.
    fn benchmark(&self, database: &str, command: &str) {
        let words = command.split(' ').map(str::to_owned);
        let words = words.chain(self.connection());
        self.scene
            .dbdyno(words.chain([format!("--database={database}")]))
            .exits(0);
    }

    /// Every set of the short round does what none does.
    fn few_change_no_row(&self) {
        let expected = self.rows_under(&[], "h_plain");
        is_as_meant(&expected);
        for (number, settings) in self.hostile.few.iter().enumerate() {
            let found = self.rows_under(settings, &format!("h{number}"));
            assert_eq!(found, expected, "{settings:?}");
        }
    }

    /// All sets, by LOAD DATA and by INSERT.
    fn all_change_no_row(&self) {
        let expected = self.rows_under(&[], "h_plain");
        is_as_meant(&expected);
        let of_tpc = self.tpc_under(&[]);
        for (number, settings) in self
            .hostile
            .few
            .iter()
            .chain(&MORE)
            .chain(&self.hostile.more)
            .enumerate()
        {
            for local in ["1", "0"] {
                self.server
                    .rows(&format!("set global local_infile = {local}"));
                let found = self.rows_under(settings, &format!("h{number}_{local}"));
                assert_eq!(found, expected, "{settings:?}, local_infile {local}");
            }
            assert_eq!(self.tpc_under(settings), of_tpc, "{settings:?}");
        }
    }

    /// Loads TPC-C and TPC-H under these settings, as small as they are whole, and drops them; their checksums, as they are
    /// under the server's defaults.
    fn tpc_under(&self, settings: Settings) -> Vec<Vec<String>> {
        let mut sums = Vec::new();
        for (benchmark, size, tables) in [
            ("tpcc", "--warehouses=1", &TPCC[..]),
            ("tpch", "--scale-factor=0.01", &TPCH),
        ] {
            let database = format!("h_{benchmark}");
            self.loaded_under(settings, &database, |database| {
                self.benchmark(database, &format!("{benchmark} prepare {size}"));
            });
            sums.extend(self.checksums(&database, tables));
            self.server.rows(&format!("drop database {database}"));
        }
        sums
    }
}

/// The newest MySQL from 8.0 on, of which earlier ones have other variables.
fn mysql() -> Option<Installation> {
    let found = Installation::find(Some("mysql"), None).ok();
    let found = found.filter(|it| !it.version.starts_with("5."));
    if found.is_none() {
        eprintln!("not tested: no MySQL from 8.0 on (dbdyno server install mysql-8.0.33)");
    }
    found
}

fn is_as_meant(rows: &[Vec<Vec<String>>]) {
    let text = |rows: &[&[&str]]| -> Vec<Vec<String>> {
        let text = |row: &&[&str]| row.iter().map(|it| (*it).to_owned()).collect();
        rows.iter().map(text).collect()
    };
    assert_eq!(
        rows[0],
        text(&[
            &["0", "a\\\\b \"q\" 'x'", "2020-03-29 02:30:00", "2020-00-15"],
            &["7", "NULL", "NULL", "0000-00-00"],
            &["8", "", "2020-01-01 00:00:00", "2020-01-01"],
            &["9", "\\N", "NULL", "NULL"],
        ])
    );
    assert_eq!(
        rows[1],
        text(&[&["1", "it's \\ \"q\""], &["2", "NULL"], &["3", ""]])
    );
    assert_eq!((rows[2].len(), rows[2][0][0].as_str()), (30, "0"));
    assert!(rows[2].iter().any(|row| row[1] == "NULL"));
    assert!(rows[2][0][3].starts_with('{'), "{:?}", rows[2][0]);
    assert_eq!(
        rows[3],
        text(&[
            &["0", "a\\b 'x'", "7"],
            &["1", "NULL", "NULL"],
            &["5", "", "0"],
        ])
    );
}

#[test]
fn rows_are_those_that_were_meant_on_a_server_with_hostile_settings() {
    Ground::of_mariadb().few_change_no_row();
}

#[test]
fn rows_are_those_that_were_meant_on_a_mysql_with_hostile_settings() {
    if let Some(ground) = Ground::of_mysql() {
        ground.few_change_no_row();
    }
}

#[test]
fn a_dump_is_loaded_as_it_was_meant_on_a_server_with_hostile_settings() {
    dumps::are_loaded_as_meant("mariadb", MARIADB.of_dumps[0]);
    if mysql().is_some() {
        dumps::are_loaded_as_meant("mysql", MYSQL.of_dumps[0]);
    }
}

#[ignore = "a long round: make test-all"]
#[test]
fn no_setting_of_a_mariadb_changes_a_row() {
    for options in &MARIADB.of_dumps[1..] {
        dumps::are_loaded_as_meant("mariadb", options);
    }
    Ground::of_mariadb().all_change_no_row();
}

#[ignore = "a long round: make test-all"]
#[test]
fn no_setting_of_a_mysql_changes_a_row() {
    let Some(ground) = Ground::of_mysql() else {
        return;
    };
    ground.all_change_no_row();
    for options in &MYSQL.of_dumps[1..] {
        dumps::are_loaded_as_meant("mysql", options);
    }
}
