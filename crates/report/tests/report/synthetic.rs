//! Fabricated run records: deterministic, with the shape of a real closed-loop experiment.

use std::collections::BTreeMap;

use report::{Chart, Factor, Results};
use samples::{
    ClockDrift, ClockOffset, Dataset, DatasetState, DiskUse, Edge, End, ErrorCount, Histogram,
    Host, Interval, Machine, MachineUse, Memory, Observer, ObserverLoss, OperationInterval, Phase,
    PhaseMark, ProcessUse, Record, RunHeader, ServerIdentity, Telemetry,
};

/// Logical CPUs of the synthetic machine.
const CPUS: f64 = 4.0;
pub(crate) const WARM_UP_S: u32 = 3;

/// The parameters of a fabricated run.
pub(crate) struct Plan {
    pub(crate) run: u32,
    pub(crate) block: u32,
    pub(crate) combination: Vec<(&'static str, String)>,
    pub(crate) connections: u32,
    /// Maximum throughput of the server, operations per second.
    pub(crate) limit_per_s: f64,
    pub(crate) measured_s: u32,
    /// The observed machine.
    pub(crate) host: Host,
}

/// A small generator of noise in -1 to 1; the same seed gives the same record.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as f64 / f64::from(1u32 << 30) - 1.0
    }
}

pub(crate) fn record(plan: &Plan) -> Record {
    let mut noise = Noise(u64::from(plan.run) * 977 + 13);
    // Throughput saturates with the clients; the response time of a closed loop follows from it (Little's law).
    let clients = f64::from(plan.connections);
    let bias = 1.0 + 0.02 * noise.next();
    let rate_per_s = plan.limit_per_s * bias * clients / (clients + 3.0);
    let seconds = WARM_UP_S + plan.measured_s;
    let mut intervals = Vec::new();
    let mut telemetry = Vec::new();
    for second in 0..seconds {
        let warming = second < WARM_UP_S;
        let ramp = if warming {
            0.5 + f64::from(second) * 0.15
        } else {
            1.0
        };
        let stall = if second % 17 == 11 { 0.6 } else { 1.0 };
        let now_per_s = (rate_per_s * ramp * stall * (1.0 + 0.04 * noise.next())).max(1.0);
        intervals.push(interval(second, warming, now_per_s, clients));
        telemetry.push(telemetry_of(
            second,
            plan.host,
            now_per_s / plan.limit_per_s,
        ));
    }
    Record {
        header: header(plan),
        servers: vec![server(plan, Edge::Start), server(plan, Edge::End)],
        machines: vec![machine(plan.host)],
        keys: Vec::new(),
        checked: Vec::new(),
        limit: None,
        dataset: Some(dataset(plan)),
        disk_load: None,
        phases: vec![
            PhaseMark {
                t_s: 0.0,
                phase: Phase::WarmUp,
                why: "start".into(),
            },
            PhaseMark {
                t_s: f64::from(WARM_UP_S),
                phase: Phase::Measurement,
                why: "warm-up of 3 s over".into(),
            },
        ],
        intervals,
        added_up: None,
        stages: Vec::new(),
        stage_totals: BTreeMap::new(),
        batch_totals: BTreeMap::new(),
        side_by_side: None,
        measured_state: None,
        batch: None,
        events: Vec::new(),
        connects: Vec::new(),
        offered: None,
        proxy: None,
        deliveries: None,
        command: None,
        steadiness: None,
        ceiling: None,
        loaded: None,
        telemetry,
        server_status: Vec::new(),
        server_totals: Vec::new(),
        table_sizes: Vec::new(),
        slow_log: None,
        server_observation: None,
        errors: Vec::new(),
        end: Some(End {
            t_s: f64::from(seconds),
            complete: true,
            why: "duration over".into(),
        }),
        storage: Vec::new(),
        observers: Vec::new(),
        collected: Vec::new(),
        changed: Vec::new(),
        torn: false,
    }
}

