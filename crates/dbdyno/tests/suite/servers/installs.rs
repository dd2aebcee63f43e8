//! `dbdyno server install`, `installed` and `uninstall`, with the machine's own server; and two dbdyno at once.

use std::{fs, path::PathBuf, process::Command};

use crate::scene::Scene;

/// The server binary of this machine.
fn mysqld() -> PathBuf {
    let output = Command::new("sh")
        .args(["-c", "PATH=$PATH:/usr/sbin command -v mariadbd"])
        .output()
        .expect("there is a shell");
    PathBuf::from(String::from_utf8_lossy(&output.stdout).trim())
}

#[test]
fn a_version_is_installed_used_and_removed() {
    let scene = Scene::for_servers();
    let mysqld = mysqld();
    let mysqld = mysqld.to_str().unwrap();
    let install = ["server", "install", "mine", "--from", mysqld];
    scene.dbdyno(install).exits(0).prints("mine: mariadb ");
    scene
        .dbdyno(install)
        .exits(2)
        .hints("server uninstall mine");
    let installed = scene
        .dbdyno(["server", "installed"])
        .exits(0)
        .prints(mysqld);
    assert_eq!(installed.text().lines().count(), 2);
    let all = ["server", "installed", "--all"];
    scene
        .dbdyno(all)
        .exits(0)
        .prints("mysql-8.0.33")
        .prints("not installed");

    let create = ["server", "create", "one", "--run", "mine"];
    scene.dbdyno(create).exits(0).prints("one: running");
    let uninstall = ["server", "uninstall", "mine"];
    scene
        .dbdyno(uninstall)
        .exits(2)
        .says("in use by the server")
        .hints("destroy");
    scene.dbdyno(["server", "destroy", "one"]).exits(0);
    scene.dbdyno(uninstall).exits(0);
    scene.dbdyno(create).exits(2).says("mine");
    scene.nothing_is_left();
}

#[test]
fn what_cannot_be_installed_is_refused_with_a_hint() {
    let scene = Scene::for_servers();
    let unknown = ["server", "install", "oracle-23"];
    scene
        .dbdyno(unknown)
        .exits(2)
        .says("oracle-23")
        .hints("installed --all");
    let text = scene.file("mysql.tar.gz", "<html>");
    let install = [
        "server",
        "install",
        "mine",
        "--from",
        text.to_str().unwrap(),
    ];
    scene
        .dbdyno(install)
        .exits(2)
        .says("mysql.tar.gz")
        .hints(".tar.gz");
    scene
        .dbdyno(["server", "uninstall", "mine"])
        .exits(2)
        .says("mine: not installed");
}

#[test]
fn two_dbdyno_at_once_do_not_disturb_each_other() {
    let scene = Scene::for_servers().with_own_cache();
    for round in 0..2 {
        let names = ["one", "two", "three"];
        let creating = names.map(|name| scene.start(["server", "create", name]));
        for creating in creating {
            creating.finish().exits(0).prints("running, pid");
        }
        assert_eq!(scene.servers().len(), names.len(), "round {round}");
        let destroying = names.map(|name| scene.start(["server", "destroy", name]));
        for destroying in destroying {
            destroying.finish().exits(0);
        }
        scene.nothing_is_left();
    }
    // All of them created or used the same template.
    let templates = scene.path().join(".cache/dbdyno/templates");
    assert_eq!(fs::read_dir(templates).unwrap().count(), 1);
}

#[test]
fn of_two_that_want_one_name_one_has_it() {
    let scene = Scene::for_servers();
    let creating = [0, 1].map(|_| scene.start(["server", "create", "one"]));
    let running = creating.map(|creating| creating.finish().text().contains("one: running"));
    assert_eq!(running.iter().filter(|running| **running).count(), 1);
    assert_eq!(scene.servers().len(), 1);
    scene.dbdyno(["server", "destroy", "one"]).exits(0);
    scene.nothing_is_left();
}
