//! The lines of a run record.
//!
//! One line of real data (shortened):
//! ```json
//! {"line":"interval","t_s":3.0,"length_s":1.0,"phase":"measurement","operations":[{"load":"smacker",
//!  "operation":"select_index","count":20114,"errors":0,"sum_ns":981223411,"min_ns":21402,"max_ns":1903221,
//!  "histogram":"HISTFAAAA..."}]}
//! ```

use std::collections::BTreeMap;

use histogram::Histogram;
use serde::{Deserialize, Serialize};

use crate::{
    ceiling::Ceiling,
    changed::Changed,
    checked::CheckResult,
    command::Command,
    deliveries::Deliveries,
    disk_load::DiskLoad,
    durations::Durations,
    edge::Edge,
    end::End,
    error_count::ErrorCount,
    judged_steadiness::JudgedSteadiness,
    keys::Keys,
    load_stage::LoadStage,
    loaded::Loaded,
    machine::{Machine, Storage},
    measured_state::MeasuredState,
    observer::Observer,
    offered::OfferedLoad,
    planned_event::PlannedEvent,
    proxy_work::ProxyWork,
    returned_rows::ReturnedRows,
    server_activity::{ServerObservation, ServerStatus, ServerTotals, SlowLog, TableSizes},
    server_limit::ServerLimit,
    side_by_side::SideBySide,
    statement_classes::Classes,
    telemetry::{Collected, Telemetry},
};

/// The version of the run record format that this program writes.
pub const FORMAT: u32 = 1;

/// The factor whose levels are the loads of a run, where it has several.
pub const LOAD: &str = "load";

/// The factor whose levels are the rates of a search for the highest rate that keeps a limit, in operations per second.
pub const RATE: &str = "rate";

/// One line of a run record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "snake_case")]
pub enum Line {
    /// The first line: the identity of the run.
    Run(RunHeader),
    /// The command of a single run.
    Command(Command),
    /// The identity of the server and its variables.
    Server(ServerIdentity),
    /// A machine of the run.
    Machine(Machine),
    /// The storage of the directories that the server writes to.
    Storage(Storage),
    /// The observation of the server's host by a dbdyno on it.
    Observer(Observer),
    /// The limit under which the server ran.
    Limit(ServerLimit),
    /// The data at the start of the run.
    Dataset(Dataset),
    /// What a load without a server asks of a disk.
    DiskLoad(Box<DiskLoad>),
    /// The keys that a load requests.
    Keys(Keys),
    /// A result of the benchmark's own consistency checks.
    Checked(CheckResult),
    /// How the load takes turns with those of the other combinations of its block.
    SideBySide(SideBySide),
    /// The state in which the server of such a load is measured.
    MeasuredState(MeasuredState),
    /// A phase begins.
    Phase(PhaseMark),
    /// A planned event begins, or has ended.
    Event(Box<PlannedEvent>),
    /// A stage of the load begins, or has ended with the load.
    LoadStage(Box<LoadStage>),
    /// The operations of one interval.
    Interval(Interval),
    /// The times of opening connections.
    Connects(Connects),
    /// The load that was offered, and the part of it that was started.
    Offered(OfferedLoad),
    /// The result of loading a table.
    Loaded(Loaded),
    /// Usage of the machine and its processes in one interval.
    Telemetry(Box<Telemetry>),
    /// The cost of collecting telemetry.
    Collected(Collected),
    /// A property of a machine that changed during the run.
    Changed(Changed),
    /// The server's own counters in one interval.
    ServerStatus(ServerStatus),
    /// Totals of the server over the whole run, by statement, wait, user or table.
    ServerTotals(ServerTotals),
    /// The sizes of all tables.
    TableSizes(TableSizes),
    /// The part of the slow query log that the run wrote.
    SlowLog(SlowLog),
    /// The cost and the gaps of observing the server.
    ServerObservation(ServerObservation),
    /// A statement error, counted by number over the whole run.
    Error(ErrorCount),
    /// What a proxy between clients and server did.
    Proxy(ProxyWork),
    /// Counts of the deliveries in the background.
    Deliveries(Deliveries),
    /// The steadiness of the measurement.
    Steadiness(JudgedSteadiness),
    /// The share of the client's own ceiling that the run used.
    Ceiling(Ceiling),
    /// The last line of a run that ended by itself, successfully or not.
    End(End),
}

