//! Invalid input: refused with exit code 2 and one message with a remedy, without side effects.

use std::net::TcpListener;

use rustix::process::Signal;

use crate::{
    experiment::{Experiment, SMACK},
    mariadb::{MariaDb, PASSWORD},
    results::{Results, names_in},
    scene::{Running, Scene},
};

#[test]
fn a_wrong_password() {
    let scene = Scene::for_servers();
    let mariadb = MariaDb::start(&scene, &[]);
    let experiment = Experiment {
        server: mariadb.as_experiment(),
        ..Experiment::default()
    };
    experiment.write(&scene);
    scene.file("password", "Brown hare");
    for args in [
        vec!["run".to_owned(), "trial.toml".to_owned()],
        [vec!["quick".to_owned()], mariadb.by_port()].concat(),
        [vec!["quick".to_owned()], mariadb.by_socket()].concat(),
        [
            vec!["super-smack".to_owned()],
            mariadb.by_port(),
            vec!["hp-sizing.smack".to_owned(), "1".to_owned(), "1".to_owned()],
        ]
        .concat(),
    ] {
        scene
            .dbdyno(args)
            .exits(2)
            .says("1045")
            .hints("password")
            .conceals("Brown hare");
    }
    scene.file("password", PASSWORD);
    assert!(
        mariadb
            .rows("show databases")
            .iter()
            .all(|row| row[0] != "dbdyno_quick")
    );
}

#[test]
fn a_missing_server_binary() {
    let scene = Scene::for_servers();
    Experiment::default().write(&scene);
    scene
        .dbdyno(["run", "trial.toml", "--mysqld", "/nonexistent/mariadbd"])
        .exits(2)
        .says("/nonexistent/mariadbd")
        .hints("--mysqld");
    scene
        .dbdyno(["quick", "--mysqld", "/nonexistent/mariadbd"])
        .exits(2)
        .says("/nonexistent/mariadbd")
        .hints("--mysqld");
    scene.nothing_is_left();
}

#[test]
fn a_version_that_is_not_installed() {
    let scene = Scene::for_servers();
    Experiment {
        server: "run = \"mysql-5.0\"".to_owned(),
        ..Experiment::default()
    }
    .write(&scene);
    scene
        .dbdyno(["run", "trial.toml"])
        .exits(2)
        .says("mysql-5.0")
        .hints("--mysqld");
    scene.nothing_is_left();
}

#[test]
fn a_port_in_use() {
    let scene = Scene::for_servers();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    scene
        .dbdyno(["server", "create", "demo", "--port", &port])
        .exits(2)
        .says(&port)
        .says("in use")
        .hints("another port");
    scene.nothing_is_left();
    drop(listener);
}

#[test]
fn a_smack_file_with_an_error() {
    let scene = Scene::for_servers();
    Experiment::default().write(&scene);
    let broken = SMACK.replacen("min_rows \"1000000\"", "min_rovs \"1000000\"", 1);
    scene.file("hp-sizing.smack", &broken);
    let line = 1 + broken
        .lines()
        .position(|line| line.contains("min_rovs"))
        .unwrap();
    let column = 1 + broken
        .lines()
        .nth(line - 1)
        .unwrap()
        .find("min_rovs")
        .unwrap();
    let place = format!("hp-sizing.smack, line {line}, column {column}: ");
    for args in [
        &["run", "trial.toml"][..],
        &["super-smack", "hp-sizing.smack", "1", "1"],
    ] {
        scene
            .dbdyno(args)
            .exits(2)
            .says(&place)
            .says("min_rovs")
            .conceals("creating a private server");
    }
    scene.nothing_is_left();
}

