//! The lines of a run record.
//!
//! One line of real data (shortened):
//! ```json
//! {"line":"interval","t_s":3.0,"length_s":1.0,"phase":"measurement","operations":[{"load":"smacker",
//!  "operation":"select_index","count":20114,"errors":0,"sum_ns":981223411,"min_ns":21402,"max_ns":1903221,
//!  "histogram":"HISTFAAAA..."}]}
//! ```

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    ceiling::Ceiling,
    checked::Checked,
    classes::Classes,
    command::Command,
    deliveries::Deliveries,
    durations::Durations,
    error_count::{ErrorCount, is_zero},
    histogram::Histogram,
    judged_steadiness::JudgedSteadiness,
    keys::Keys,
    machine::{Changed, Machine, Storage},
    observer::Observer,
    returned_rows::ReturnedRows,
    server_activity::{ServerObservation, ServerStatus, ServerTotals, SlowLog, TableSizes},
    telemetry::{Collected, Telemetry},
};

/// The version of the run record format that this program writes.
pub const FORMAT: u32 = 1;

/// One line of a run record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "snake_case")]
pub enum Line {
    /// The first line: what run this is.
    Run(RunHeader),
    /// The command of a single run.
    Command(Command),
    /// Who answered, and with which variables.
    Server(ServerIdentity),
    /// The machine that one half of the run stood on.
    Machine(Machine),
    /// What stands behind the directories that the server writes to.
    Storage(Storage),
    /// How the server's host was observed by a dbdyno on it.
    Observer(Observer),
    /// The data that the run met.
    Dataset(Dataset),
    /// Which keys a load asks for.
    Keys(Keys),
    /// What the benchmark's own checks of its data said.
    Checked(Checked),
    /// A phase begins.
    Phase(PhaseMark),
    /// What the load did in one interval.
    Interval(Interval),
    /// How long the connections took to open.
    Connects(Connects),
    /// What was to start, and whether it did.
    Offered(Offered),
    /// What the load of a table brought.
    Loaded(Loaded),
    /// What the machine and the processes did in one interval.
    Telemetry(Box<Telemetry>),
    /// What collecting telemetry cost.
    Collected(Collected),
    /// Something about the machine was otherwise at the end than at the start.
    Changed(Changed),
    /// What the server's own counters say of one interval.
    ServerStatus(ServerStatus),
    /// What the server added up over the whole run, by statement, wait, user or table.
    ServerTotals(ServerTotals),
    /// The sizes of all tables.
    TableSizes(TableSizes),
    /// The part of the slow query log that the run wrote.
    SlowLog(SlowLog),
    /// How the server was observed, and what could not be.
    ServerObservation(ServerObservation),
    /// A statement error, counted by number over the whole run.
    Error(ErrorCount),
    /// What became of deliveries in the background.
    Deliveries(Deliveries),
    /// What the run did over its measurement.
    Steadiness(JudgedSteadiness),
    /// What share of the client's own ceiling the run used.
    Ceiling(Ceiling),
    /// The last line of a run that ended by itself, well or not.
    End(End),
}

/// What run this is: the first line of a record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunHeader {
    /// [`FORMAT`] of the writer.
    pub format: u32,
    /// Version of the program that wrote the record.
    pub dbdyno_version: String,
    /// Name of the experiment (its file's stem) or of the front door.
    pub experiment: String,
    /// SHA-256 of the experiment as run, in hexadecimal; empty for a front door.
    pub experiment_sha256: String,
    /// Seed from which all randomness of this run is derived.
    pub seed: u64,
    /// Position of the run in the plan, from 1.
    pub run: u32,
    /// Block that the run belongs to, from 1.
    pub block: u32,
    /// Factor to level.
    pub combination: BTreeMap<String, String>,
    /// Start of the run, UTC, RFC 3339.
    pub started_at: String,
    /// Virtual clients, over all loads of the run.
    pub connections: u32,
    /// Event loops that drove them.
    pub loops: u32,
    /// Mechanism of the event loops: `epoll`.
    pub io: String,
    /// Where clients and server stand to each other, as `unix socket`, `tcp loopback` or `tcp remote`.
    pub transport: String,
}