/// The runs of quickstart with a server on another host, whose observer was lost in the middle of the last run.
pub(crate) fn two_hosts() -> Results {
    let mut results = quickstart(Host::Client);
    let last = results.runs.len() - 1;
    for (index, record) in results.runs.iter_mut().enumerate() {
        record.machines[0].not_observed.clear();
        record.machines.push(Machine {
            name: "db1".into(),
            ..machine(Host::Server)
        });
        let seconds = record.telemetry.len() as u32;
        let seen = if index == last { seconds / 2 } else { seconds };
        let there = (0..seen).map(|second| telemetry_of(second, Host::Server, 0.9));
        record.telemetry.extend(there);
        let clock = ClockOffset {
            offset_s: -81_203.12,
            uncertainty_s: 0.000_081,
            wall_offset_s: 0.4,
            exchanges: 16,
        };
        let start = Observer {
            at: "start".into(),
            address: "ssh://dba@db1".into(),
            version: "0.1.0".into(),
            same_machine: Some(false),
            server_process: Some("port 3306 (mariadbd)".into()),
            clock: Some(clock),
            ..Observer::default()
        };
        let end = Observer {
            at: "end".into(),
            server_process: None,
            drift: Some(ClockDrift {
                ppm: 3.1,
                uncertainty_ppm: 5.4,
            }),
            lost: (index == last).then(|| ObserverLoss {
                t_s: f64::from(seen) + 0.5,
                why: "the connection was closed".into(),
            }),
            ..start.clone()
        };
        record.observers = vec![start, end];
    }
    results
}

fn header(plan: &Plan) -> RunHeader {
    RunHeader {
        format: 1,
        dbdyno_version: "0.1.0".into(),
        experiment: "synthetic".into(),
        experiment_sha256: "5c1d".repeat(16),
        seed: 1,
        run: plan.run,
        block: plan.block,
        combination: plan
            .combination
            .iter()
            .map(|(name, level)| ((*name).to_owned(), level.clone()))
            .collect(),
        beside: Vec::new(),
        started_at: format!("2026-11-21T10:{:02}:00Z", plan.run % 60),
        connections: plan.connections,
        loops: plan.connections.min(4),
        io: "epoll".into(),
        transport: "unix socket".into(),
    }
}

pub(crate) fn interval(second: u32, warming: bool, per_s: f64, clients: f64) -> Interval {
    let mut operations = Vec::new();
    for (name, share, cost) in [("select_index", 0.8, 1.0), ("update_index", 0.2, 1.6)] {
        let count = (per_s * share) as u64;
        let mean_ns = clients / per_s * 1e9 * cost;
        let mut histogram = Histogram::new();
        // Two hundred values of an exponential tail represent the whole second.
        let steps = count.min(200);
        for step in 0..steps {
            let quantile = step as f64 / steps as f64;
            histogram.record((mean_ns * (0.4 - 0.6 * (1.0 - quantile).ln())) as u64);
        }
        let sum_ns = (mean_ns * count as f64) as u64;
        operations.push(OperationInterval {
            load: "smacker".into(),
            operation: name.into(),
            count,
            errors: 0,
            sum_ns,
            min_ns: if count > 0 { (mean_ns * 0.4) as u64 } else { 0 },
            max_ns: histogram.quantile_ns(1.0).unwrap_or(0),
            histogram,
            service: None,
            returned: samples::ReturnedRows::default(),
        });
    }
    Interval {
        t_s: f64::from(second),
        length_s: 1.0,
        phase: if warming {
            Phase::WarmUp
        } else {
            Phase::Measurement
        },
        stage: None,
        slice: None,
        operations,
        statements: Vec::new(),
        send_lag: None,
        client_lag: None,
        pace: None,
        carried: Vec::new(),
    }
}

fn telemetry_of(second: u32, host: Host, load: f64) -> Telemetry {
    let process = |share: f64| ProcessUse {
        user_s: CPUS * share * 0.7,
        system_s: CPUS * share * 0.3,
        resident_bytes: 400 << 20,
        ..ProcessUse::default()
    };
    let (server, client) = (0.52 * load, 0.36 * load);
    let (rest, iowait, steal) = (0.03, 0.05 * (1.0 - load).max(0.0), 0.01);
    let busy = rest
        + match host {
            Host::Client => client,
            Host::Server => server,
            Host::Both => server + client,
        };
    Telemetry {
        t_s: f64::from(second) + 0.05,
        length_s: 1.0,
        host,
        machine: Some(MachineUse {
            user_s: CPUS * busy * 0.7,
            system_s: CPUS * busy * 0.3,
            iowait_s: CPUS * iowait,
            steal_s: CPUS * steal,
            idle_s: CPUS * (1.0 - busy - iowait - steal).max(0.0),
        }),
        server: (host != Host::Client).then(|| process(server)),
        client: (host != Host::Server).then(|| process(client)),
        memory: Some(Memory {
            total_bytes: 4 << 30,
            available_bytes: 2 << 30,
            swap_used_bytes: 0,
            ..Memory::default()
        }),
        disk: (host != Host::Client).then(|| DiskUse {
            device: "vda".into(),
            reads: 10,
            writes: (300.0 * load) as u64,
            read_bytes: 163_840,
            written_bytes: (9e6 * load) as u64,
            busy_s: 0.3 * load,
            ..DiskUse::default()
        }),
        ..Telemetry::default()
    }
}

