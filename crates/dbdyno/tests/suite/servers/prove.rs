//! `dbdyno config prove`: the lines of a file, measured against each other. What is asserted is the course, never speed.

use rustix::process::Signal;
use serde_json::Value;

use crate::scene::Scene;

const FILE: &str = "[mysqld]\nport = 3307\ninnodb_flush_log_at_trx_commit = 2\nsort_buffer_size = 1M\n\
                    max_connections = 300\ndefault_password_lifetime = 9\ninnodb_doublewrite = 1\n[mysqldump]\nquick\n";

/// A load of moments, and few blocks. It only reads: on a busy disk one commit would outlast a run.
const TINY: [&str; 16] = [
    "--script",
    "read_only",
    "--tables",
    "1",
    "--table-size",
    "300",
    "--connections",
    "2",
    "--warmup",
    "200ms",
    "--duration",
    "400ms",
    "--blocks",
    "4",
    "--margin",
    "50%",
];

#[test]
fn the_plan_names_what_is_tested_and_starts_nothing() {
    let scene = Scene::for_servers();
    scene.file("my.cnf", FILE);
    let plan = ["config", "prove", "my.cnf", "--plan", "--for", "mariadb"];
    scene
        .dbdyno(plan)
        .exits(0)
        .prints("2 groups to test, 4 lines not tested")
        .prints("test      innodb_flush_log_at_trx_commit = 2")
        .prints("untested  max_connections = 300: controls capacity")
        .prints("untested  port = 3307: specific to the instance")
        .prints("untested  innodb_doublewrite = 1: equal to the default")
        .prints("screening 4 files in at most 12 blocks, until each line is decided: up to about ");
    scene
        .dbdyno([&plan[..], &["--test", "max-connections"]].concat())
        .exits(0)
        .prints("3 groups to test")
        .prints("test      max_connections = 300");
    let joined = ["--group", "sort_buffer_size,innodb-flush-log-at-trx-commit"];
    scene
        .dbdyno([&plan[..], &joined].concat())
        .exits(0)
        .prints("1 group to test");
    assert!(!scene.path().join("results").exists());
    scene.nothing_is_left();
}

#[test]
fn bad_input_is_refused_before_anything_is_made() {
    let scene = Scene::for_servers();
    scene.file("my.cnf", FILE);
    scene.file(
        "idle.cnf",
        "[mysqld]\nport = 3307\ninnodb_doublewrite = 1\n",
    );
    scene.file("wrong.cnf", "[mysqld]\nno_such_option = 1\n");
    scene.file("binlog.cnf", "[mysqld]\nlog_bin = binlog\n");
    scene.file("safe.cnf", "[mysqld]\nlog_bin = binlog\nsync_binlog = 1\n");
    scene.file(
        "both.cnf",
        "[mysqld]\nlog_bin = binlog\nsync_binlog = 1\nsort_buffer_size = 1M\n",
    );
    let prove = |file: &str, more: &[&str]| {
        let begin = ["config", "prove", file, "--for", "mariadb"];
        scene.dbdyno([&begin[..], more].concat())
    };
    prove("none.cnf", &[]).exits(2).says("none.cnf");
    prove("wrong.cnf", &[])
        .exits(2)
        .says("does not start on")
        .hints("dbdyno config lint wrong.cnf");
    prove("idle.cnf", &[])
        .exits(2)
        .says("can change the speed of");
    prove("my.cnf", &["--against", "my.cnf"])
        .exits(2)
        .says("can change the speed of");
    prove("my.cnf", &["--group", "port,sort_buffer_size"])
        .exits(2)
        .says("option port is not tested");
    prove("my.cnf", &["--group", "port"]).exits(2);
    prove("my.cnf", &["--test", "port"])
        .exits(2)
        .says("option port is not tested");
    prove("my.cnf", &["--connections", "301"])
        .exits(2)
        .says("my.cnf: max_connections is 300, and the load opens 301")
        .hints("--connections 300");
    let tested = ["--test", "max_connections", "--connections", "250"];
    prove("my.cnf", &tested)
        .exits(2)
        .says("the defaults: max_connections is 151");
    prove("my.cnf", &["--allow-class", "D4"])
        .exits(2)
        .says("my.cnf itself has durability class D2");
    prove("my.cnf", &["--margin", "0"]).exits(2);
    prove("my.cnf", &["--budget", "soon"]).exits(2);
    prove("my.cnf", &["--budget", "1m"])
        .exits(2)
        .says("cannot decide anything: at least 3 blocks of ")
        .hints("the first round needs at least --budget");
    prove("my.cnf", &["--script", "no_such"]).exits(2);
    prove("my.cnf", &["--output", "idle.cnf"])
        .exits(2)
        .says("exists already");
    prove("my.cnf", &["--for", "mysql-1.0"]).exits(2);
    // Without sync_binlog the binary log would lack commits after a power cut.
    prove("safe.cnf", &["--against", "binlog.cnf"])
        .exits(2)
        .says("is needed for durability class D4")
        .hints("--allow-class");
    prove(
        "safe.cnf",
        &["--against", "binlog.cnf", "--allow-class", "D3", "--plan"],
    )
    .exits(0)
    .prints("test      sync_binlog = 1");
    prove("both.cnf", &["--plan"])
        .exits(0)
        .prints("pinned    sync_binlog = 1: without it durability is D3");
    assert!(!scene.path().join("results/prove-1/1-screening").exists());
    scene.nothing_is_left();
}