/// Who answered, and with which variables.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ServerIdentity {
    /// `start` or `end` of the run.
    pub at: String,
    /// Version string as the server gives it, for example `10.11.19-MariaDB-0+deb12u1`.
    pub version: String,
    /// `version_comment`.
    pub version_comment: String,
    /// Address as the client used it, without credentials.
    pub address: String,
    /// True for a server that dbdyno started for this run.
    pub private: bool,
    /// SHOW GLOBAL VARIABLES.
    pub variables: BTreeMap<String, String>,
    /// What the server has otherwise than it was asked for: options replaced, adjusted or without effect, a sentence
    /// each. Only known of a private server.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings_changed: Vec<String>,
}

/// The data that the run met.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Dataset {
    /// What made it, for example `http_auth.smack`.
    pub source: String,
    /// Rows in all tables.
    pub rows: u64,
    /// Bytes on disk (tablespace files or information_schema), where known.
    pub disk_bytes: Option<u64>,
    /// Size of the InnoDB buffer pool, where known.
    pub buffer_pool_bytes: Option<u64>,
    /// Time that loading took, if this run loaded it.
    pub load_s: Option<f64>,
    /// How the data came to this run: `loaded`, `restored`, `kept`, or `found` when nobody asked for it.
    pub state: String,
}

/// A phase of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Before the steady state: kept in the record, excluded from results.
    WarmUp,
    /// What the results are made of.
    Measurement,
    /// After the stop: operations that were still in flight.
    Drain,
}

/// A phase begins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PhaseMark {
    /// Seconds since the start of the load.
    pub t_s: f64,
    /// The phase.
    pub phase: Phase,
    /// Why it began, in words ("warm-up of 5 s over", "throughput steady by MSER-5").
    pub why: String,
}

/// What the load did in one interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Start, seconds since the start of the load.
    pub t_s: f64,
    /// Length in seconds (the last one may be shorter).
    pub length_s: f64,
    /// Phase that the whole interval belongs to.
    pub phase: Phase,
    /// One entry per operation type that finished here, sorted by load and operation.
    pub operations: Vec<OperationInterval>,
    /// One entry per statement that came back here, sorted by load and statement; only for operations of several
    /// statements.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub statements: Vec<StatementInterval>,
    /// Of the operations that finished here: from the moment at which the user was due to the moment at which the
    /// request went out; `None` in records of before it was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub send_lag: Option<Durations>,
    /// How the event loops kept up; `None` in records of before it was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pace: Option<Pace>,
    /// What finished here but was due in an earlier phase, to which it belongs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub carried: Vec<Carried>,
}

impl Phase {
    /// As it stands in a run record.
    pub fn name(self) -> &'static str {
        match self {
            Self::WarmUp => "warm_up",
            Self::Measurement => "measurement",
            Self::Drain => "drain",
        }
    }
}

impl Interval {
    /// Statements that came back in the interval, whatever phase they were due in; operations of one statement each are
    /// statements.
    pub fn statements_back(&self) -> u64 {
        let carried = self.carried.iter().flat_map(|carried| &carried.statements);
        let back = self.statements.iter().chain(carried);
        match back.map(|it| it.classes().all()).sum() {
            0 => self.succeeded(),
            told => told,
        }
    }

    /// Successful operations that came back in the interval, whatever phase they were due in.
    pub fn succeeded(&self) -> u64 {
        let carried = self.carried.iter().flat_map(|carried| &carried.operations);
        let back = self.operations.iter().chain(carried);
        back.map(|operation| operation.count).sum()
    }
}

/// What finished in an interval but was due in an earlier phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Carried {
    /// The phase to which it belongs.
    pub due_in: Phase,
    /// As in the interval.
    pub operations: Vec<OperationInterval>,
    /// As in the interval.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub statements: Vec<StatementInterval>,
    /// As in the interval.
    pub send_lag: Durations,
}