fn machine(host: Host) -> Machine {
    Machine {
        host,
        name: "bench1".into(),
        cpu_model: "Synthetic CPU @ 2.0 GHz".into(),
        cpus: CPUS as u32,
        memory_bytes: 4 << 30,
        kernel: "6.1.0-26-amd64".into(),
        virtualised: true,
        not_observed: match host {
            Host::Client => vec!["server host not observed".into()],
            _ => Vec::new(),
        },
        ..Machine::default()
    }
}

fn server(plan: &Plan, at: Edge) -> ServerIdentity {
    let mut variables = BTreeMap::from([
        ("innodb_buffer_pool_size".to_owned(), "134217728".to_owned()),
        ("innodb_flush_log_at_trx_commit".to_owned(), "1".to_owned()),
        ("sync_binlog".to_owned(), "0".to_owned()),
        ("max_connections".to_owned(), "151".to_owned()),
        (
            "socket".to_owned(),
            format!("/run/private/{}.sock", plan.run),
        ),
    ]);
    let cache = plan
        .combination
        .iter()
        .find(|(name, _)| *name == "query_cache");
    let cache = cache.map_or(
        "0",
        |(_, level)| if level == "0" { "0" } else { "67108864" },
    );
    variables.insert("query_cache_size".to_owned(), cache.to_owned());
    ServerIdentity {
        at,
        version: "10.11.19-MariaDB-0+deb12u1".into(),
        version_comment: "Debian 12".into(),
        address: "/run/private/mysqld.sock".into(),
        private: true,
        variables,
        settings_changed: Vec::new(),
    }
}

fn dataset(plan: &Plan) -> Dataset {
    let rows = plan.combination.iter().find(|(name, _)| *name == "rows");
    let ratio = match rows.map(|(_, level)| level.as_str()) {
        Some("4x") => 4,
        Some("1x") => 2,
        _ => 1,
    };
    Dataset {
        source: "select-key.smack".into(),
        rows: 60_000 * ratio,
        disk_bytes: Some(67_000_000 * ratio),
        buffer_pool_bytes: Some(134_217_728),
        load_s: Some(2.5),
        state: DatasetState::Restored,
    }
}

/// Changes a record to that of a run whose server was killed after `seconds`.
pub(crate) fn interrupted(mut record: Record, seconds: u32, why: &str) -> Record {
    record.intervals.truncate(seconds as usize);
    record.telemetry.truncate(seconds as usize);
    record.servers.truncate(1);
    record.errors.push(ErrorCount {
        load: "smacker".into(),
        operation: "select_index".into(),
        number: 2013,
        sqlstate: "HY000".into(),
        message: "Lost connection to server during query".into(),
        count: 4,
        retried: 0,
        ..ErrorCount::default()
    });
    record.end = Some(End {
        t_s: f64::from(seconds),
        complete: false,
        why: why.into(),
    });
    record
}

/// Adds the drain at the end of every run: a few milliseconds with the operations that were still in flight.
pub(crate) fn drained(mut record: Record) -> Record {
    let end_s = record
        .intervals
        .iter()
        .map(|i| i.t_s + i.length_s)
        .fold(0.0, f64::max);
    let mut last = interval(end_s as u32, false, 4.0, 4_000.0);
    last.length_s = 0.004;
    last.phase = Phase::Drain;
    record.intervals.push(last);
    let mut sample = telemetry_of(end_s as u32, Host::Both, 0.0);
    sample.length_s = 0.004;
    record.telemetry.push(sample);
    record.phases.push(PhaseMark {
        t_s: end_s,
        phase: Phase::Drain,
        why: "operations still in flight at the stop".into(),
    });
    record
}

/// Changes the record to one with other programs using `share` of the machine's CPU.
pub(crate) fn disturbed(mut record: Record, share: f64) -> Record {
    for machine in record
        .telemetry
        .iter_mut()
        .filter_map(|sample| sample.machine.as_mut())
    {
        machine.user_s += CPUS * share;
        machine.idle_s -= CPUS * share;
    }
    record
}

fn factor(name: &str, levels: &[&str]) -> Factor {
    Factor {
        name: name.into(),
        levels: levels.iter().map(|level| (*level).to_owned()).collect(),
    }
}