#[test]
fn an_experiment_with_an_error() {
    let scene = Scene::for_servers();
    let experiment = Experiment {
        load: "conections = 2\nduration = \"2s\"".to_owned(),
        ..Experiment::default()
    };
    experiment.write(&scene);
    let text = experiment.text();
    let line = 1 + text
        .lines()
        .position(|line| line.contains("conections"))
        .unwrap();
    let before = names_in(scene.path());
    for plan in [&["run", "trial.toml"][..], &["run", "trial.toml", "--plan"]] {
        scene
            .dbdyno(plan)
            .exits(2)
            .prints_nothing()
            .says(&format!("trial.toml:{line}:1"))
            .hints("did you mean `connections`?");
    }
    assert_eq!(names_in(scene.path()), before, "nothing was made");
}

#[test]
fn names_that_were_meant_are_said() {
    let scene = Scene::for_servers();
    let server = |text: &str| Experiment {
        server: text.to_owned(),
        ..Experiment::default()
    };
    server("version = \"mariadb\"").write(&scene);
    scene
        .dbdyno(["run", "trial.toml", "--plan"])
        .exits(2)
        .hints("did you mean `run`?");
    server("run = \"mysql-4.0\"").write(&scene);
    scene
        .dbdyno(["run", "trial.toml", "--plan"])
        .exits(0)
        .prints("1 run")
        .says("mysql-4.0: not found");
    scene
        .dbdyno(["oltp", "read_only", "run", "--treads=4"])
        .exits(2)
        .says("--treads: there is no such option")
        .hints("did you mean --threads?");
    scene
        .dbdyno([
            "server",
            "create",
            "demo",
            "--no-start",
            "--set",
            "innodb_buffer_pool_size=16M",
        ])
        .exits(0);
    scene
        .dbdyno(["server", "status", "dmeo"])
        .exits(2)
        .hints("did you mean demo?");
    scene
        .dbdyno(["server", "status", "demo"])
        .exits(0)
        .prints("bench; other programs: --defaults-extra-file=");
    scene.dbdyno(["server", "destroy", "demo"]).exits(0);
    scene
        .dbdyno(["top", "--socket", "nowhere.sock", "--user", "x"])
        .exits(3)
        .says("cannot connect to nowhere.sock");
}

/// Messages may quote the command line, but without its control characters.
#[test]
fn a_command_line_is_no_terminal_sequence() {
    let scene = Scene::for_servers();
    for args in [
        &["run", "a.toml", "-s\re"][..],
        &["oltp", "read_only", "run", "-\u{1b}[2J"],
    ] {
        let said = scene.dbdyno(args).exits(2).stderr;
        assert!(!said.contains(['\r', '\u{1b}']), "{said:?}");
    }
}

#[test]
fn a_table_that_is_somebody_elses() {
    let scene = Scene::for_servers();
    let mariadb = MariaDb::start(&scene, &[]);
    mariadb.rows("create table http_auth (colour varchar(10))");
    mariadb.rows("insert into http_auth values ('green'), ('blue')");
    Experiment {
        server: mariadb.as_experiment(),
        ..Experiment::default()
    }
    .write(&scene);
    scene
        .dbdyno(["run", "trial.toml", "--results", "out"])
        .exits(2)
        .says("http_auth exists already")
        .hints("database = ");
    assert_eq!(
        mariadb.rows("select colour from http_auth"),
        [["green"], ["blue"]]
    );
}

/// Starts `trial.toml` into `out` and waits until its tables are created and the first run is measured.
fn measuring(scene: &Scene) -> Running {
    let mut running = scene.start(["run", "trial.toml", "--results", "out"]);
    let record = scene.path().join("out/run-0001.jsonl");
    running.wait_until("the first run is measured", || record.exists());
    running
}

