//! `dbdyno config` for versions that no server here is of: documented ones, those near to one, and files of other machines.

use serde_json::Value;

use crate::scene::Scene;

/// Versions without a server on any registry are judged by their documentation, and the answer says so.
#[test]
fn documented_versions_are_judged_and_named() {
    let scene = Scene::new();
    scene.file(
        "percona.cnf",
        "[mysqld]\nuserstat = ON\nlog_slow_verbosity = full\nthread_handling = pool-of-threads\nextra_port = 3307\n",
    );
    let documented =
        "options of Percona Server 5.7 from its documentation, not read from a server\n";
    let text = scene
        .dbdyno(["config", "lint", "percona.cnf", "--for", "percona-5.7"])
        .exits(0)
        .text();
    let lines: Vec<&str> = text.lines().collect();
    assert!(
        lines[0].starts_with("percona.cnf for percona-5.7: starts, by the catalogues: 0 refused"),
        "{text}"
    );
    assert_eq!(format!("{}\n", lines[1]), documented, "{text}");
    let json = ["--for", "percona-5.7", "--format", "json"];
    let json = scene
        .dbdyno([&["config", "lint", "percona.cnf"][..], &json].concat())
        .exits(0)
        .text();
    let found: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(found["version"], "percona-5.7");
    assert_eq!(found["catalogue"], "percona-5.7");
    assert_eq!(found["catalogue_note"], documented.trim_end());
    // The nearest catalogue refuses nothing that it does not know.
    scene
        .dbdyno(["config", "lint", "percona.cnf", "--for", "percona-5.6"])
        .exits(0)
        .prints("no catalogue for percona-5.6: the nearest one is used, mysql-5.6.24")
        .prints(
            "note     percona.cnf line 2: userstat=ON: unknown to the nearest version that dbdyno knows (mysql-5.6.24)",
        );
    scene
        .dbdyno([
            "config",
            "migrate",
            "percona.cnf",
            "--from",
            "percona-5.7",
            "--to",
            "percona-8.0",
        ])
        .exits(0)
        .prints("percona.cnf from percona-5.7 to percona-8.0: ")
        .prints(documented)
        .prints("options of Percona Server 8.0 from its documentation")
        .prints("extra_port=3307 is left out");
    scene
        .dbdyno(["config", "explain", "percona.cnf", "--for", "percona-5.7"])
        .exits(0)
        .prints(documented);
    scene
        .dbdyno(["config", "explain", "thread_pool_stall_limit"])
        .exits(0)
        .prints("percona:      5.7 to 8.0: 500");
    scene
        .dbdyno([
            "config",
            "generate",
            "--for",
            "mariadb-10.6",
            "--memory",
            "8G",
        ])
        .exits(0)
        .prints("# Note: options of MariaDB 10.6 from its documentation, not read from a server.");
}

/// What a file includes may be on the machine that it is for.
#[test]
fn includes_that_are_elsewhere_are_noted() {
    let scene = Scene::new();
    scene.file(
        "a.cnf",
        "[mysqld]\nmax_connections = 77\n!includedir /no/such/conf.d\n",
    );
    scene.file("b.cnf", "[mysqld]\nmax_connections = 88\n");
    let missing = "a.cnf line 3: not on this machine: /no/such/conf.d";
    let version = ["--for", "mysql-8.0.33"];
    scene
        .dbdyno([&["config", "lint", "a.cnf", "--no-validator"][..], &version].concat())
        .exits(0)
        .prints(
            "a.cnf for mysql-8.0.33: starts only if the directory that line 3 includes exists, by the",
        )
        .prints("note     a.cnf line 3: not read: not on this machine: /no/such/conf.d");
    scene
        .dbdyno([&["config", "explain", "a.cnf"][..], &version].concat())
        .exits(0)
        .says(missing);
    scene
        .dbdyno([&["config", "diff", "a.cnf", "b.cnf"][..], &version].concat())
        .exits(0)
        .says(missing)
        .prints("max_connections: 77 -> 88");
    scene
        .dbdyno([
            "config",
            "migrate",
            "a.cnf",
            "--from",
            "mysql-5.7",
            "--to",
            "mysql-8.0.33",
            "--no-validator",
        ])
        .exits(0)
        .says(missing);
}

#[test]
fn a_move_to_the_other_family_notes_what_no_line_settles() {
    let scene = Scene::new();
    scene.file(
        "node.cnf",
        "[mysqld]\nwsrep_on = ON\ninnodb_flush_log_at_trx_commit = 2\n",
    );
    let migrate = ["config", "migrate", "node.cnf", "--from", "mariadb-10.6"];
    let to = |version| [&migrate[..], &["--to", version, "--no-validator"]].concat();
    let note = "note: surplus digits of fractional seconds: ";
    scene
        .dbdyno(to("mysql-8.0.33"))
        .exits(0)
        .prints(note)
        .prints("to decide: node.cnf line 3: innodb_flush_log_at_trx_commit=2: the other nodes");
    let kept = scene.dbdyno(to("mariadb-11.4")).exits(0).text();
    assert!(!kept.contains(note), "{kept}");
}

/// What is read twice: the second time, a pipe has no options left that would have to be migrated.
#[test]
fn a_pipe_is_not_migrated() {
    let scene = Scene::new();
    let migrate = "config migrate /dev/null --from percona-5.7 --to mysql-8.0.33 --no-validator --output new.cnf";
    scene
        .dbdyno(migrate.split(' '))
        .exits(2)
        .says("/dev/null is a pipe or a device")
        .hints("write the options to a file first");
    assert!(!scene.path().join("new.cnf").exists());
}

#[test]
fn the_secret_of_a_cluster_is_in_no_answer() {
    let scene = Scene::new();
    scene.file(
        "galera.cnf",
        "[mysqld]\nwsrep_on = ON\nwsrep_provider = /usr/lib/galera/libgalera_smm.so\n\
         wsrep_sst_method = mariabackup\nwsrep_sst_auth = sst:swordfish\ninnodb_flush_log_at_trx_commit = 0\n",
    );
    scene.file("plain.cnf", "[mysqld]\n");
    let version = ["--for", "mariadb-10.6"];
    for format in ["text", "json", "sarif", "github"] {
        let lint = ["config", "lint", "galera.cnf", "-v", "--format", format];
        let answer = scene.dbdyno([&lint[..], &version].concat()).exits(0);
        answer.conceals("swordfish");
    }
    for command in [
        &["config", "explain", "galera.cnf", "-v"][..],
        &["config", "diff", "galera.cnf", "plain.cnf", "-v"],
    ] {
        let answer = scene.dbdyno([command, &version].concat()).exits(0);
        answer.conceals("swordfish");
    }
    let migrate = ["config", "migrate", "galera.cnf", "--from", "mariadb-10.6"];
    let answer = scene.dbdyno(
        [
            &migrate[..],
            &["--to", "mariadb-11.4", "-v", "--no-validator"],
        ]
        .concat(),
    );
    answer.conceals("swordfish");
}
