//! Passwords: in no process list, no log, no output and no result.

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use crate::{
    experiment::Experiment,
    mariadb::{MariaDb, PASSWORD},
    scene::Scene,
};

/// The passwords that a private server's client.cnf holds.
fn passwords_of(server: &Path) -> Vec<String> {
    let text = fs::read_to_string(server.join("client.cnf")).unwrap();
    let values = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix("password"));
    values
        .map(|value| {
            value
                .trim_start_matches([' ', '='])
                .trim_matches(['"', '\''])
                .to_owned()
        })
        .collect()
}

/// The command lines of all processes, and their environments where we may read them.
fn process_list() -> String {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    // Our own environment is not dbdyno's doing.
    let others =
        processes.filter(|process| *process.file_name() != *std::process::id().to_string());
    let texts = others.flat_map(|process| {
        ["cmdline", "environ"].map(|file| fs::read(process.path().join(file)).unwrap_or_default())
    });
    texts
        .map(|text| String::from_utf8_lossy(&text).into_owned())
        .collect()
}

/// Every file below a directory that holds a text; nobody but its owner may read it.
fn files_with(directory: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap().flatten() {
        let path = entry.path();
        let is = entry.file_type().unwrap();
        if is.is_dir() {
            found.extend(files_with(&path, text));
        } else if is.is_file() {
            let bytes = fs::read(&path).unwrap();
            if bytes
                .windows(text.len())
                .any(|part| part == text.as_bytes())
            {
                let mode = entry.metadata().unwrap().permissions().mode();
                assert_eq!(mode & 0o077, 0, "others can read {}", path.display());
                found.push(path.file_name().unwrap().to_string_lossy().into_owned());
            }
        }
    }
    found
}

#[test]
fn those_of_a_private_server() {
    let scene = Scene::new();
    let created = scene.dbdyno(["server", "create", "demo"]).exits(0);
    let directory = scene.servers_directory().join("demo");
    let passwords = passwords_of(&directory);
    assert_eq!(passwords.len(), 2, "those of bench and root");
    let mut client = scene.start([
        "server",
        "client",
        "demo",
        "--",
        "-e",
        "select sleep(1), 'here it is'",
    ]);
    client.wait_until("its client asks", || {
        process_list().contains("'here it is'")
    });
    let list = process_list();
    client.finish().exits(0);
    let shown = [
        created,
        scene.dbdyno(["server", "status", "demo"]).exits(0),
        scene.dbdyno(["server", "list"]).exits(0),
        scene.dbdyno(["server", "log", "demo"]).exits(0),
    ];
    for password in &passwords {
        assert!(password.len() >= 12, "no password is short");
        assert!(!list.contains(password.as_str()), "the process list has it");
        let mut files = files_with(scene.path(), password);
        files.sort();
        // The template of its data directory knows the accounts that are in it.
        assert_eq!(files, ["client.cnf", "dbdyno-template.json"]);
        for output in &shown {
            output.conceals(password);
        }
    }
    scene.dbdyno(["server", "destroy", "demo"]).exits(0);
    scene.nothing_is_left();
}

#[test]
fn the_one_of_a_server_that_is_there() {
    let scene = Scene::new();
    let mariadb = MariaDb::start(&scene, &[]);
    Experiment {
        server: mariadb.as_experiment(),
        load: "connections = 2\nwarmup = \"500ms\"\nduration = \"1s\"".to_owned(),
        ..Experiment::default()
    }
    .write(&scene);
    let mut running = scene.start(["run", "trial.toml", "--results", "out"]);
    let record = scene.path().join("out/run-0001.jsonl");
    running.wait_until("it runs", || record.exists());
    let list = process_list();
    running.finish().exits(0).conceals(PASSWORD);
    assert!(list.contains("trial.toml") && !list.contains(PASSWORD));
    assert_eq!(files_with(&scene.path().join("out"), PASSWORD), [""; 0]);
}