#[test]
fn a_table_that_somebody_else_made_since() {
    let scene = Scene::for_servers();
    let mariadb = MariaDb::start(&scene, &[]);
    Experiment {
        server: mariadb.as_experiment(),
        load: "connections = 2\nwarmup = \"500ms\"\nduration = \"2s\"".to_owned(),
        ..Experiment::default()
    }
    .write(&scene);
    // Killed, and the table replaced by an unrelated one before the experiment is resumed.
    let running = measuring(&scene);
    running.signal(Signal::KILL);
    running.finish().was_killed_by(Signal::KILL);
    mariadb.rows("drop table http_auth");
    mariadb.rows("create table http_auth (colour varchar(10))");
    mariadb.rows("insert into http_auth values ('green')");
    let resume = ["run", "trial.toml", "--results", "out", "--resume"];
    for _ in 0..2 {
        scene
            .dbdyno(resume)
            .exits(2)
            .says("test.http_auth on 127.0.0.1:")
            .says("is not the one that dbdyno created: its columns are colour")
            .hints("nothing was replaced; rename the table");
    }
    assert_eq!(mariadb.rows("select colour from http_auth"), [["green"]]);
    // After it is renamed, the experiment continues, and drops its own table at its end.
    mariadb.rows("rename table http_auth to mine");
    scene.dbdyno(resume).exits(0);
    assert_eq!(mariadb.rows("show tables"), [["mine"]]);
}

#[test]
fn a_table_that_somebody_changes_while_it_is_measured() {
    let scene = Scene::for_servers();
    // On a busy disk a commit that waits for it can outlast a run.
    let mariadb = MariaDb::start(&scene, &[("innodb_flush_log_at_trx_commit", "2")]);
    // The run does not end before the change, however long that waits for the commits before it.
    let columns = "select 1 from information_schema.columns \
                   where table_schema = 'test' and table_name = 'http_auth' and column_name = 'mine'";
    mariadb.rows(&format!(
        "create procedure test.wait_for_the_change() \
         begin while not exists ({columns}) do do sleep(0.05); end while; end"
    ));
    Experiment {
        server: mariadb.as_experiment(),
        each: "after = [\"call test.wait_for_the_change()\"]",
        load: "connections = 2\nwarmup = \"500ms\"\nduration = \"2s\"".to_owned(),
        ..Experiment::default()
    }
    .write(&scene);
    let running = measuring(&scene);
    mariadb.rows("alter table http_auth add column mine int");
    running
        .finish()
        .exits(2)
        .says("is not the one that dbdyno created")
        .hints("nothing was dropped");
    assert_eq!(mariadb.rows("show tables"), [["http_auth"]]);
}

#[test]
fn results_of_another_experiment() {
    let scene = Scene::for_servers();
    Experiment::default().write(&scene);
    scene
        .dbdyno(["run", "trial.toml", "--results", "out"])
        .exits(0);
    let results = Results::at(scene.path().join("out"));
    let record = results.text("run-0001.jsonl");
    scene
        .dbdyno(["run", "trial.toml", "--results", "out"])
        .exits(2)
        .hints("--resume");
    scene
        .dbdyno([
            "run",
            "trial.toml",
            "--results",
            "out",
            "--resume",
            "--seed",
            "4",
        ])
        .exits(2)
        .says("--seed");
    assert_eq!(results.text("run-0001.jsonl"), record);
}

#[test]
fn a_mix_that_does_not_fit_the_barrel() {
    let scene = Scene::for_servers();
    Experiment {
        load: "mix = \"1:1:1\"\nconnections = 2\nduration = \"2s\"".to_owned(),
        ..Experiment::default()
    }
    .write(&scene);
    scene
        .dbdyno(["run", "trial.toml"])
        .exits(2)
        .says("mix '1:1:1': 3 counts for the 2 queries of the barrel")
        .conceals("creating a private server");
    scene.nothing_is_left();
}

#[test]
fn what_stands_in_a_message_commands_no_terminal() {
    let scene = Scene::for_servers();
    let name = "no\x1b[2J\u{202e}\r\nhint: forged.jsonl";
    for command in ["report", "audit", "top", "run"] {
        let refused = scene.dbdyno([command, name]).exits(2);
        refused
            .says("no\\u001b[2J\\u202e\\r\n  hint: forged.jsonl")
            .conceals("\x1b")
            .conceals("\nhint: forged");
    }
}
