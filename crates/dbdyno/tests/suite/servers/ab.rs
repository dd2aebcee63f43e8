//! `dbdyno ab`: one line is an experiment, whose file is kept and can be edited and run.

use std::fs;

use rustix::process::Signal;

use crate::{own_experiment::experiment, results::Results, scene::Scene};

/// Short runs; time for three blocks of two levels, as estimated.
const SHORT: [&str; 8] = [
    "--connections",
    "2",
    "--duration",
    "2s",
    "--warmup",
    "100ms",
    "--budget",
    "25s",
];

#[test]
fn settings_are_compared_and_the_file_runs_again() {
    let scene = Scene::for_servers();
    // Its connections pause: `servers::ci` compares sysbench's workloads at full speed.
    scene.file(
        "update.sql",
        "\\set id random(1, 1000)\nUPDATE sbtest1 SET k = k + 1 WHERE id = :id;\n\\sleep 20 ms\n",
    );
    let load = ["script", "update.sql", "--table-size", "1k"];
    let set = ["ab", "--set", "innodb_flush_log_at_trx_commit=1,2,0"];
    let effect = ["--min-effect", "3 %"];
    let of_three = [&SHORT[..7], &["38s"]].concat();
    let finished = scene
        .dbdyno([&set[..], &of_three, &effect, &load].concat())
        .exits(0);
    let text = finished.text();
    let finished = finished
        .prints("innodb_flush_log_at_trx_commit: 1 or 2 or 0?")
        .prints("innodb_flush_log_at_trx_commit 2 against 1: ")
        .prints("innodb_flush_log_at_trx_commit 0 against 1: ");
    let file = "results/ab-1/ab.toml";
    finished.prints(&format!(
        "file      {file}: edit it, then run: dbdyno run {file}"
    ));
    assert!(text.lines().count() <= 13, "{text}");
    scene.nothing_is_left();

    let path = scene.path().join(file);
    let written = fs::read_to_string(&path).unwrap();
    assert!(
        written.starts_with(
            "# Written by: dbdyno ab --set innodb_flush_log_at_trx_commit=1,2,0 --connections 2"
        ),
        "{written}"
    );
    assert!(written.contains("min_effect = \"3 %\"\n"), "{written}");
    fs::write(&path, written.replace("\"2\", \"0\"", "\"2\"")).unwrap();
    scene
        .dbdyno(["run", file, "--repeats", "1", "--results", "again"])
        .exits(0)
        .prints("innodb_flush_log_at_trx_commit");
}

#[test]
fn versions_are_compared_without_what_their_defaults_differ_in() {
    let scene = Scene::for_two_servers();
    scene.file("load.sql", "\\set x random(1, 2)\nSELECT :x;\n");
    // Two names of one version, so that the test needs no second one.
    let text = experiment(
        "run = \"{version}\"\nset = { performance_schema = \"ON\" }",
        "sql = \"one.sql\"",
    );
    scene.file("one.sql", "CREATE TABLE one (id int PRIMARY KEY);\n");
    let matrix = "[matrix]\nversion = [\"mariadb\", \"mariadb-10.11\"]\n[server]\n";
    scene.file("trial.toml", &text.replace("[server]\n", matrix));
    scene
        .dbdyno(["run", "trial.toml", "--keep"])
        .exits(0)
        .says("note: skip-log-bin=1, sync_binlog=1, innodb_flush_log_at_trx_commit=1");
    let servers = fs::read_dir(scene.servers_directory()).unwrap();
    let options = servers.map(|entry| fs::read_to_string(entry.unwrap().path().join("my.cnf")));
    let options: Vec<String> = options.map(Result::unwrap).collect();
    assert_eq!(options.len(), 2);
    for text in options {
        for (line, is_there) in [
            ("skip-log-bin = 1", true),
            ("innodb_doublewrite = 1", true),
            ("performance_schema = ON", true),
            ("performance_schema = 0", false),
        ] {
            assert_eq!(text.contains(line), is_there, "{line}: {text}");
        }
    }
}

