//! `dbdyno tpcc run` under deadlocks, lock waits, killed sessions and a server restart: it retries only transactions
//! that cannot have been committed, and the database stays consistent.

use std::cell::Cell;

use rustix::process::Signal;

use crate::{
    private_server,
    results::Record,
    scene::{Finished, Running, Scene, wait_until},
};

/// Errors of a session that is gone: detected by the client, or reported by the server.
const GONE: [u64; 3] = [0, 1927, 1053];

/// Rows of a statement, none if it fails. Its session is in no database, by which those of a run are known.
fn sql(scene: &Scene, sql: &str) -> String {
    private_server::text(scene, "one", None, sql).unwrap_or_default()
}

/// Standard error of a session beside the terminals.
fn other_session(scene: &Scene, sql: &str) -> String {
    let client = [
        "server", "client", "one", "--", "tpcc", "--force", "-e", sql,
    ];
    scene.dbdyno(client).stderr
}

fn wait_for_orders(scene: &Scene, running: &mut Running) {
    let orders = || sql(scene, "select sum(d_next_o_id) from tpcc.district");
    let before = orders();
    let is_more = || {
        let now = orders();
        !now.is_empty() && now != before
    };
    running.wait_until("terminals order", is_more);
}

/// Number of sessions of the run, its observer's among them.
fn sessions(scene: &Scene) -> Option<u32> {
    let count = "select count(*) from information_schema.processlist \
                 where db = 'tpcc' and command <> 'Killed'";
    sql(scene, count).trim().parse().ok()
}

/// A run whose terminals work.
struct Disturbed {
    running: Running,
    /// Its sessions before it is disturbed.
    sessions: Option<u32>,
}

/// Starts a run that lasts until it is interrupted, and waits until its terminals work.
fn start(scene: &Scene, record: &str, more: &[&str]) -> Disturbed {
    let run = [
        "tpcc",
        "run",
        "--server",
        "one",
        "-c",
        "4",
        "--warmup",
        "0s",
        "--duration",
        "10m",
        "--no-check",
        "--record",
        record,
    ];
    let mut running = scene.start([&run, more].concat());
    // The fewest of three looks: a session that a run opens for a moment, at its beginning, does not come back.
    let looks = (0..3).map(|_| {
        wait_for_orders(scene, &mut running);
        sessions(scene)
    });
    let sessions = looks.flatten().min();
    Disturbed { running, sessions }
}

/// Interrupts a run whose terminals work again, and checks its results. A terminal that is not connected again has nothing
/// in flight, and its operation would end with the run unseen.
fn finish(scene: &Scene, disturbed: Disturbed) -> Finished {
    let mut running = disturbed.running;
    running.wait_until("all sessions are back", || {
        sessions(scene) >= disturbed.sessions
    });
    wait_for_orders(scene, &mut running);
    running.signal(Signal::INT);
    running.finish().exits(130)
}

fn read(scene: &Scene, record: &str) -> Record {
    Record::parse(&std::fs::read_to_string(scene.path().join(record)).unwrap())
}

/// Totals of a record's errors with these numbers: all, recovered by a retry, with an unknown outcome.
fn errors(scene: &Scene, record: &str, numbers: &[u64]) -> (u64, u64, u64) {
    let record = read(scene, record);
    let errors = record
        .all("error")
        .filter(|line| numbers.contains(&line["number"].as_u64().unwrap()));
    errors.fold((0, 0, 0), |(count, retried, unknown), line| {
        let figure = |name: &str| line[name].as_u64().unwrap_or(0);
        (
            count + figure("count"),
            retried + figure("retried"),
            unknown + figure("outcome_unknown"),
        )
    })
}

/// Operations of a record that its end kept from being retried until they succeeded: most of them end after the stop, in
/// an interval that carries them from the measurement.
fn cut_short(scene: &Scene, record: &str) -> u64 {
    let record = read(scene, record);
    let carried = record
        .all("interval")
        .filter_map(|line| line["carried"].as_array())
        .flatten();
    let operations = record
        .all("interval")
        .chain(carried)
        .filter_map(|part| part["operations"].as_array());
    let failed = operations
        .flatten()
        .filter_map(|of_type| of_type["errors"].as_u64());
    let unknown = record
        .all("error")
        .filter_map(|line| line["outcome_unknown"].as_u64());
    let in_flight = record
        .all("offered")
        .filter_map(|line| line["in_flight"].as_u64());
    let put_off = failed.sum::<u64>();
    in_flight.sum::<u64>() + put_off.saturating_sub(unknown.sum())
}

