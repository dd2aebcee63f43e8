//! Waits for private servers, their copies and installers: the first signal ends each wait and its program, and leaves
//! neither incomplete files nor damaged ones.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
};

use rustix::process::{Signal, kill_process};

use crate::{
    results::names_in,
    scene::{Running, Scene, wait_until},
};

/// Number of files, so that copying takes a while.
const FILES: usize = 10_000;

/// Starts dbdyno, which handles SIGHUP also under nohup; the scene's programs are first in PATH.
fn start(scene: &Scene, line: &str) -> Running {
    let mut env = Command::new("env");
    let path = std::env::var("PATH").unwrap_or_default();
    env.arg("--default-signal=HUP")
        .arg(format!("PATH={}/bin:{path}", scene.path().display()))
        .arg(env!("CARGO_BIN_EXE_dbdyno"));
    scene.launch(env, line.split(' '))
}

/// Writes a program into the scene.
fn program(scene: &Scene, name: &str, script: &str) -> PathBuf {
    let bin = scene.path().join("bin");
    fs::create_dir_all(&bin).unwrap();
    let path = bin.join(name);
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// A script that runs an hour in a separate process, whose process id is written to `begun`.
fn hour(scene: &Scene) -> String {
    let begun = scene.path().join("begun");
    let (new, begun) = (begun.with_extension("new"), begun.display());
    format!(
        "sleep 3600 & echo $! > {0}; mv {0} {begun}; wait",
        new.display()
    )
}

/// The process id in `begun`, as soon as it exists.
fn begun(scene: &Scene) -> Option<u32> {
    let text = fs::read_to_string(scene.path().join("begun")).ok()?;
    text.trim().parse().ok()
}

/// Ends a command that waits for such a script, and checks that the script ends, too.
#[track_caller]
fn end_with_program(scene: &Scene, mut running: Running, signal: Signal) {
    running.wait_until("its program runs", || begun(scene).is_some());
    let process = begun(scene).unwrap();
    running.end_by(signal);
    wait_until("the program is gone", || {
        let stat = fs::read_to_string(format!("/proc/{process}/stat"));
        stat.map_or(true, |stat| stat.contains(") Z "))
    });
    fs::remove_file(scene.path().join("begun")).unwrap();
}

/// A server's directory whose data takes a while to copy.
fn filled_server(scene: &Scene) -> PathBuf {
    scene
        .dbdyno([
            "server",
            "create",
            "one",
            "--set",
            "innodb_buffer_pool_size=16M",
        ])
        .exits(0);
    let server = scene.servers_directory().join("one");
    let filler = server.join("data/filler");
    fs::create_dir(&filler).unwrap();
    for number in 0..FILES {
        fs::write(filler.join(number.to_string()), "").unwrap();
    }
    server
}

fn wait_until_it_copies(running: &mut Running, copy: &Path) {
    running.wait_until("it copies", || {
        fs::read_dir(copy.join("filler")).is_ok_and(|mut files| files.nth(50).is_some())
    });
}

#[test]
fn the_first_signal_ends_the_copying_of_data() {
    let scene = Scene::for_servers();
    let server = filled_server(&scene);
    let count = |data: &str| {
        fs::read_dir(server.join(data).join("filler"))
            .unwrap()
            .count()
    };
    let snapshots = server.join("snapshots");

    // A server that was stopped for the copy runs again.
    let mut running = start(&scene, "server snapshot one base");
    wait_until_it_copies(&mut running, &snapshots.join(".base.partial/data"));
    running.end_by(Signal::INT);
    assert!(names_in(&snapshots).is_empty());
    assert_eq!(scene.servers().len(), 1, "it runs again");
    scene.dbdyno(["server", "stop", "one"]).exits(0);

    let mut running = start(&scene, "server snapshot one base");
    wait_until_it_copies(&mut running, &snapshots.join(".base.partial/data"));
    running.end_by(Signal::HUP);
    assert!(names_in(&snapshots).is_empty());
    assert_eq!(count("data"), FILES);

    scene.dbdyno(["server", "snapshot", "one", "base"]).exits(0);
    let mut running = start(&scene, "server restore one base");
    wait_until_it_copies(&mut running, &server.join("data.partial"));
    running
        .end_by(Signal::TERM)
        .hints("dbdyno server restore one base restores the snapshot");
    assert_eq!(count("snapshots/base/data"), FILES);
    scene.dbdyno(["server", "restore", "one", "base"]).exits(0);
    assert_eq!(count("data"), FILES);
    assert!(!server.join("data.partial").exists());
    scene.dbdyno(["server", "destroy", "one"]).exits(0);
    scene.nothing_is_left();
}

#[test]
fn the_first_signal_ends_a_server_that_does_not_come_up() {
    let scene = Scene::for_servers();
    scene
        .dbdyno(["server", "create", "one", "--no-start"])
        .exits(0);
    let marker = scene.servers_directory().join("one/dbdyno-server.json");
    let text = fs::read_to_string(&marker).unwrap();
    let mut fields: serde_json::Value = serde_json::from_str(&text).unwrap();
    let fifo = scene.path().join("fifo");
    assert!(
        Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .unwrap()
            .success()
    );
    // It waits without a child, like a server whose only process is killed.
    let script = format!(
        "echo $$ > {0}.new; mv {0}.new {0}; read line < {1}",
        scene.path().join("begun").display(),
        fifo.display()
    );
    let mysqld = program(&scene, "slow-mysqld", &script);
    fields["mysqld"] = mysqld.to_str().unwrap().into();
    fs::write(&marker, fields.to_string()).unwrap();
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let running = start(&scene, "server start one");
        end_with_program(&scene, running, signal);
    }
    scene.dbdyno(["server", "destroy", "one"]).exits(0);
    scene.nothing_is_left();
}

