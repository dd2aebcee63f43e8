//! Files that a user names: a FIFO, a device or a huge file is refused at once, with its name.

use std::{fs::File, path::Path, process::Command};

use crate::scene::{Finished, Scene};

/// An option that names a file.
struct Named {
    what: &'static str,
    /// The size limit in the refusal.
    limit: Option<&'static str>,
    run: fn(&Scene, &str) -> Finished,
}

/// Certificates and public keys are read when a server asks for them: unit tests of `protocol` cover those.
const NAMED: [Named; 10] = [
    Named {
        what: "an experiment",
        limit: Some("16.0 MiB"),
        run: |scene, path| scene.dbdyno(["run", path]),
    },
    Named {
        what: "a .smack file of super-smack",
        limit: Some("16.0 MiB"),
        run: |scene, path| scene.dbdyno(["super-smack", path, "1", "1"]),
    },
    Named {
        what: "a .smack file of an experiment",
        limit: Some("1.00 GiB"),
        run: |scene, path| {
            let text = format!(
                "format = 1\n[server]\n[load]\nsmack = \"{path}\"\nconnections = 1\nduration = \"2s\"\n"
            );
            scene.file("trial.toml", &text);
            scene.dbdyno(["run", "trial.toml"])
        },
    },
    Named {
        what: "an option file of a client",
        limit: Some("16.0 MiB"),
        run: |scene, path| scene.dbdyno(["tables", &format!("--defaults-file={path}")]),
    },
    Named {
        what: "an option file of mysqlslap",
        limit: Some("16.0 MiB"),
        run: |scene, path| {
            let file = format!("--defaults-file={path}");
            scene.dbdyno(["mysqlslap", &file, "--query=select 1"])
        },
    },
    Named {
        what: "an option file of a server",
        limit: Some("16.0 MiB"),
        run: |scene, path| scene.dbdyno(["server", "create", "demo", "--cnf", path]),
    },
    Named {
        what: "a password",
        limit: Some("64.0 KiB"),
        run: |scene, path| scene.dbdyno(["tables", "--port=1", "--password-file", path]),
    },
    Named {
        what: "a record",
        limit: Some("64 MiB"),
        run: |scene, path| scene.dbdyno(["report", path]),
    },
    Named {
        what: "a record that is watched",
        limit: None,
        run: |scene, path| scene.dbdyno(["top", "--plain", path]),
    },
    Named {
        what: "an archive of a server",
        limit: None,
        run: |scene, path| scene.dbdyno(["server", "install", "mysql-9.7", "--from", path]),
    },
];

fn refused(named: &Named, path: &Path, why: &str) {
    let scene = Scene::for_servers();
    let path = path.to_str().expect("it is text");
    let finished = (named.run)(&scene, path);
    let code = finished.code();
    assert_eq!(code, Some(2), "{}: {}", named.what, finished.shown());
    finished.says(path).says(why);
}

#[test]
fn a_fifo_or_a_device_is_never_opened() {
    let scene = Scene::for_servers();
    let fifo = scene.path().join("fifo");
    let made = Command::new("mkfifo").arg(&fifo).status().unwrap();
    assert!(made.success());
    for named in &NAMED {
        for path in [fifo.as_path(), Path::new("/dev/zero")] {
            refused(named, path, "not a");
        }
    }
}

#[test]
fn a_huge_file_is_not_read_to_its_end() {
    let scene = Scene::for_servers();
    // A sparse file, which needs no disk space.
    let huge = scene.path().join("huge");
    File::create(&huge).unwrap().set_len(1 << 40).unwrap();
    for named in &NAMED {
        if let Some(limit) = named.limit {
            refused(named, &huge, &format!("longer than {limit}"));
        }
    }
}

#[test]
fn results_of_somebody_else_hold_no_fifo() {
    for (name, command) in [
        ("origin.json", "rerun"),
        ("experiment.toml", "audit"),
        ("experiment.json", "report"),
    ] {
        let scene = Scene::for_servers();
        let results = scene.path().join("theirs");
        std::fs::create_dir(&results).unwrap();
        for other in ["origin.json", "experiment.toml", "experiment.json"] {
            let path = results.join(other);
            if other == name {
                let made = Command::new("mkfifo").arg(&path).status().unwrap();
                assert!(made.success());
            } else {
                std::fs::write(&path, "{}").unwrap();
            }
        }
        let finished = scene.dbdyno([command, "theirs"]);
        assert_eq!(finished.code(), Some(2), "{command}: {}", finished.shown());
    }
}

#[test]
fn a_script_from_standard_input_has_the_same_limit() {
    let scene = Scene::for_servers();
    let mut command = Command::new("bash");
    let dbdyno = env!("CARGO_BIN_EXE_dbdyno");
    command.arg("-c");
    let line = format!("{dbdyno} super-smack < /dev/zero");
    let finished = scene.launch(command, [line]).finish();
    finished
        .exits(2)
        .says("standard input: longer than 16.0 MiB");
}

#[test]
fn a_pipe_of_the_shell_is_a_file() {
    let scene = Scene::for_servers();
    let mut command = Command::new("bash");
    let dbdyno = env!("CARGO_BIN_EXE_dbdyno");
    command.arg("-c");
    let line = format!("{dbdyno} run <(printf 'format = 1\\nnonsense = 1\\n')");
    let finished = scene.launch(command, [line]).finish();
    finished.exits(2).says("nonsense");
}