/// The identity of a run: the first line of a record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunHeader {
    /// [`FORMAT`] of the program that wrote the record.
    pub format: u32,
    /// Version of the program that wrote the record.
    pub dbdyno_version: String,
    /// Name of the experiment (its file's stem) or of the front door.
    pub experiment: String,
    /// SHA-256 of the experiment file, in hexadecimal; empty for a front door.
    pub experiment_sha256: String,
    /// Seed of all randomness in this run.
    pub seed: u64,
    /// Position of the run in the plan, from 1.
    pub run: u32,
    /// Block that the run belongs to, from 1.
    pub block: u32,
    /// Level of each factor, by factor; of one of several loads, its name is the level of [`LOAD`].
    pub combination: BTreeMap<String, String>,
    /// The other loads of the run, each with a record of its own; empty if there are none. They begin and end with this
    /// one, and what is said of machine and server is of all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<String>,
    /// Start of the run, UTC, RFC 3339.
    pub started_at: String,
    /// Number of virtual clients of the load.
    pub connections: u32,
    /// Number of event loops that drove them.
    pub loops: u32,
    /// Mechanism of the event loops: `epoll`.
    pub io: String,
    /// Connection between clients and server: a [`Transport`], and what is done on the way
    /// (`tcp remote, compressed`); `none` without a server.
    pub transport: String,
}

impl RunHeader {
    /// The run's number in words: `3`, or `3 (batch)` for one of its several loads.
    pub fn number_in_words(&self) -> String {
        match self
            .combination
            .get(LOAD)
            .filter(|_| !self.beside.is_empty())
        {
            Some(load) => format!("{} ({load})", self.run),
            None => self.run.to_string(),
        }
    }
}

/// The identity of a server and its variables.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ServerIdentity {
    pub at: Edge,
    /// Version string as the server reports it, for example `10.11.19-MariaDB-0+deb12u1`.
    pub version: String,
    pub version_comment: String,
    /// Address as the client used it, without credentials.
    pub address: String,
    /// True for a server that dbdyno started for this run.
    pub private: bool,
    /// SHOW GLOBAL VARIABLES.
    pub variables: BTreeMap<String, String>,
    /// Settings whose effective value differs from the requested one: options replaced, adjusted or without effect, one
    /// sentence each. Known for private servers only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings_changed: Vec<String>,
}

/// The data at the start of the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Dataset {
    /// Source of the data, for example `http_auth.smack`.
    pub source: String,
    /// Number of rows in all tables.
    pub rows: u64,
    /// Bytes on disk (tablespace files or information_schema), if known.
    pub disk_bytes: Option<u64>,
    /// Size of the InnoDB buffer pool in bytes, if known.
    pub buffer_pool_bytes: Option<u64>,
    /// Duration of loading in seconds, if this run loaded the data.
    pub load_s: Option<f64>,
    pub state: DatasetState,
}

/// Origin of the data of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DatasetState {
    /// By this run.
    Loaded,
    /// From a copy of the loaded data.
    Restored,
    /// Loaded by an earlier run, and not restored.
    Kept,
    /// Not created by the experiment.
    Found,
    /// By the null server.
    Simulated,
}

impl DatasetState {
    /// The name, as in the record.
    pub fn name(self) -> &'static str {
        match self {
            Self::Loaded => "loaded",
            Self::Restored => "restored",
            Self::Kept => "kept",
            Self::Found => "found",
            Self::Simulated => "simulated",
        }
    }
}

/// A phase of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Before the steady state: kept in the record, excluded from results.
    WarmUp,
    /// The phase from which the results are computed.
    Measurement,
    /// Between the slices of a load that takes turns with others: excluded from results.
    Pause,
    /// After the stop: operations that were still in flight complete.
    Drain,
}

/// The beginning of a phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PhaseMark {
    /// Seconds since the start of the load.
    pub t_s: f64,
    pub phase: Phase,
    /// Why the phase began, as text ("warm-up of 5 s over", "throughput steady by MSER-5").
    pub why: String,
}

/// The operations of one interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Start, seconds since the start of the load.
    pub t_s: f64,
    /// Length in seconds (the last interval may be shorter).
    pub length_s: f64,
    /// Phase that the whole interval belongs to.
    pub phase: Phase,
    /// Stage of the measurement that the whole interval belongs to, from 1; `None` for a load without stages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<u32>,
    /// Slice of the measurement that the whole interval belongs to, from 1; `None` outside of slices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slice: Option<u32>,
    /// One entry per operation type completed in this interval, sorted by load and operation.
    pub operations: Vec<OperationInterval>,
    /// One entry per statement completed in this interval, sorted by load and statement; only for operations of several
    /// statements.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub statements: Vec<StatementInterval>,
    /// Delays of the operations completed in this interval, from the time at which the user was due to the sending of
    /// the request; `None` in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub send_lag: Option<Durations>,
    /// The part of these delays that the client itself took: from the time at which the user was due and had a free
    /// connection. `None` in a closed loop, where it is all of them, and in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_lag: Option<Durations>,
    /// The pace of the event loops; `None` in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pace: Option<Pace>,
    /// Operations completed in this interval that were due in an earlier phase, stage or slice, to which they belong.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub carried: Vec<LateOperations>,
}

