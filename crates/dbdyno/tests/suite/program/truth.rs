//! Test of a record's accuracy against the schedule of the run and the null server's own log.

use std::{fs, path::Path};

use figures::RunFigures;
use rustix::process::Signal;
use samples::{Record, ServerStatus};

use crate::{
    null_server::{null_server, write_smack},
    results::record_name,
    scene::{Finished, Scene},
};

/// Duration of the warm-up, seconds. The log contains the run's statements only: control queries are not logged.
const WARM_UP_S: f64 = 0.5;

/// Runs one statement on a null server with these options; returns the record and the server's log.
fn run(scene: &Scene, options: &[&str], load: &str) -> (Finished, Record, Vec<Logged>) {
    let log = scene.path().join("statements.log");
    let arguments = [&["--log", log.to_str().unwrap()], options].concat();
    let (server, socket) = null_server(scene, &arguments);
    write_smack(scene, &socket, "select c from t where id = 1");
    let text = format!(
        "format = 1\n[server]\naddress = {:?}\nuser = \"u\"\n[load]\nsmack = \"one.smack\"\n\
         warmup = \"500ms\"\n{load}\n[disturbed]\nrepeats = \"0 %\"\n",
        socket.to_str().unwrap()
    );
    scene.file("trial.toml", &text);
    let results = scene.path().join("out");
    // Files of an earlier attempt.
    let _ = fs::remove_dir_all(&results);
    let finished = scene.dbdyno(["run", "trial.toml", "--results", "out"]);
    server.signal(Signal::TERM);
    server.finish().exits(0);
    let record = Record::open(&results.join(record_name(1))).unwrap();
    (finished, record, Logged::read(&log))
}

/// One statement in the server's log; times in monotonic nanoseconds.
#[derive(Debug, Clone, Copy)]
struct Logged {
    received: u64,
    answered: u64,
}

impl Logged {
    /// The log in the order of arrival.
    fn read(path: &Path) -> Vec<Self> {
        let text = fs::read_to_string(path).unwrap();
        let entry = |line: &str| {
            let words: Vec<&str> = line.split(' ').collect();
            let [received, answered] = [1, 2].map(|at| words[at].parse().unwrap());
            Self { received, answered }
        };
        let mut all: Vec<Self> = text.lines().skip(1).map(entry).collect();
        all.sort_unstable_by_key(|entry| entry.received);
        all
    }
}

/// Response times in nanoseconds by schedule and log: the k-th request that arrives is the k-th that was due, because
/// one event loop sends them in order.
fn true_response_times(log: &[Logged], rate_per_s: f64, measured_s: f64) -> Vec<u64> {
    let gap_ns = 1e9 / rate_per_s;
    let due = |k: usize| (k as f64 * gap_ns) as u64;
    // The request with the smallest delay arrived at once.
    let came = log.iter().enumerate();
    let start = came
        .map(|(k, entry)| entry.received - due(k))
        .min()
        .unwrap();
    let measured =
        (WARM_UP_S * rate_per_s) as usize..((WARM_UP_S + measured_s) * rate_per_s) as usize;
    let mut times: Vec<u64> = measured
        .filter_map(|k| Some(log.get(k)?.answered.saturating_sub(start + due(k))))
        .collect();
    times.sort_unstable();
    times
}

fn quantile_ms(sorted: &[u64], quantile: f64) -> f64 {
    sorted[(quantile * (sorted.len() - 1) as f64).round() as usize] as f64 / 1e6
}

/// Requests that were due in the measurement and had not been sent when the load gave up.
fn not_started(record: &Record) -> usize {
    record.offered.as_ref().unwrap().not_started as usize
}

/// The 95th and the 99th percentile of a run in which the server froze for half a second, ms: as recorded, and by the log.
fn of_a_freeze(scene: &Scene) -> [(f64, f64); 2] {
    let (_, record, log) = run(
        scene,
        &["--freeze-at", "2500ms", "--freeze-for", "500ms"],
        "connections = 8\nloops = 1\nduration = \"6s\"\nrate = 1000\narrivals = \"constant\"",
    );
    let response = RunFigures::of(&record).response.unwrap();
    let said_ms = |quantile| response.percentile(quantile).unwrap().ns as f64 / 1e6;
    let truth = true_response_times(&log, 1000.0, 6.0);
    // A machine that stops for long may leave some at the end, which the record counts.
    let due = truth.len() + not_started(&record);
    assert!((5_990..=6_000).contains(&due), "{due}");
    // The exact value for a freeze of S in a run of T is S - (1 - q) T.
    assert!(quantile_ms(&truth, 0.95) > 190.0 && quantile_ms(&truth, 0.99) > 430.0);
    [0.95, 0.99].map(|quantile| (said_ms(quantile), quantile_ms(&truth, quantile)))
}

