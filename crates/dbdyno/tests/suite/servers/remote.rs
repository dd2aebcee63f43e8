//! A server on another host: rows are sent by the client only, and the server's machine is not observed.
//!
//! On a machine that does not permit network namespaces, these tests report that and pass.

use crate::{
    experiment::{Experiment, SMACK},
    other_host::{PORT, RemoteServer},
    results::Results,
    scene::Scene,
};

#[test]
fn super_smack_loads_over_the_wire() {
    let scene = Scene::for_servers();
    let Some(remote) = RemoteServer::start(&scene) else {
        return;
    };
    assert_ne!(
        remote.rows("select @@secure_file_priv"),
        [[""]],
        "the server reads no other file"
    );
    remote.rows("set global log_output = 'TABLE'");
    remote.rows("set global general_log = 1");
    scene.file("small.smack", &SMACK.replace("1000000", "3000"));
    let address = remote.address();
    let mut sums = Vec::new();
    for local_infile in [1, 0] {
        remote.rows(&format!("set global local_infile = {local_infile}"));
        remote.rows("truncate mysql.general_log");
        let smack = scene
            .dbdyno([
                "super-smack",
                "--host",
                &address,
                "--user",
                "trial",
                "--password-file",
                "password",
                "small.smack",
                "4",
                "0",
            ])
            .exits(0);
        assert_eq!(
            smack.stderr.contains("is loaded with INSERT"),
            local_infile == 0
        );
        // With local_infile off the server has already refused a LOAD DATA LOCAL.
        let loads = "select argument like 'load data local infile%' from mysql.general_log \
                     where argument like 'load data%'";
        assert_eq!(remote.rows(loads), [["1"]]);
        let inserts =
            "select count(*) > 0 from mysql.general_log where argument like 'insert into%'";
        assert_eq!(
            remote.rows(inserts),
            [[if local_infile == 1 { "0" } else { "1" }]]
        );
        assert_eq!(
            remote.rows("select count(*) from test.http_auth"),
            [["3000"]]
        );
        sums.push(remote.rows("checksum table test.http_auth"));
        remote.rows("drop table test.http_auth");
    }
    assert_eq!(sums[0], sums[1], "the same rows either way");
}

#[test]
fn an_experiment_says_what_it_did_not_see() {
    let scene = Scene::for_servers();
    let Some(remote) = RemoteServer::start(&scene) else {
        return;
    };
    let address = remote.address();
    Experiment {
        server: format!(
            "address = \"{address}:{PORT}\"\nuser = \"trial\"\npassword_file = \"password\""
        ),
        ..Experiment::default()
    }
    .write(&scene);
    scene
        .dbdyno(["run", "trial.toml", "--results", "out", "--keep"])
        .exits(0);
    let results = Results::at(scene.path().join("out"));
    let record = results.record(1);
    assert!(record.is_complete() && record.count() > 0);
    assert_eq!(record.one("run")["transport"], "tcp remote");
    let server = record.one("server");
    assert_eq!(server["address"], format!("{address}:{PORT}"));
    assert_eq!(server["private"], false);
    let machine = record.one("machine");
    assert_eq!(machine["host"], "client");
    let not_observed = machine["not_observed"].as_array().unwrap();
    assert!(
        not_observed
            .iter()
            .any(|what| what == "server host not observed"),
        "{machine}"
    );
    assert!(record.all("telemetry").count() > 0);
    for telemetry in record.all("telemetry") {
        assert!(
            telemetry["server"].is_null() && telemetry["disk"].is_null(),
            "{telemetry}"
        );
        assert!(telemetry["client"].is_object(), "{telemetry}");
    }
    let nothing: Vec<Vec<rusqlite::types::Value>> = Vec::new();
    assert_eq!(results.sql("SELECT server_percent FROM cpu"), nothing);
    assert_eq!(
        remote.rows("select count(*) from test.http_auth"),
        [["2000"]]
    );
}
