//! `dbdyno tpcc run` under deadlocks, lock waits, killed sessions and a restart of its server: what may be retried is,
//! what may have been committed is not, and the database stays consistent.

use crate::scene::{Running, Scene};

fn scene() -> Scene {
    let scene = Scene::new();
    let settings = [
        "innodb_buffer_pool_size=256M",
        "innodb_flush_log_at_trx_commit=2",
        "innodb_lock_wait_timeout=1",
    ];
    let create = ["server", "create", "one"].into_iter();
    let set = settings.into_iter().flat_map(|setting| ["--set", setting]);
    scene.dbdyno(create.chain(set)).exits(0);
    let load = ["tpcc", "load", "--warehouses", "1", "--server", "one"];
    scene.dbdyno(load).exits(0);
    scene
}

fn sql(scene: &Scene, sql: &str) -> String {
    let client = [
        "server", "client", "one", "--", "tpcc", "--batch", "-N", "--force", "-e", sql,
    ];
    scene.dbdyno(client).text()
}

/// Starts a run and waits until its terminals work.
fn start(scene: &Scene, record: &str, more: &[&str]) -> Running {
    let run = [
        "tpcc", "run", "--server", "one", "-c", "8", "--warmup", "1s", "--record", record,
    ];
    let orders = || sql(scene, "select sum(d_next_o_id) from district");
    let before = orders();
    let mut running = scene.start([&run, more].concat());
    running.wait_until("terminals order", || orders() != before);
    running
}

/// Sums of a record's errors with these numbers: how many, put right by a retry, with an unknown outcome.
fn errors(scene: &Scene, record: &str, numbers: &[u64]) -> (u64, u64, u64) {
    let text = std::fs::read_to_string(scene.path().join(record)).unwrap();
    let lines = text
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .filter(|line| line["line"] == "error")
        .filter(|line| numbers.contains(&line["number"].as_u64().unwrap()));
    lines.fold((0, 0, 0), |(count, retried, unknown), line| {
        let figure = |name: &str| line[name].as_u64().unwrap_or(0);
        (
            count + figure("count"),
            retried + figure("retried"),
            unknown + figure("outcome_unknown"),
        )
    })
}

#[test]
fn terminals_survive_what_a_server_does_to_them() {
    let scene = scene();
    deadlocks_and_lock_waits(&scene);
    killed_sessions(&scene);
    restart(&scene);
    wrong_statement(&scene);
    scene.dbdyno(["server", "destroy", "one"]).exits(0);
}

/// Another session locks customers first and the warehouse then, as no transaction of TPC-C does.
fn deadlocks_and_lock_waits(scene: &Scene) {
    let running = start(scene, "locks.jsonl", &["--duration", "7s"]);
    let against_the_order = "set innodb_lock_wait_timeout = 20; begin; \
        update customer set c_phone = c_phone where c_w_id = 1 and c_id < 2000; do sleep(0.3); \
        update warehouse set w_zip = w_zip; rollback; ";
    sql(scene, &against_the_order.repeat(3));
    sql(
        scene,
        "begin; select count(*) from warehouse for update; do sleep(3); rollback",
    );
    running
        .finish()
        .exits(0)
        .prints("error 1213 (40001)")
        .prints("error 1205 (HY000)")
        .prints("every condition that held before the run holds after it");
    for number in [1213, 1205] {
        let (count, retried, unknown) = errors(scene, "locks.jsonl", &[number]);
        assert!(count > 0 && retried == count && unknown == 0, "{number}");
    }
}

fn killed_sessions(scene: &Scene) {
    for round_trips in ["statements", "stored"] {
        let record = format!("killed-{round_trips}.jsonl");
        let more = ["--duration", "3s", "--round-trips", round_trips];
        let running = start(scene, &record, &more);
        let victims = "select group_concat(concat('kill connection ', id) separator ';') \
                       from information_schema.processlist where db = 'tpcc' and id <> connection_id()";
        for _ in 0..3 {
            sql(scene, sql(scene, victims).trim());
        }
        running
            .finish()
            .exits(0)
            .prints("every condition that held before the run holds after it");
        // Found by the client, or told by the server: killed.
        let (count, retried, unknown) = errors(scene, &record, &[0, 1927, 1053]);
        assert!(count > 0, "{round_trips}");
        assert_eq!(retried + unknown, count, "{round_trips}");
    }
}

fn restart(scene: &Scene) {
    let running = start(scene, "restart.jsonl", &["--duration", "10s"]);
    scene.dbdyno(["server", "restart", "one"]).exits(0);
    running
        .finish()
        .exits(0)
        .prints("every condition that held before the run holds after it");
    let (count, retried, unknown) = errors(scene, "restart.jsonl", &[0, 1927, 1053]);
    assert!(count > 0);
    assert_eq!(retried + unknown, count);
}

/// Anything else ends the run with the statement's message.
fn wrong_statement(scene: &Scene) {
    let running = start(scene, "wrong.jsonl", &["--duration", "60s", "--no-check"]);
    sql(scene, "alter table history drop column h_data");
    running
        .finish()
        .exits(3)
        .says("Payment: error 1054")
        .says("h_data");
}