#[test]
fn a_statement_is_compared_with_none_under_ones_own_scripts() {
    let scene = Scene::for_servers();
    scene.file(
        "orders.sql",
        // An error where the index was made since the server's start: what it read would be in the caches.
        "\\set id random(1, :rows)\nSELECT c FROM sbtest1 WHERE pad > :id LIMIT 1;\n\
         SELECT IF(variable_value = 0, 1, (SELECT 1 UNION SELECT 2)) FROM information_schema.global_status \
         WHERE variable_name = 'COM_CREATE_INDEX';\n\\sleep 20 ms\n",
    );
    let index = ["ab", "--sql", "CREATE INDEX pads ON sbtest1 (pad)"];
    let script = ["script", "orders.sql", "-D", "rows=1000"];
    let data = ["--table-size", "1k"];
    let all = [&index[..], &SHORT, &script, &data].concat();
    scene
        .dbdyno(all)
        .exits(0)
        .prints("With or without 'CREATE INDEX pads ON sbtest1 (pad)'?")
        .prints("sql with against without: ");
    scene.nothing_is_left();
    let file = fs::read_to_string(scene.path().join("results/ab-1/ab.toml")).unwrap();
    assert!(file.contains("change = [\"{sql}\"]"), "{file}");
    scene
        .dbdyno(
            [
                &["ab", "--sql", "SET GLOBAL long_query_time = 1"],
                &SHORT[..],
                &script,
                &data,
            ]
            .concat(),
        )
        .exits(2)
        .says("the restart after `change` resets the settings of SET GLOBAL long_query_time = 1");
    let wrong = ["ab", "--sql", "CREATE INDEX pads ON nowhere (pad)"];
    scene
        .dbdyno([&wrong[..], &SHORT, &script, &data].concat())
        .exits(3)
        .says("nowhere");
    let bare = [&index[..], &SHORT, &script].concat();
    scene
        .dbdyno(bare)
        .exits(2)
        .says("a new server has no tables for the scripts");
}

#[test]
fn a_dump_is_the_data_of_ones_own_scripts() {
    let scene = Scene::for_servers();
    scene.file(
        "read.sql",
        "SELECT id FROM own WHERE id = 1;\n\\sleep 20 ms\n",
    );
    scene.file("own.csv", "id\n1\n2\n");
    scene.file("schema.sql", "CREATE TABLE own (id int PRIMARY KEY);\n");
    scene.file(
        "dump.sql",
        "CREATE TABLE own (id int PRIMARY KEY);\nINSERT INTO own VALUES (1),(2);\n",
    );
    let vary = ["ab", "--set", "sync_binlog=0,1"];
    let script = [&vary[..], &SHORT, &["script", "read.sql"]].concat();
    scene
        .dbdyno([&script[..], &["--dump", "dump.sql"]].concat())
        .exits(0)
        .prints("sync_binlog");
    // What the other tables make different is over when a run has read them.
    let tables = ["--schema", "schema.sql", "--csv", "own=own.csv"];
    let mut running = scene.start([&script[..], &tables].concat());
    let results = Results::at(scene.path().join("results/ab-2"));
    running.wait_until("run 1 has read them", || results.counted_so_far(1) > 0);
    running.signal(Signal::INT);
    running.finish().exits(130);
    scene.nothing_is_left();
    let both = ["script", "read.sql", "--dump", "dump.sql", "--tables", "2"];
    scene
        .dbdyno([&vary[..], &both].concat())
        .exits(2)
        .says("cannot be used with");
}

