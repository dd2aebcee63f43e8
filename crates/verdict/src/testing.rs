//! Fabricated run records for the tests of this crate.

use std::collections::BTreeMap;

use samples::{
    End, Histogram, Host, Interval, MachineUse, OperationInterval, Phase, ProcessUse, Record,
    RunHeader, ServerIdentity, ServerStatus, Telemetry,
};

use crate::max_rate::RateQuestion;

const SECONDS: u32 = 4;

/// A search for the highest rate whose p99 is below 20 ms, at this level of a factor.
pub(crate) fn rate_question(factor: &str, level: &str) -> RateQuestion {
    RateQuestion {
        combination: BTreeMap::from([(factor.to_owned(), level.to_owned())]),
        limit: "p99 < 20 ms".to_owned(),
        quantile: 0.99,
        limit_ns: 20_000_000,
        from_per_s: None,
        to_per_s: None,
        precision: 0.05,
        measured_s: 10.0,
        runs_at_most: 40,
        time_is_spent: false,
    }
}

/// The parameters of a fabricated record; rates are per second, the same in every second.
#[derive(Debug, Clone)]
pub(crate) struct RecordBuilder {
    pub(crate) block: u32,
    pub(crate) levels: Vec<(&'static str, &'static str)>,
    pub(crate) connections: u32,
    pub(crate) operation: &'static str,
    pub(crate) per_s: u64,
    pub(crate) response_us: u64,
    pub(crate) server_cpu_s: f64,
    pub(crate) counters: Vec<(&'static str, f64)>,
    pub(crate) variables: Vec<(&'static str, &'static str)>,
    pub(crate) rows: Option<u64>,
}

impl Default for RecordBuilder {
    fn default() -> Self {
        Self {
            block: 1,
            levels: Vec::new(),
            connections: 4,
            operation: "select",
            per_s: 100,
            response_us: 500,
            server_cpu_s: 0.01,
            counters: Vec::new(),
            variables: Vec::new(),
            rows: None,
        }
    }
}

fn owned(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    let owned = pairs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    owned.collect()
}

pub(crate) fn record(made: &RecordBuilder) -> Record {
    let header = RunHeader {
        format: 1,
        dbdyno_version: "0.1.0".to_owned(),
        experiment: "made".to_owned(),
        experiment_sha256: "1".to_owned(),
        seed: 1,
        run: made.block,
        block: made.block,
        combination: owned(&made.levels),
        beside: Vec::new(),
        started_at: String::new(),
        connections: made.connections,
        loops: 1,
        io: "epoll".to_owned(),
        transport: "unix socket".to_owned(),
    };
    let first = serde_json::to_string(&samples::Line::Run(header)).unwrap();
    let mut record = Record::read(first.as_bytes()).unwrap();
    record.servers.push(ServerIdentity {
        at: samples::Edge::Start,
        version: "10.11.0-MariaDB".to_owned(),
        version_comment: String::new(),
        address: String::new(),
        private: true,
        variables: owned(&made.variables),
        settings_changed: Vec::new(),
    });
    record.dataset = made.rows.map(|rows| samples::Dataset {
        source: "made.smack".to_owned(),
        rows,
        disk_bytes: None,
        buffer_pool_bytes: None,
        load_s: None,
        state: samples::DatasetState::Loaded,
    });
    for second in 0..SECONDS {
        record.intervals.push(interval(made, second.into()));
        record.telemetry.push(telemetry(made, second.into()));
        let counters = made
            .counters
            .iter()
            .map(|(name, grown)| ((*name).to_owned(), *grown));
        record.server_status.push(ServerStatus {
            t_s: second.into(),
            length_s: 1.0,
            counters: counters.collect(),
            ..ServerStatus::default()
        });
    }
    record.end = Some(End {
        t_s: SECONDS.into(),
        complete: true,
        why: "as planned".to_owned(),
    });
    record
}

fn interval(made: &RecordBuilder, t_s: f64) -> Interval {
    let ns = made.response_us * 1000;
    let mut histogram = Histogram::new();
    (0..made.per_s).for_each(|_| histogram.record(ns));
    Interval {
        t_s,
        length_s: 1.0,
        phase: Phase::Measurement,
        stage: None,
        slice: None,
        operations: vec![OperationInterval {
            load: "load".to_owned(),
            operation: made.operation.to_owned(),
            count: made.per_s,
            errors: 0,
            sum_ns: ns * made.per_s,
            min_ns: ns,
            max_ns: ns,
            histogram,
            service: None,
            returned: samples::ReturnedRows::default(),
        }],
        statements: Vec::new(),
        send_lag: None,
        client_lag: None,
        pace: None,
        carried: Vec::new(),
    }
}

fn telemetry(made: &RecordBuilder, t_s: f64) -> Telemetry {
    let process = |user_s| ProcessUse {
        user_s,
        ..ProcessUse::default()
    };
    Telemetry {
        t_s,
        length_s: 1.0,
        host: Host::Both,
        machine: Some(MachineUse {
            user_s: made.server_cpu_s + 0.1,
            idle_s: 1.9 - made.server_cpu_s,
            ..MachineUse::default()
        }),
        server: Some(process(made.server_cpu_s)),
        client: Some(process(0.1)),
        ..Telemetry::default()
    }
}