/// During the query whether the redo log is enabled, and during the wait for the end of the process.
#[test]
fn the_first_signal_ends_the_wait_for_a_server_that_does_not_stop() {
    let scene = Scene::for_servers();
    scene.dbdyno(["server", "create", "one"]).exits(0);
    let server = scene.servers()[0];
    let socket = scene.servers_directory().join("one/run/mysqld.sock");
    let socket = if socket.exists() {
        socket
    } else {
        socket_of(&scene)
    };
    kill_process(server, Signal::STOP).unwrap();
    for (signal, with_socket) in [(Signal::INT, true), (Signal::TERM, false)] {
        if !with_socket {
            // The server cannot be queried then.
            fs::remove_file(&socket).unwrap();
        }
        let running = start(&scene, "server stop one");
        running.wait_until_it_waits();
        running.end_by(signal);
        assert_eq!(scene.servers(), [server], "{signal:?}");
    }
    // It was requested to stop, and does so when it continues.
    kill_process(server, Signal::CONT).unwrap();
    wait_until("the server is gone", || scene.servers().is_empty());
    scene.dbdyno(["server", "destroy", "one"]).exits(0);
    scene.nothing_is_left();
}

/// The socket of the scene's only server, according to its client's option file.
fn socket_of(scene: &Scene) -> PathBuf {
    let file = scene.servers_directory().join("one/client.cnf");
    let text = fs::read_to_string(file).unwrap();
    let socket = text.lines().find_map(|line| line.strip_prefix("socket"));
    let socket = socket.unwrap().trim_start_matches([' ', '=']);
    PathBuf::from(socket.trim().trim_matches('"'))
}

#[test]
fn the_first_signal_ends_an_installation_with_the_program_that_it_runs() {
    let scene = Scene::for_servers();
    let root = scene.path().join(".local/share/dbdyno/installs");
    fs::create_dir_all(&root).unwrap();
    fs::write(root.join("notes.txt"), "theirs").unwrap();
    let notes = names_in(&root);
    for name in ["npm", "mvn", "apt-get", "dpkg-deb"] {
        program(&scene, name, &hour(&scene));
    }
    program(&scene, "apt-config", "exit 0");
    for (name, signal) in [
        ("mysql-5.6", Signal::INT),
        ("mysql-8.0.33", Signal::TERM),
        ("mariadb-10.11", Signal::HUP),
    ] {
        let running = start(&scene, &format!("server install {name}"));
        end_with_program(&scene, running, signal);
        assert_eq!(names_in(&root), notes, "{name}");
    }
    // The fetched package is unpacked by dpkg-deb, which writes nothing.
    let apt = "case \"$*\" in *indextargets*) echo 'Debian|http://mirror.example/debian/';; \
               *--download-only*) : > mariadb-server.deb;; esac";
    program(&scene, "apt-get", apt);
    let running = start(&scene, "server install mariadb-10.11");
    end_with_program(&scene, running, Signal::INT);
    assert_eq!(names_in(&root), notes);
    assert_eq!(fs::read(root.join("notes.txt")).unwrap(), b"theirs");
}

#[test]
fn the_first_signal_ends_the_question_for_a_version() {
    let scene = Scene::for_servers();
    let mysqld = program(&scene, "mysqld", &hour(&scene));
    let mysqld = mysqld.display();
    for (line, signal) in [
        (format!("server create one --mysqld {mysqld}"), Signal::INT),
        // It is first in PATH, too.
        ("server create one --run mysql".to_owned(), Signal::TERM),
    ] {
        let running = start(&scene, &line);
        end_with_program(&scene, running, signal);
        scene.nothing_is_left();
    }
}