/// How the event loops kept up in one interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Pace {
    /// Operations that were due in the interval; in a closed loop those that began.
    pub due: u64,
    /// Operations that were due by the end of the interval and had not begun.
    pub waiting: u64,
    /// The most that were waiting at one time, as far as was looked (every 20 ms).
    pub waiting_max: u64,
    /// Share of the connections with an operation in flight, in the mean over the looks, 0 to 1.
    pub busy: f64,
    /// CPU time of the event loop that used most of it, as a share of the interval, 0 to 1.
    pub loop_cpu: f64,
    /// The latest that an event loop came back to a timer, nanoseconds.
    pub loop_delay_max_ns: u64,
}

/// What one operation type did in one interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OperationInterval {
    /// Name of the load (a client type of a .smack file, a `[[load]]` table).
    pub load: String,
    /// Operation type.
    pub operation: String,
    /// Operations that succeeded.
    pub count: u64,
    /// Operations that failed after all retries.
    pub errors: u64,
    /// Sum of the response times of the successful ones, nanoseconds.
    pub sum_ns: u64,
    /// Exact minimum, nanoseconds; 0 when `count` is 0.
    pub min_ns: u64,
    /// Exact maximum, nanoseconds; 0 when `count` is 0.
    pub max_ns: u64,
    /// Response times in nanoseconds, from the scheduled start.
    pub histogram: Histogram,
    /// Service times, from the send; only in an open loop, for they are the response times of a closed one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<Durations>,
    /// Rows that it returned, where it is a single statement.
    #[serde(default, skip_serializing_if = "ReturnedRows::is_none")]
    pub returned: ReturnedRows,
}

impl OperationInterval {
    /// The response times.
    pub fn response(&self) -> Durations {
        Durations {
            count: self.count,
            sum_ns: self.sum_ns,
            min_ns: self.min_ns,
            max_ns: self.max_ns,
            histogram: self.histogram.clone(),
        }
    }
}

impl StatementInterval {
    /// How many did what.
    pub fn classes(&self) -> Classes {
        Classes {
            reads: self.reads,
            writes: self.writes,
            others: self.others,
        }
    }

    /// How long the statements took.
    pub fn times(&self) -> Durations {
        Durations {
            count: self.reads + self.writes + self.others,
            sum_ns: self.sum_ns,
            min_ns: self.min_ns,
            max_ns: self.max_ns,
            histogram: self.histogram.clone(),
        }
    }
}

/// What one statement of a load's operations did in one interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StatementInterval {
    /// Name of the load.
    pub load: String,
    /// Statement, for example `update_index`.
    pub statement: String,
    /// Statements that returned rows.
    pub reads: u64,
    /// Statements that changed rows.
    pub writes: u64,
    /// Statements that did neither: BEGIN, COMMIT, an UPDATE that matched nothing.
    pub others: u64,
    /// Sum of their times, nanoseconds.
    pub sum_ns: u64,
    /// Exact minimum, nanoseconds.
    pub min_ns: u64,
    /// Exact maximum, nanoseconds.
    pub max_ns: u64,
    /// Times in nanoseconds, each from the end of the statement before it or the begin of the attempt.
    pub histogram: Histogram,
    /// Rows that it returned.
    #[serde(default, skip_serializing_if = "ReturnedRows::is_none")]
    pub returned: ReturnedRows,
}

/// What the load of a table brought, where that is what was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Loaded {
    /// The table.
    pub table: String,
    /// Rows that went in.
    pub rows: u64,
    /// Their bytes as text, as they were sent.
    pub bytes: u64,
    /// From the start of the load to its end, indexes and foreign keys that it makes included, seconds.
    pub took_s: f64,
    /// Rows by that time.
    pub rows_per_s: f64,
    /// Megabytes (10^6) of text by that time.
    pub mb_per_s: f64,
    /// Bytes of the table and its indexes afterwards, as the server counts its pages; `None` where it does not say.
    #[serde(default)]
    pub disk_bytes: Option<u64>,
}