/// A client without enough CPU time sees answers late and reports them as late, although the server sent them in time:
/// never earlier.
#[test]
fn no_percentile_of_a_run_in_which_the_server_froze_is_too_small() {
    for (said, is) in of_a_freeze(&Scene::new()) {
        assert!(said >= 0.95 * is, "{said} ms, in truth {is}");
    }
}

#[test]
#[ignore = "a long round: make test-all"]
fn percentiles_of_a_run_in_which_the_server_froze() {
    // The comparison is repeated where the client had not enough CPU time.
    const ATTEMPTS: usize = 4;
    let scene = Scene::new();
    let is_close = |(said, is): &(f64, f64)| (said / is - 1.0).abs() <= 0.05;
    let off: Vec<_> = (0..ATTEMPTS)
        .map(|_| of_a_freeze(&scene))
        .take_while(|pairs| !pairs.iter().all(is_close))
        .collect();
    assert!(
        off.len() < ATTEMPTS,
        "p95 and p99 in ms, as recorded and in truth: {off:?}"
    );
}

#[test]
fn the_rate_that_was_asked_for_is_the_rate_that_came() {
    let scene = Scene::new();
    let (_, record, log) = run(
        &scene,
        &["--delay", "100us"],
        "connections = 4\nduration = \"2s\"\nrate = 1000\narrivals = \"constant\"",
    );
    // All due requests were sent, late or not: none is skipped, none is repeated. A machine that stops for long may leave
    // some at the end, which the record counts.
    let due = (1_000.0 * (WARM_UP_S + 2.0)) as usize;
    let left = not_started(&record);
    assert!(
        (log.len() + left).abs_diff(due) <= 1,
        "{} statements, {left} not started, {due} were due",
        log.len()
    );
    let lag = record.totals().send_lag.count;
    assert!(lag > 0, "the record has no send lag");
    let ceiling = record.ceiling.unwrap();
    assert_eq!(
        (ceiling.share, ceiling.note.as_str()),
        (None, "not calibrated")
    );
}

/// 2.5 page reads each, of at most 1,000 per second: a closed loop completes at most 400 statements per second.
#[test]
fn a_read_limit_is_never_exceeded_and_all_reads_are_counted() {
    let scene = Scene::new();
    let (finished, record, log) = run(
        &scene,
        &["--reads-per-statement", "2.5", "--read-iops", "1000"],
        "connections = 8\nduration = \"2s\"",
    );
    finished.exits(0);
    let begin = log[0].received;
    let mut answered: Vec<u64> = log.iter().map(|entry| entry.answered - begin).collect();
    answered.sort_unstable();
    for (at, answered_ns) in answered.iter().enumerate() {
        // The disk needs this time for the reads of as many statements, on any machine.
        let reads = (at as u64 + 1) * 5 / 2;
        let least_ns = reads * 1_000_000;
        assert!(
            *answered_ns + 1 >= least_ns,
            "statement {at}: {answered_ns}"
        );
    }
    // Each reading has the reads of its statements, but for one half.
    let grown =
        |status: &ServerStatus, name: &str| status.counters.get(name).copied().unwrap_or(0.0);
    let mut counted = 0.0;
    for status in &record.server_status {
        let reads = grown(status, "Innodb_data_reads");
        let statements = grown(status, "Questions");
        assert!((reads - 2.5 * statements).abs() < 1.0, "{status:?}");
        counted += reads;
    }
    assert!(counted > 0.0, "{:?}", record.server_status);
}

#[test]
fn thousands_of_connections() {
    // The full target of 10,000 on a dedicated machine.
    let full = std::env::var_os("DBDYNO_SCALE").is_some_and(|value| value == "1");
    let connections = if full { 10_000 } else { 2_000 };
    let scene = Scene::new();
    // All of them wait for an answer most of the time, which takes the machine little.
    let (finished, record, log) = run(
        &scene,
        &["--delay", "500ms"],
        &format!("connections = {connections}\nduration = \"2s\""),
    );
    finished.exits(0);
    assert_eq!(record.connects[0].count, connections);
    assert_eq!(record.connects[0].errors, 0);
    assert!(log.len() as u64 >= connections, "every connection is used");
    assert!(record.end.as_ref().unwrap().complete, "{:?}", record.end);
    let resident = record
        .telemetry
        .iter()
        .filter_map(|it| Some(it.client?.resident_bytes));
    let resident = resident.max().unwrap();
    // 20,000 bytes each, which is 200 MB at 10,000, in addition to the program's own memory.
    let bound = 60_000_000 + connections * 20_000;
    assert!(
        resident < bound,
        "{resident} bytes for {connections} connections"
    );
}