/// Two mixes at four client counts, three executions each, the last one interrupted.
pub(crate) fn quickstart(host: Host) -> Results {
    let mixes = [("1:0", 21_000.0), ("5:1", 13_500.0)];
    let connections = [1, 2, 4, 8];
    let mut runs = Vec::new();
    for block in 1..=3 {
        for (mix, limit_per_s) in mixes {
            for clients in connections {
                runs.push(record(&Plan {
                    run: runs.len() as u32 + 1,
                    block,
                    combination: vec![("mix", mix.into()), ("connections", clients.to_string())],
                    connections: clients,
                    limit_per_s,
                    measured_s: 4,
                    host,
                }));
            }
        }
    }
    if let Some(last) = runs.pop() {
        runs.push(interrupted(last, 5, "the server was killed (signal 9)"));
    }
    Results {
        name: "quickstart".into(),
        question: "How many simple queries per second does this server hold, and where does it bend?".into(),
        experiment_text: "format = 1\nseed = 1\nrepeats = 3\n\n[matrix]\nmix = [\"1:0\", \"5:1\"]\n\
            connections = [1, 2, 4, 8]\n\n[server]\nrun = \"mariadb\"\nset = { query_cache_size = \"0\" }\n"
            .into(),
        factors: vec![factor("mix", &["1:0", "5:1"]), factor("connections", &["1", "2", "4", "8"])],
        chart: None,
        runs,
        verdict: None,
        clauses: Vec::new(),
        expectations: Vec::new(),
        searches: Vec::new(),
        parts: Default::default(),
        disturbances: Default::default(),
        audit: None,
        planned_runs: 24,
    }
}

/// The small experiment with the question whether the mix matters; its last run is complete as well.
pub(crate) fn asked() -> Results {
    let mut results = quickstart(Host::Both);
    let complete = results.runs[0].end.clone();
    if let Some(last) = results.runs.last_mut() {
        last.end = complete;
    }
    results.verdict = Some(verdict::Question {
        metric: verdict::Metric::Throughput,
        baseline: vec![("mix".into(), "1:0".into())],
        min_effect: 0.05,
        until_decided: None,
    });
    results
}

/// The first runs of the grid of HP's 2007 sizing paper: 5 mixes at 7 client counts for 3 sizes, and the smallest again
/// without query cache.
pub(crate) fn sizing(measured_s: u32, runs_max: usize) -> Results {
    let mixes = [
        ("1:0", 1.0),
        ("10:1", 1.25),
        ("5:1", 1.15),
        ("1:1", 0.7),
        ("0:1", 0.45),
    ];
    let facets = [
        ("0.5x", "64M", 9_000.0),
        ("1x", "64M", 7_500.0),
        ("4x", "64M", 1_100.0),
        ("0.5x", "0", 30_000.0),
    ];
    let mut runs = Vec::new();
    for (rows, cache, base_per_s) in facets {
        for (mix, share) in mixes {
            for clients in [1, 2, 4, 8, 16, 32, 64] {
                if runs.len() == runs_max {
                    break;
                }
                runs.push(record(&Plan {
                    run: runs.len() as u32 + 1,
                    block: 1,
                    combination: vec![
                        ("mix", mix.into()),
                        ("connections", clients.to_string()),
                        ("rows", rows.into()),
                        ("query_cache", cache.into()),
                    ],
                    connections: clients,
                    limit_per_s: base_per_s * share,
                    measured_s,
                    host: Host::Both,
                }));
            }
        }
    }
    Results {
        name: "hp-sizing".into(),
        question:
            "What does one server hold when its data fit, just fit, and do not fit into memory?"
                .into(),
        experiment_text: "format = 1\n\n[server]\nset = { query_cache_size = \"{query_cache}\" }\n"
            .into(),
        factors: vec![
            factor("mix", &["1:0", "10:1", "5:1", "1:1", "0:1"]),
            factor("connections", &["1", "2", "4", "8", "16", "32", "64"]),
            factor("rows", &["0.5x", "1x", "4x"]),
            factor("query_cache", &["64M", "0"]),
        ],
        chart: Some(Chart {
            x: "connections".into(),
            line: Some("mix".into()),
            facet: vec!["rows".into(), "query_cache".into()],
            y: Vec::new(),
        }),
        runs,
        verdict: None,
        clauses: Vec::new(),
        expectations: Vec::new(),
        searches: Vec::new(),
        parts: Default::default(),
        disturbances: Default::default(),
        audit: None,
        planned_runs: 140,
    }
}