impl Loaded {
    /// So many rows and bytes in so much time; nobody has looked what they take on disk.
    pub fn new(table: &str, rows: u64, bytes: u64, took_s: f64) -> Self {
        let per_s = |amount: f64| if took_s > 0.0 { amount / took_s } else { 0.0 };
        Self {
            table: table.to_owned(),
            rows,
            bytes,
            took_s,
            rows_per_s: per_s(rows as f64),
            mb_per_s: per_s(bytes as f64 / 1e6),
            disk_bytes: None,
        }
    }
}

/// How long the connections took to open.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Connects {
    /// Name of the load.
    pub load: String,
    /// Connections that opened.
    pub count: u64,
    /// Connections that failed for good.
    pub errors: u64,
    /// Exact minimum, nanoseconds.
    pub min_ns: u64,
    /// Exact maximum, nanoseconds.
    pub max_ns: u64,
    /// Sum, nanoseconds.
    pub sum_ns: u64,
}

/// What was to start, and whether it did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Offered {
    /// How operations come to be due: `closed`, `constant` or `poisson`.
    pub process: String,
    /// Operations per second that were asked for; `None` in a closed loop.
    pub rate_per_s: Option<f64>,
    /// The event loops kept their CPU busy before a timer was due, instead of sleeping.
    #[serde(default)]
    pub spin: bool,
    /// Operations that were due in the measurement; in a closed loop those that began in it.
    pub due: u64,
    /// How many of them had not begun at the end of the measurement.
    pub behind: u64,
    /// How many of them began more than 1 ms after they were due, or never.
    pub late: u64,
    /// The most that were waiting at one time.
    pub waiting_max: u64,
    /// How many of them had not begun when the load gave up.
    pub not_started: u64,
    /// How many of them had begun but not come back when the load gave up.
    pub unfinished: u64,
    /// How many operations had begun but not come back when the load gave up, whatever phase they were due in; 0 in
    /// records of before it was counted.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub in_flight: u64,
    /// How long those of `not_started` and `unfinished` had waited by then: their response times are longer still.
    pub waits: Durations,
    /// Why the rate was not reached; `None` where it was, and in a closed loop.
    pub shortfall: Option<Shortfall>,
}

/// Why a rate was not reached.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Shortfall {
    /// Since when operations waited that never caught up, seconds since the start of the load.
    pub from_s: f64,
    /// Who could not keep up.
    pub cause: Cause,
    /// The cause in words.
    pub why: String,
    /// Operations per second that came back in the measurement.
    pub achieved_per_s: f64,
    /// From `from_s` on: share of the connections with an operation in flight, 0 to 1.
    pub busy: f64,
    /// From `from_s` on: the largest share of an event loop's time that it was on the CPU, 0 to 1.
    pub loop_cpu: f64,
    /// From `from_s` on: mean lateness of the event loops' timers, in the worst case of each interval, nanoseconds.
    pub loop_delay_ns: f64,
    /// From `from_s` on: mean service time, nanoseconds; `None` where nothing came back.
    pub service_ns: Option<f64>,
    /// Mean service time of the operations that began while at most half of the connections were busy,
    /// nanoseconds; `None` where there was none.
    pub calm_service_ns: Option<f64>,
}

/// Who could not keep up with a rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// All connections waited for a server that answered more slowly than when it was calm.
    Server,
    /// The event loops were late although connections were free, or had no CPU time left.
    Client,
    /// All connections were busy although the server answered as fast as when it was calm: they are too few.
    Connections,
    /// All connections were busy from the first operation on, so there is no calm server to compare with.
    ServerOrConnections,
}

/// The last line of a run that ended by itself, well or not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct End {
    /// Seconds since the start of the load.
    pub t_s: f64,
    /// False when the run was interrupted or its server died.
    pub complete: bool,
    /// Why the run ended, in words.
    pub why: String,
}