#[test]
fn a_plan_has_every_level_and_starts_nothing() {
    let scene = Scene::for_servers();
    scene.file("a.cnf", "[mysqld]\n");
    scene.file("b.cnf", "[mysqld]\n");
    let plan = |args: &[&str]| scene.dbdyno([&["ab", "--plan"], args].concat());
    let tpcc = ["tpcc", "--warehouses", "4"];
    let path = scene.path().join("b.cnf").display().to_string();
    plan(&[&["--cnf", "a.cnf,b.cnf"][..], &tpcc].concat())
        .exits(0)
        .prints("factor  cnf  a.cnf (")
        .prints(&format!("b.cnf ({path})"))
        .prints("until decided within 10 min");
    plan(
        &[
            &[
                "--run",
                "mariadb-10.11,mysql-8.0.33",
                "--set",
                "sync_binlog=1",
            ][..],
            &tpcc,
        ]
        .concat(),
    )
    .exits(0)
    .prints("factor  version  mariadb-10.11  mysql-8.0.33")
    .prints("2 combinations");
    plan(
        &[
            &[
                "--set",
                "sync_binlog=0,1",
                "--set",
                "sql_mode=\"ANSI,STRICT_ALL_TABLES\",\"\"",
            ][..],
            &tpcc,
        ]
        .concat(),
    )
    .exits(0)
    .prints("4 combinations");
    plan(&[
        "--set",
        "sync_binlog=0,1",
        "oltp",
        "point_select",
        "--create-table-options={x}",
        "--secondary",
        "--budget",
        "1h",
        "--warmup",
        "auto",
    ])
    .exits(0)
    .prints("within 1 h");
    let sets = ["--set", "sync_binlog=0,1"];
    let tpcc = [&tpcc[..], &["--delivery", "inline"]].concat();
    plan(&[&sets[..], &["--design", "side-by-side"], &tpcc].concat())
        .exits(0)
        .prints("2 combinations x at most 5 sessions")
        .prints("design  side by side, at most 60 slices of 500 ms");
    let fresh = ["--design", "side-by-side", "--state", "fresh"];
    plan(&[&sets[..], &fresh, &tpcc].concat())
        .exits(0)
        .prints("2 combinations x at most 6 sessions");
    assert!(!scene.path().join("results").exists());
}

#[test]
fn what_is_no_comparison_is_refused() {
    let scene = Scene::for_servers();
    scene.file("a.cnf", "[mysqld]\n");
    let tpcc = ["tpcc", "--warehouses", "1"];
    for (args, said, hint) in [
        (
            &[][..],
            "nothing to compare",
            "--set, --run, --cnf, --sql, --server or --host",
        ),
        (
            &["--set", "sync_binlog=1"],
            "nothing to compare: --set sync_binlog has only one value",
            "--set sync_binlog=1,OTHER",
        ),
        (
            &["--run", "mysql-8.0.33"],
            "--run has only one value",
            "--run mysql-8.0.33,mariadb-10.11",
        ),
        (
            &["--set", "sync_binlog=1,1"],
            "--set sync_binlog has the level \"1\" twice",
            "",
        ),
        (
            &["--set", "a=1,2", "--set", "a=3,4"],
            "--set a is given twice",
            "give all values in one option",
        ),
        (&["--set", "sync_binlog"], "sync_binlog=0,1", ""),
        (
            &["--set", "innodb_flush_log_at_trx_comit=1,2"],
            "--set innodb_flush_log_at_trx_comit: ",
            "innodb_flush_log_at_trx_commit",
        ),
        (
            &["--cnf", "a.cnf,none.cnf"],
            "none.cnf: No such file or directory",
            "",
        ),
        (
            &["--set", "sync_binlog=0,1", "--slice", "1s"],
            "--slice can only be used with --design side-by-side",
            "add --design side-by-side",
        ),
        (
            &[
                "--set",
                "sync_binlog=1,2,3,4,5,6,7,8,9",
                "--design",
                "side-by-side",
            ],
            "--design side-by-side cannot be used with 9 combinations",
            "use --design classical",
        ),
    ] {
        let finished = scene
            .dbdyno([&["ab"], args, &tpcc].concat())
            .exits(2)
            .says(said);
        if !hint.is_empty() {
            finished.hints(hint);
        }
    }
    assert!(!scene.path().join("results").exists());
    // Before the first run, and not after it.
    for versions in ["mariadb,mysql-1.0", "mysql-1.0,mariadb"] {
        scene
            .dbdyno([&["ab", "--run", versions], &tpcc[..]].concat())
            .exits(2)
            .says("mysql-1.0")
            .conceals("run 1");
    }
    scene.nothing_is_left();
}
