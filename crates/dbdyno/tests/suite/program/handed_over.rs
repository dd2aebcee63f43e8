//! Files as people have them: with a byte order mark, with lines of Windows, compressed.

use std::{fs, process::Command};

use crate::{
    null_server::{null_server, write_smack},
    scene::{Finished, Scene},
};

/// The same text in other clothes.
fn variants(scene: &Scene, name: &str) -> Vec<String> {
    let text = fs::read(scene.path().join(name)).unwrap();
    let windows = String::from_utf8(text.clone())
        .unwrap()
        .replace('\n', "\r\n");
    let marked = [b"\xef\xbb\xbf", windows.as_bytes()].concat();
    fs::write(scene.path().join(format!("marked-{name}")), marked).unwrap();
    let packed = |name: &str| {
        let packed = Command::new("gzip")
            .args(["--stdout", name])
            .current_dir(scene.path())
            .output();
        packed.unwrap().stdout
    };
    let both = packed(&format!("marked-{name}"));
    fs::write(scene.path().join(format!("packed-{name}")), both).unwrap();
    ["", "marked-", "packed-"]
        .map(|prefix| format!("{prefix}{name}"))
        .to_vec()
}

#[test]
fn a_mark_and_compression_change_nothing() {
    let scene = Scene::new();
    let (_server, socket) = null_server(&scene, &[]);
    let socket_option = format!("--socket={}", socket.display());
    let run = |line: String| -> Finished {
        scene.dbdyno(line.split(' ').chain([socket_option.as_str()]))
    };
    scene.file("ids.csv", "id,name\n1,one\n2,two\n");
    for ids in variants(&scene, "ids.csv") {
        let script = format!("\\list ids from \"{ids}\"\n\\draw ids\nSELECT :id, :name;\n");
        scene.file("list.sql", &script);
        run("script run list.sql --duration 100ms".to_owned()).has_measured();
    }
    for script in variants(&scene, "list.sql") {
        run(format!(
            "script run {script} --duration 100ms --record {script}.jsonl"
        ))
        .has_measured();
        fs::copy(
            scene.path().join(format!("{script}.jsonl")),
            scene.path().join("record.jsonl"),
        )
        .unwrap();
    }
    for record in variants(&scene, "record.jsonl") {
        scene
            .dbdyno(["report", &record, "--format", "json"])
            .exits(0)
            .prints("throughput");
    }
    scene.file("query.sql", "SELECT 1;\nSELECT 2\n");
    for query in variants(&scene, "query.sql") {
        let slap = format!(
            "mysqlslap --no-defaults --create-schema=s --delimiter=; --query={query} --iterations=1"
        );
        run(slap)
            .exits(0)
            .prints("Average number of queries per client: 2");
    }
    write_smack(&scene, &socket, "select c from t");
    for smack in variants(&scene, "one.smack") {
        scene.dbdyno(["super-smack", &smack, "1", "1"]).exits(0);
    }
    scene.file(
        "trial.toml",
        "format = 1\n[load]\nscript = \"list.sql\"\nconnections = 1\nduration = \"1s\"\n",
    );
    for trial in variants(&scene, "trial.toml") {
        scene
            .dbdyno(["run", &trial, "--simulate", "--plan"])
            .exits(0);
    }
}

#[test]
fn what_is_not_read_is_named_with_the_command_that_helps() {
    let scene = Scene::new();
    for (content, says) in [
        (&b"BZh91AY&SY"[..], "bunzip2 --keep unpacks it"),
        (b"\xfd7zXZ\0\0", "unxz --keep unpacks it"),
        (b"PK\x03\x04\x14\0", "unzip unpacks it"),
        (b"\xff\xfeS\0E\0", "iconv -f UTF-16 -t UTF-8 converts it"),
    ] {
        fs::write(scene.path().join("odd.sql"), content).unwrap();
        for line in [
            "script run odd.sql --socket=none.sock",
            "mysqlslap --no-defaults --socket=none.sock --query=odd.sql",
            "run odd.sql",
            "report odd.sql",
            "sql time odd.sql --socket=none.sock",
        ] {
            let refused = scene.dbdyno(line.split(' '));
            refused.exits(2).says(says);
        }
    }
}
