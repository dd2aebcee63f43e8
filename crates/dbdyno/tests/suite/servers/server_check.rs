//! `dbdyno server check`: a server's validation of a my.cnf, before a server is created.

use crate::{results::names_in, scene::Scene};

const RIGHT: &str = "[client]\nno_such_client_option=1\n[mysqld]\nmax_connections=77\ninnodb_flush_log_at_trx_commit=2\n";

/// Invalid lines (name, unit, word, removed option, time zone) among valid ones.
const WRONG: &str = "[mysqld]\nmax_connections=77\nno_such_option=1\nsort_buffer_size=2X\nskip-no-such-switch\n\
                     innodb_additional_mem_pool_size=20M\ndefault_time_zone=UTC\nloose_no_such_thing=1\n";

#[test]
fn a_right_file_passes_and_a_wrong_one_is_refused_line_by_line() {
    let scene = Scene::for_servers();
    scene.file("right.cnf", RIGHT);
    scene.file("wrong.cnf", WRONG);
    let check = |cnf| scene.dbdyno(["server", "check", "--run", "mariadb", "--cnf", cnf]);
    let accepted = check("right.cnf").exits(0).text();
    assert_eq!(accepted.lines().count(), 1, "{accepted}");
    assert!(
        accepted.starts_with("accepted by the option check of mariadb "),
        "{accepted}"
    );
    let told = check("wrong.cnf").exits(2).text();
    let refused: Vec<&str> = told
        .lines()
        .filter_map(|line| line.strip_prefix("refused: "))
        .filter_map(|line| line.split_once("wrong.cnf line ")?.1.split_once(": "))
        .map(|(number, _)| number)
        .collect();
    assert_eq!(refused, ["3", "4", "5", "6", "7"], "{told}");
    assert!(told.contains("note: "), "the loose one: {told}");
    assert!(told.contains("'+00:00'"), "what to write instead: {told}");

    // The same validation before a server is created.
    scene
        .dbdyno([
            "server",
            "create",
            "one",
            "--run",
            "mariadb",
            "--cnf",
            "wrong.cnf",
        ])
        .exits(2)
        .says("refuses 5 of the options")
        .says("line 4: sort_buffer_size=2X");
    assert_eq!(scene.servers(), []);
    assert!(names_in(&scene.servers_directory()).is_empty());
}

#[test]
fn single_options_and_what_cannot_be_read_are_told() {
    let scene = Scene::for_servers();
    let check = |arguments: &[&str]| scene.dbdyno([&["server", "check"], arguments].concat());
    check(&["--set", "max_connections=0"])
        .exits(0)
        .prints("note: ")
        .prints("max_connections=0");
    check(&["--set", "innodb_flush_method=SIDEWAYS"])
        .exits(2)
        .prints("refused: ");
    scene.file("replica.cnf", "[mysqld]\nport=3306\n");
    check(&["--cnf", "replica.cnf"]).exits(0).prints(
        "note: replica.cnf line 2: port: not checked, because a private server does not use it; \
         `dbdyno config lint` checks it",
    );
    check(&["--cnf", "missing.cnf"])
        .exits(2)
        .says("missing.cnf");
    check(&["--run", "mariadb-77.7"]).exits(2).says("hint: ");
    scene.file("torn.cnf", "[mysqld\nport=1\n");
    check(&["--cnf", "torn.cnf"]).exits(2).says("torn.cnf");
}
