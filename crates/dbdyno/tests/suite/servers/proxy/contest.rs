//! The tuning contest that MySQL Proxy won: three scripts, and what the query cache says of each.

use std::path::{Path, PathBuf};

use super::{PASSES_AT_MOST, PASSWORD, backend, client, end, proxy, text_of};
use crate::{mariadb::MariaDb, scene::Scene};

/// What a pass of the six queries adds to: hits in the query cache, RESET, FLUSH and BEGIN.
type Counts = [u64; 4];

fn counts(server: &MariaDb) -> Counts {
    ["Qcache_hits", "Com_reset", "Com_flush", "Com_begin"].map(|name| {
        let row = server.rows(&format!("SHOW GLOBAL STATUS LIKE '{name}'"));
        row[0][1].parse().unwrap()
    })
}

fn contest(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../experiments/tuningathon")
        .join(file)
}

/// One pass by a client with autocommit off, as Python's drivers have it; returns what the client saw and what was counted.
fn pass(scene: &Scene, server: &MariaDb, port: u16) -> (Vec<String>, Counts) {
    let queries = std::fs::File::open(contest("queries.sql")).unwrap();
    let before = counts(server);
    let mut client = client(
        scene,
        port,
        &["--comments", "--init-command=SET autocommit = 0", "test"],
    );
    let seen = text_of(client.stdin(queries).output().unwrap());
    let after = counts(server);
    // Rows with the same count come in any order.
    let mut lines: Vec<String> = seen.lines().map(str::to_owned).collect();
    lines.sort();
    (lines, std::array::from_fn(|at| after[at] - before[at]))
}

#[test]
fn each_script_of_the_contest_makes_one_more_query_a_hit() {
    let scene = Scene::for_servers();
    let server = MariaDb::start(
        &scene,
        &[
            ("query_cache_size", "1M"),
            ("query_cache_type", "1"),
            ("character_set_server", "utf8"),
        ],
    );
    let password = scene.file("password", PASSWORD);
    let port = server.port().to_string();
    // A few thousand rows are enough to count hits.
    let prepare = [
        "wiki",
        "prepare",
        "--pages",
        "4000",
        "--until",
        "2026-11-01",
    ];
    let there = [
        "--host",
        "127.0.0.1",
        "--port",
        &port,
        "--user",
        "trial",
        "--database",
        "test",
    ];
    scene
        .dbdyno(
            [
                &prepare[..],
                &there,
                &["--password-file", password.to_str().unwrap()],
            ]
            .concat(),
        )
        .exits(0);

    let (expected, direct) = pass(&scene, &server, server.port());
    assert_eq!(direct, [0, 1, 0, 0]);
    assert!(expected.len() > 100, "{}", expected.len());
    let scripts: [(&str, Counts); 3] = [
        ("q0.lua", [3, 0, 1, 0]),
        ("q0q1.lua", [4, 0, 1, 1]),
        ("q0q1q2.lua", [5, 0, 1, 1]),
    ];
    for (script, counted) in scripts {
        let script = format!("--proxy-lua-script={}", contest(script).display());
        let (running, port) = proxy(&scene, &[backend(&server), script.clone()]);
        // The first pass fills the cache.
        let (first, _) = pass(&scene, &server, port);
        assert_eq!(first, expected, "{script}: other rows");
        let mut found = Counts::default();
        for _ in 0..PASSES_AT_MOST {
            let (rows, counts) = pass(&scene, &server, port);
            assert_eq!(rows, expected, "{script}: other rows");
            found = counts;
            if found == counted {
                break;
            }
        }
        assert_eq!(found, counted, "{script}");
        end(running);
        server.ask("RESET QUERY CACHE", 1);
    }
}