/// Each failed attempt was followed by a successful one, or its operation's outcome is unknown. What the end of the run
/// cut short had failed three times at most.
fn all_are_put_right(scene: &Scene, record: &str, numbers: &[u64]) {
    let (count, retried, unknown) = errors(scene, record, numbers);
    assert!(count > 0, "{record}");
    let open = count - retried - unknown;
    assert!(open <= 3 * cut_short(scene, record), "{record}: {open}");
}

/// Disturbs runs on the warehouse of the scene's server `one`, and leaves it consistent.
pub(super) fn terminals_survive_what_a_server_does_to_them(scene: &Scene) {
    sql(scene, "set global innodb_lock_wait_timeout = 1");
    deadlocks_and_lock_waits(scene);
    killed_sessions(scene);
    restart(scene);
    // Whichever of them left something inconsistent: nothing mends it.
    let check = ["tpcc", "check", "--server", "one"];
    scene.dbdyno(check).exits(0);
}

/// Another session locks customers first and the warehouse second, as no transaction of TPC-C does, until terminals met a
/// deadlock with it and had to wait for it too long.
fn deadlocks_and_lock_waits(scene: &Scene) {
    let mut disturbed = start(scene, "locks.jsonl", &[]);
    let met = |name: &str, statements: &str| {
        let count =
            format!("select count from information_schema.innodb_metrics where name = '{name}'");
        let count = || sql(scene, &count).trim().parse::<u64>().unwrap_or(0);
        let before = count();
        // A failure of the other session is none of a terminal.
        let own = Cell::new(0);
        wait_until(name, || {
            let said = other_session(scene, statements);
            let is_own = ["ERROR 1213", "ERROR 1205"]
                .iter()
                .any(|it| said.contains(it));
            own.set(own.get() + u64::from(is_own));
            count() > before + own.get()
        });
    };
    met(
        "lock_deadlocks",
        "set innodb_lock_wait_timeout = 20; begin; \
         update customer set c_phone = c_phone where c_w_id = 1 and c_id < 2000; do sleep(0.3); \
         update warehouse set w_zip = w_zip; rollback",
    );
    met(
        "lock_timeouts",
        "begin; select count(*) from warehouse for update; do sleep(1.5); rollback",
    );
    wait_for_orders(scene, &mut disturbed.running);
    finish(scene, disturbed)
        .prints("1213 (40001) x ")
        .prints("1205 (HY000) x ");
    for number in [1213, 1205] {
        let (_, _, unknown) = errors(scene, "locks.jsonl", &[number]);
        assert_eq!(unknown, 0, "{number}");
        all_are_put_right(scene, "locks.jsonl", &[number]);
    }
}

fn killed_sessions(scene: &Scene) {
    for round_trips in ["statements", "stored"] {
        let record = format!("killed-{round_trips}.jsonl");
        let mut disturbed = start(scene, &record, &["--round-trips", round_trips]);
        let victims = "select concat('kill connection ', id) from information_schema.processlist \
                       where db = 'tpcc'";
        for _ in 0..3 {
            for kill in sql(scene, victims).lines() {
                sql(scene, kill);
            }
            wait_for_orders(scene, &mut disturbed.running);
        }
        finish(scene, disturbed);
        all_are_put_right(scene, &record, &GONE);
    }
}

fn restart(scene: &Scene) {
    let running = start(scene, "restart.jsonl", &[]);
    scene.dbdyno(["server", "restart", "one"]).exits(0);
    finish(scene, running);
    all_are_put_right(scene, "restart.jsonl", &GONE);
}

/// Any other error ends the run with the statement's message.
pub(super) fn wrong_statement(scene: &Scene) {
    let Disturbed { running, .. } = start(scene, "wrong.jsonl", &[]);
    sql(scene, "alter table tpcc.history drop column h_data");
    running
        .finish()
        .exits(3)
        .says("Payment: error 1054")
        .says("h_data");
}
