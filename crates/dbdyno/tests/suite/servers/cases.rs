//! Files of the field, as people have them: each is taken as it was meant, or refused with the reason.
//!
//! They stand in a folder `shared/cases` beside the repository, or where `DBDYNO_CASES` says; without it the tests say so and
//! end. Each kind has tests with files of their own besides.

use std::{
    collections::BTreeSet,
    env, fs,
    path::{Path, PathBuf},
};

use crate::{
    mariadb::MariaDb,
    own_experiment::experiment,
    scene::{Finished, Scene},
};

/// A statement that fails unless the condition holds.
fn holds(condition: &str) -> String {
    format!("SELECT IF({condition}, 1, (SELECT 1 UNION SELECT 2));\n")
}

/// The folder; `None`, and said, where there is none.
fn cases() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/cases");
    let folder = env::var_os("DBDYNO_CASES").map_or_else(beside, PathBuf::from);
    let found = folder.canonicalize().ok();
    if found.is_none() {
        eprintln!("skipped: there is no folder {}", folder.display());
    }
    found
}

/// The files and folders of one part, without those that others include.
fn names(part: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(part).unwrap();
    entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

/// Copies a part of the cases, so that what its files name is found beside them.
fn copy(part: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for name in names(part) {
        let (from, to) = (part.join(&name), to.join(&name));
        if from.is_dir() {
            copy(&from, &to);
        } else {
            fs::copy(from, to).unwrap();
        }
    }
}

/// Whether this server can be started here.
fn is_installed(scene: &Scene, run: &str) -> bool {
    let found = scene.dbdyno(["server", "check", "--run", run]);
    found.code() == Some(0)
}

/// An option file: the version that it is for, the exit code of its review, what that says and what not.
struct OptionFile {
    name: &'static str,
    version: &'static str,
    code: i32,
    says: &'static [&'static str],
    not: &'static [&'static str],
}

const OPTION_FILES: [OptionFile; 11] = [
    OptionFile {
        name: "a10_gbk_crlf.cnf",
        version: "mysql-5.7",
        code: 0,
        says: &[": starts, ", "in 2 options"],
        not: &["refused  "],
    },
    OptionFile {
        name: "a13_maria_audit.cnf",
        version: "mariadb-10.11",
        code: 0,
        says: &[": starts, "],
        not: &["refused  "],
    },
    OptionFile {
        name: "a17_include.cnf",
        version: "mariadb-10.11",
        code: 1,
        says: &[
            "in 2 options",
            "refused  conf.d/30.cnf line 1: not read: an option is before the first [group]",
            "line 2: max_connections=100: overridden in conf.d/10.cnf line 2 with the value 111",
            "line 4: not read: ",
        ],
        not: &["112"],
    },
    OptionFile {
        name: "a18_include_missing.cnf",
        version: "mariadb-10.11",
        code: 0,
        says: &[
            ": starts only if the directory that line 3 includes exists, ",
            "line 3: not read: not on this machine: ",
            "in 1 option",
        ],
        not: &["refused  "],
    },
    OptionFile {
        name: "a19_galera.cnf",
        version: "mariadb-10.2",
        code: 0,
        says: &[": starts, "],
        not: &["binlog_format"],
    },
    OptionFile {
        name: "a23_timezone.cnf",
        version: "mysql-8.0.33",
        code: 0,
        // The offset before it is right.
        says: &[
            ": starts only if its time zone tables contain the zone of line 3, ",
            ": 0 refused, 1 risk, ",
            "line 3: default_time_zone=Asia/Shanghai: ",
            "'+08:00'",
        ],
        not: &["'+09:00'"],
    },
    OptionFile {
        name: "a5_multi.cnf",
        version: "mysql-5.7",
        code: 1,
        says: &[
            "line 5: password=...: ",
            "line 16: innodb_buffer_pool_sizes=64M: ",
        ],
        not: &["no server reads", "secret1"],
    },
    OptionFile {
        name: "a7_case.cnf",
        version: "mariadb-10.11",
        code: 0,
        says: &[": starts, "],
        not: &["refused  "],
    },
    OptionFile {
        name: "latin1.cnf",
        version: "mysql-5.7",
        code: 0,
        says: &[": starts, ", "in 1 option"],
        not: &["refused  "],
    },
    OptionFile {
        name: "m97.cnf",
        version: "mysql-9.7",
        code: 1,
        says: &["refused  ", "line 2: authentication_policy="],
        not: &[],
    },
    OptionFile {
        name: "wsrep.cnf",
        version: "mariadb-10.11",
        code: 1,
        says: &["binlog_format"],
        not: &[],
    },
];