#[test]
#[ignore = "a long round: make test-all"]
fn an_interrupted_proof_continues_with_the_same_command() {
    let scene = Scene::for_servers();
    scene.file("my.cnf", FILE);
    let begin = [
        "config",
        "prove",
        "my.cnf",
        "--for",
        "mariadb",
        "--results",
        "out",
    ];
    let prove = [&begin[..], &TINY].concat();
    let mut running = scene.start(&prove);
    let second = scene.path().join("out/1-screening/run-0002.jsonl");
    running.wait_until("the second run begins", || second.exists());
    running.signal(Signal::INT);
    running
        .finish()
        .exits(130)
        .hints("run the same command again");
    scene.nothing_is_left();
    let other = [&prove[..], &["--seed", "2"]].concat();
    scene.dbdyno(other).exits(2).says("contains another proof");

    let more = [
        "--output",
        "short.cnf",
        "--html",
        "page.html",
        "--format",
        "json",
    ];
    let finished = scene
        .dbdyno([&prove[..], &more].concat())
        .says("continues in out");
    let answer: Value = serde_json::from_str(&finished.text()).unwrap();
    assert_eq!(answer["groups"].as_array().unwrap().len(), 2);
    assert_eq!(answer["durability"]["file"], "D2");
    let first = scene.path().join("out/1-screening/run-0001.jsonl");
    assert!(first.exists() && scene.path().join("out/report.html").exists());
    // Whether a load of moments excludes a loss depends on the machine; a file is written only if it does.
    let is_finished = answer["is_finished"] == true;
    let code = if is_finished { 0 } else { 5 };
    let finished = finished.exits(code);
    assert_eq!(scene.path().join("short.cnf").exists(), is_finished);
    if is_finished {
        check_short_file(&scene, &answer);
    } else {
        finished.says("not decided").hints("in a new proof");
    }
    let page = std::fs::read_to_string(scene.path().join("page.html")).unwrap();
    assert!(page.contains("Which lines of my.cnf are worth keeping?"));
    // Once more: everything is read, nothing is measured.
    let again = scene.dbdyno(&prove).exits(code);
    assert!(again.text().lines().count() <= 12, "{}", again.text());
    assert!(!again.shown().contains("run 1 of"), "{}", again.shown());
    // A file of a round that is not what is planned: its results would get another name.
    let planned = scene.path().join("out/1-screening-files/base.cnf");
    std::fs::write(planned, "[mysqld]\n").unwrap();
    scene
        .dbdyno(&prove)
        .exits(2)
        .says("base.cnf is not the file that this proof expects")
        .hints("name a new directory with --results");
    scene.nothing_is_left();
}

/// The file that was written has what the answer keeps, and all that is not about speed with its own values.
fn check_short_file(scene: &Scene, answer: &Value) {
    let short = std::fs::read_to_string(scene.path().join("short.cnf")).unwrap();
    for line in [
        "port = 3307",
        "max_connections = 300",
        "default_password_lifetime = 9",
    ] {
        assert!(short.contains(&format!("\n{line}\n")), "{line}: {short}");
    }
    assert!(!short.contains("quick"), "{short}");
    for group in answer["groups"].as_array().unwrap() {
        let line = group["lines"][0].as_str().unwrap();
        let mut kept = answer["shortest"].as_array().unwrap().iter();
        let is_kept = kept.any(|it| it == line);
        assert_eq!(short.contains(&format!("\n{line}\n")), is_kept, "{short}");
    }
    let lint = "config lint short.cnf --for mariadb --fail-if refused";
    scene.dbdyno(lint.split_whitespace()).exits(0);
}

#[test]
fn a_round_that_ended_by_its_time_grows_only_with_a_longer_budget() {
    let scene = Scene::for_servers();
    scene.file("my.cnf", "[mysqld]\nsort_buffer_size = 1M\n");
    let prove = |budget: &str| {
        let begin = "config prove my.cnf --for mariadb --results out --budget";
        let begin = begin.split_whitespace().chain([budget]);
        begin.chain(TINY).map(str::to_owned).collect::<Vec<_>>()
    };
    // A new proof needs a budget that decides something; one that is begun continues with any.
    let mut running = scene.start(prove("10m"));
    let first = scene.path().join("out/1-screening/run-0001.jsonl");
    running.wait_until("the first run begins", || first.exists());
    running.signal(Signal::INT);
    running.finish().exits(130);
    let runs = || {
        let files = std::fs::read_dir(scene.path().join("out/1-screening")).unwrap();
        let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        names
            .filter(|name| name.starts_with("run-"))
            .filter(|name| {
                ![".disturbed-", ".incomplete-"]
                    .iter()
                    .any(|it| name.contains(it))
            })
            .count()
    };
    // The first block runs in any case, and one block decides nothing.
    let short = scene
        .dbdyno(prove("1s"))
        .exits(5)
        .hints("run the same command with a longer --budget");
    assert_eq!(runs(), 2, "{}", short.shown());
    scene.dbdyno(prove("1s")).exits(5).says("continues in out");
    assert_eq!(runs(), 2);
    // Until it is in its second block: the first one alone has two runs. The whole course is that of the long round.
    let mut longer = scene.start(prove("20m"));
    longer.wait_until("another block runs", || runs() > 3);
    longer.signal(Signal::INT);
    longer.finish().exits(130).says("continues in out");
    scene.nothing_is_left();
}