impl Phase {
    /// The name used in run records.
    pub fn name(self) -> &'static str {
        match self {
            Self::WarmUp => "warm_up",
            Self::Measurement => "measurement",
            Self::Pause => "pause",
            Self::Drain => "drain",
        }
    }
}

impl Interval {
    /// Statements completed in the interval, regardless of the phase in which they were due; an operation of one
    /// statement counts as that statement.
    pub fn statements_back(&self) -> u64 {
        let carried = self.carried.iter().flat_map(|carried| &carried.statements);
        let back = self.statements.iter().chain(carried);
        match back.map(|it| it.classes().all()).sum() {
            0 => self.succeeded(),
            told => told,
        }
    }

    /// Successful operations completed in the interval, regardless of the phase in which they were due.
    pub fn succeeded(&self) -> u64 {
        let carried = self.carried.iter().flat_map(|carried| &carried.operations);
        let back = self.operations.iter().chain(carried);
        back.map(|operation| operation.count).sum()
    }
}

/// Operations completed in an interval that were due in an earlier phase, stage or slice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LateOperations {
    /// The phase to which they belong.
    pub due_in: Phase,
    /// The stage of the measurement to which they belong; `None` for a load without stages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<u32>,
    /// The slice of the measurement to which they belong; `None` outside of slices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slice: Option<u32>,
    /// As in [`Interval::operations`].
    pub operations: Vec<OperationInterval>,
    /// As in [`Interval::statements`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub statements: Vec<StatementInterval>,
    /// As in [`Interval::send_lag`].
    pub send_lag: Durations,
    /// As in [`Interval::client_lag`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_lag: Option<Durations>,
}

/// The pace of the event loops in one interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Pace {
    /// Operations due in the interval; in a closed loop those that began.
    pub due: u64,
    /// Operations due by the end of the interval that had not begun.
    pub waiting: u64,
    /// Largest number of waiting operations at one time, sampled every 20 ms.
    pub waiting_max: u64,
    /// Share of the connections with an operation in flight, mean over the samples, 0 to 1.
    pub busy: f64,
    /// CPU time of the event loop that used most of it, as a share of the interval, 0 to 1.
    pub loop_cpu: f64,
    /// Largest delay of an event loop in serving a timer, nanoseconds.
    pub loop_delay_max_ns: u64,
}

/// The operations of one type in one interval.
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
    /// Sum of the response times of the successful operations, nanoseconds.
    pub sum_ns: u64,
    /// Exact minimum, nanoseconds; 0 when `count` is 0.
    pub min_ns: u64,
    /// Exact maximum, nanoseconds; 0 when `count` is 0.
    pub max_ns: u64,
    /// Response times in nanoseconds, from the scheduled start.
    pub histogram: Histogram,
    /// Service times, from the send; only in an open loop, as they equal the response times in a closed loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<Durations>,
    /// Rows returned, if the operation is a single statement.
    #[serde(default, skip_serializing_if = "ReturnedRows::is_none")]
    pub returned: ReturnedRows,
}

impl OperationInterval {
    /// The response times, from the scheduled start.
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
    /// Statement counts by effect.
    pub fn classes(&self) -> Classes {
        Classes {
            reads: self.reads,
            writes: self.writes,
            others: self.others,
        }
    }

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

/// One statement of a load's operations in one interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StatementInterval {
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
    /// Times in nanoseconds, each from the end of the previous statement or the beginning of the attempt.
    pub histogram: Histogram,
    #[serde(default, skip_serializing_if = "ReturnedRows::is_none")]
    pub returned: ReturnedRows,
}

/// The times of opening connections.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Connects {
    /// Name of the load that opened them.
    pub load: String,
    /// Number of connections opened.
    pub count: u64,
    /// Number of connections that could not be opened after all retries.
    pub errors: u64,
    /// Shortest time to open a connection, nanoseconds.
    pub min_ns: u64,
    /// Longest time to open a connection, nanoseconds.
    pub max_ns: u64,
    /// Sum of the times to open a connection, nanoseconds.
    pub sum_ns: u64,
}
