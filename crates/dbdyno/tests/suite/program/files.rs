//! Files: dbdyno removes only files it made, one process at a time writes results, and no password is copied.

use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt,
};

use rustix::process::Signal;

use crate::{
    experiment::{Experiment, SMACK},
    results::Results,
    scene::Scene,
};

#[test]
fn a_directory_of_the_user_stays_as_it_is() {
    let scene = Scene::new();
    Experiment::default().write(&scene);
    fs::create_dir_all(scene.path().join("thesis/files")).unwrap();
    scene.file("thesis/files/chapter.txt", "mine");
    for args in [
        [
            "run",
            "trial.toml",
            "--results",
            "thesis",
            "--mysqld",
            "/none",
        ],
        [
            "run",
            "trial.toml",
            "--results",
            "thesis",
            "--simulate",
            "--keep",
        ],
        [
            "quick",
            "--results",
            "thesis",
            "--keep",
            "--mysqld",
            "/none",
        ],
    ] {
        scene.dbdyno(args).exits(2);
        let entries = fs::read_dir(scene.path().join("thesis")).unwrap();
        assert_eq!(entries.count(), 1, "{args:?}");
        let text = fs::read_to_string(scene.path().join("thesis/files/chapter.txt"));
        assert_eq!(text.unwrap(), "mine", "{args:?}");
    }
}

#[test]
fn a_refused_run_leaves_nothing() {
    let scene = Scene::new();
    Experiment::default().write(&scene);
    for args in [
        ["quick", "--mysqld", "/none", "--keep"],
        ["quick", "--host", "127.0.0.1", "--port=1"],
        ["run", "trial.toml", "--mysqld", "/none"],
    ] {
        assert_ne!(scene.dbdyno(args).status.code(), Some(0), "{args:?}");
        assert!(!scene.path().join("results").exists(), "{args:?}");
    }
}

#[test]
fn live_results_are_not_resumed_and_passwords_are_not_copied() {
    let scene = Scene::new();
    // It lasts until it is interrupted.
    Experiment {
        load: "connections = 2\nwarmup = \"200ms\"\nduration = \"10m\"".to_owned(),
        ..Experiment::default()
    }
    .write(&scene);
    let secret = "Mountain-hare-7";
    let smack = SMACK.replacen("client \"", "// pass \"Mountain-hare-7\";\nclient \"", 1);
    assert!(smack.contains(secret));
    scene.file("hp-sizing.smack", &smack);
    let args = ["run", "trial.toml", "--simulate", "--results", "results/x"];
    let mut running = scene.start(args);
    let results = Results::at(scene.path().join("results/x"));
    running.wait_until("it measures", || results.measured_so_far(1) > 0);
    scene
        .dbdyno([&args[..], &["--resume"]].concat())
        .exits(2)
        .says("is writing results there");
    running.signal(Signal::INT);
    running.finish().exits(130);
    assert!(results.names().contains("dbdyno-results.json"));
    assert!(!results.names().contains("dbdyno-results.lock"));
    let mut left = vec![scene.path().join("results")];
    while let Some(path) = left.pop() {
        if path.is_dir() {
            left.extend(fs::read_dir(&path).unwrap().map(|it| it.unwrap().path()));
        } else {
            let content = fs::read(&path).unwrap();
            let text = String::from_utf8_lossy(&content);
            assert!(!text.contains(secret), "{}", path.display());
        }
    }
}

/// A wrong name under `sudo` must not show `/etc/shadow`.
#[test]
fn a_private_file_of_another_kind_is_not_quoted() {
    let scene = Scene::new();
    let own = scene.file("own", "root:$6$mimsy:19000:0:99999:7:::\n:mimsy\n");
    // What each would quote of a public file.
    let cases: [(&[&str], bool); 10] = [
        (&["run", "own"], true),
        (&["super-smack", "own", "1", "1"], true),
        (&["proxy", "--rewrite", "own"], true),
        (&["script", "run", "own", "--socket", "/none"], true),
        (&["sql", "time", "own", "--socket", "/none"], false),
        (&["sql", "explain", "own", "--socket", "/none"], false),
        (&["mysqlslap", "--query=own", "--socket=/none"], false),
        (&["config", "lint", "own"], false),
        (&["report", "own"], false),
        (&["import", "fio", "own"], false),
    ];
    for (mode, is_private) in [(0o600, true), (0o644, false)] {
        fs::set_permissions(&own, Permissions::from_mode(mode)).unwrap();
        for (words, quotes) in cases {
            if is_private {
                scene.dbdyno(words).exits(2).conceals("mimsy");
            } else if quotes {
                scene.dbdyno(words).exits(2).says("mimsy");
            }
        }
    }
}