#[test]
fn option_files() {
    let Some(cases) = cases() else { return };
    let scene = Scene::new();
    scene.link_installs();
    let folder = cases.join("config");
    let mut known = BTreeSet::from(OPTION_FILES.map(|file| file.name.to_owned()));
    // What one of them includes.
    known.insert("conf.d".to_owned());
    assert_eq!(names(&folder), known);
    copy(&folder, scene.path());
    for file in &OPTION_FILES {
        let review = ["config", "lint", file.name, "--for", file.version];
        let found = scene.dbdyno(review).exits(file.code);
        let found = file
            .says
            .iter()
            .fold(found, |found, text| found.prints(text));
        for text in file.not {
            found.conceals(text);
        }
    }
}

/// What becomes of a dump: it is refused, or this holds in its tables.
enum Dump {
    Refused(&'static str),
    Holds(&'static str),
}

const DUMPS: [(&str, Dump); 15] = [
    ("b10.sql", Dump::Holds("(SELECT count(*) FROM bomt) = 1")),
    ("b15.sql", Dump::Holds("(SELECT count(*) FROM t) = 2")),
    (
        "b3.sql",
        Dump::Holds(
            "(SELECT group_concat(d ORDER BY id) FROM orders) = '2020-00-00,2020-01-01' AND f1(1) = 2",
        ),
    ),
    ("b6.sql", Dump::Refused("UTF-16")),
    (
        "d1",
        Dump::Holds(
            "(SELECT s FROM t WHERE id = 3) = 'c\\\\d' AND (SELECT count(*) FROM t WHERE s IS NULL) = 1",
        ),
    ),
    ("d3", Dump::Refused("prod.t.00000.dat")),
    ("d7", Dump::Refused("several databases: other, prod")),
    (
        "e5.sql",
        Dump::Holds("(SELECT count(*) FROM child) = 3 AND (SELECT sum(n) FROM vo) = 2"),
    ),
    (
        "m2.sql",
        Dump::Holds(
            "(SELECT count(*) FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = database()) = 1 AND (SELECT DEFAULT_CHARACTER_SET_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = database()) = 'latin1'",
        ),
    ),
    (
        "md",
        Dump::Holds("fu(3) = 3 AND (SELECT count(*) FROM v_on_view) = 1"),
    ),
    ("md2", Dump::Holds("(SELECT count(*) FROM v_on_view) = 1")),
    ("p4", Dump::Refused("MySQL Shell")),
    ("p6.zip", Dump::Refused("unzip unpacks it")),
    ("p7.sql.bz2", Dump::Refused("bunzip2 --keep unpacks it")),
    ("p8.sql.xz", Dump::Refused("unxz --keep unpacks it")),
];

/// A server that announced a parameter and sent no definition of it.
const OF_ENDLESS_PREPARE: &str = "mysql-8.0.33";

/// The one that only MySQL 8 reads.
const DUMP_OF_MYSQL_8: &str = "e5.sql";

#[test]
fn dumps() {
    let Some(cases) = cases() else { return };
    let scene = Scene::for_two_servers();
    scene.link_installs();
    let folder = cases.join("dump");
    let known = DUMPS.each_ref().map(|(name, _)| (*name).to_owned());
    assert_eq!(names(&folder), BTreeSet::from(known));
    for (name, expected) in &DUMPS {
        let run = if *name == DUMP_OF_MYSQL_8 {
            "mysql"
        } else {
            "mariadb"
        };
        if !is_installed(&scene, run) {
            eprintln!("{name} is left out: {run} is not installed");
            continue;
        }
        let data = format!("dump = {:?}", folder.join(name));
        scene.file(
            "trial.toml",
            &experiment(&format!("run = \"{run}\""), &data),
        );
        let found = |condition: &str| -> Finished {
            scene.file("load.sql", &holds(condition));
            scene.dbdyno(["run", "trial.toml", "--results", &format!("results-{name}")])
        };
        match expected {
            Dump::Refused(why) => found("TRUE").exits(2).says(why),
            Dump::Holds(condition) => found(condition).has_measured(),
        };
    }
    scene.nothing_is_left();
}

#[test]
fn rows_of_files_and_rules() {
    let Some(cases) = cases() else { return };
    let scene = Scene::for_two_servers();
    scene.link_installs();
    let folder = cases.join("data");
    copy(&folder, scene.path());
    scene.file(
        "az.sql",
        "CREATE TABLE t (id int NOT NULL AUTO_INCREMENT PRIMARY KEY);\n",
    );
    let from_zero = "(SELECT min(id) FROM t) = 0 AND (SELECT count(*) FROM t) = 100";
    scene.file("az.chk.sql", &holds(from_zero));
    let nulls = "(SELECT count(*) FROM en WHERE e IS NULL AND s IS NULL AND c = '') = 1";
    scene.file("en.chk.sql", &holds(nulls));
    for name in ["en", "g", "seq0"] {
        let text = fs::read_to_string(folder.join(name).with_extension("toml")).unwrap();
        for run in ["mysql-8.0.33", "mariadb"] {
            if !is_installed(&scene, run) {
                eprintln!("{name} is left out: {run} is not installed");
                continue;
            }
            let text = text.replace("\"mysql-8.0.33\"", &format!("{run:?}"));
            scene.file("trial.toml", &text);
            let results = format!("results-{name}-{run}");
            scene
                .dbdyno(["run", "trial.toml", "--results", &results])
                .has_measured();
        }
    }
}

#[test]
fn statements() {
    let Some(cases) = cases() else { return };
    let scene = Scene::for_two_servers();
    scene.link_installs();
    let server = MariaDb::start(&scene, &[]);
    // The log names this database.
    assert_eq!(server.database(), "test");
    server.rows("create table foo (id int primary key, bar int, s varchar(20))");
    server.rows("insert into foo values (1, 1, 'a'), (2, 1, 'b;c'), (3, 2, '# Time: 2020')");
    let run = |line: &[&str]| -> Finished {
        let given = server.by_socket();
        scene.dbdyno(line.iter().copied().chain(given.iter().map(String::as_str)))
    };
    let path = |name: &str| cases.join(name).to_str().unwrap().to_owned();
    let count = |part: &str| names(&cases.join(part)).len();
    let database = format!("--database={}", server.database());
    assert_eq!((count("script"), count("sql"), count("slow")), (2, 3, 1));
    let script = |name: &str| run(&["script", "run", &path(name), "--duration=2s", &database]);
    script("script/s10_bom.sql").has_measured();
    // MariaDB takes the parameter for the number of a column; MySQL 8.0.33 once never answered.
    script("script/h1.sql")
        .exits(3)
        .says("h1:2 SELECT id FROM foo ORDER BY :a");
    if is_installed(&scene, OF_ENDLESS_PREPARE) {
        scene.file("foo.sql", "CREATE TABLE foo (id int PRIMARY KEY);\n");
        let run = format!("run = {OF_ENDLESS_PREPARE:?}");
        let load = format!("script = {:?}", path("script/h1.sql"));
        let text = experiment(&run, "sql = \"foo.sql\"");
        scene.file("trial.toml", &text.replace("script = \"load.sql\"", &load));
        scene.dbdyno(["run", "trial.toml"]).has_measured();
    }
    run(&["sql", "time", &path("sql/bom.sql"), "--runs=2", &database]).exits(0);
    let schema = format!("--create-schema={}", server.database());
    let slap = ["mysqlslap", "--no-drop", "--delimiter=;", &schema];
    let query = format!("--query={}", path("sql/bomq.sql"));
    run(&[&slap[..], &[&query]].concat())
        .exits(0)
        .prints("Average number of queries per client: 2");
    let create = format!("--create={}", path("sql/bomschema.sql"));
    run(&[&slap[..], &[&create, "--query=select a from x"]].concat()).exits(0);
    let log = path("slow/g57s.log");
    run(&["sql", "time", "--from", &log, "--runs=2", &database])
        .exits(0)
        .says("10 statements of 10 kinds");
}

#[test]
fn measurements_of_fio() {
    let Some(cases) = cases() else { return };
    let scene = Scene::new();
    let folder = cases.join("fio");
    // Both sides reported together, and four threads in one entry.
    let known = [
        (
            "j13.json",
            "requests/s, depth        1\n4.00 KiB r100       4.32M",
        ),
        (
            "j19.json",
            "requests/s, depth        4\n4.00 KiB r100        85.8k",
        ),
    ];
    let all = known.map(|(name, _)| name.to_owned());
    assert_eq!(names(&folder), BTreeSet::from(all));
    for (name, table) in known {
        let path = folder.join(name);
        scene
            .dbdyno(["import", "fio", path.to_str().unwrap()])
            .exits(0)
            .prints(table);
    }
}
