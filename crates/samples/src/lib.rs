//! The run record: the measurements of one run with their units, and the file that stores them.
//!
//! A run record is append-only JSON Lines. The measuring half (server, load, telemetry) writes it line by
//! line during the run; the judging half (report, audit, verdict) reads it and needs nothing else.
//! `docs/run-record.md` documents the format.

mod ceiling;
mod changed;
mod checked;
mod command;
mod cpu_use;
mod deliveries;
mod disk_limit;
mod disk_load;
mod disk_traffic;
mod disturbance;
mod durations;
mod edge;
mod end;
mod error_count;
mod folded;
mod idle;
mod innodb_status;
mod instance;
mod judged_steadiness;
mod keys;
mod known_load;
mod latency;
mod line;
mod line_reader;
mod load_stage;
mod loaded;
mod machine;
mod measured;
mod measured_state;
mod measurement_cpu;
mod observer;
mod offered;
mod planned_event;
mod printable;
mod proxy_work;
mod read_error;
mod reader;
mod repeats;
mod returned_rows;
mod run_parts;
mod server_activity;
mod server_limit;
mod server_moment;
mod several_loads;
mod side_by_side;
mod sliced;
mod staged;
mod statement_classes;
mod storage_record;
mod storage_results;
mod tail;
mod telemetry;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod thinned;
mod totals;
mod transport;
mod writer;

pub use ceiling::Ceiling;
pub use changed::{Changed, DiskProperty, Property};
pub use checked::{CheckResult, CheckTime};
pub use command::Command;
pub use cpu_use::CpuUse;
pub use deliveries::Deliveries;
pub use disk_limit::DiskLimit;
pub use disk_load::DiskLoad;
pub use disk_traffic::DiskTraffic;
pub use disturbance::Disturbance;
pub use durations::Durations;
pub use edge::Edge;
pub use end::End;
pub use error_count::{CONNECT, ErrorCount};
pub use histogram::{Histogram, HistogramError};
pub use idle::{IdleActivity, WrittenBytes};
pub use innodb_status::InnodbStatus;
pub use instance::{OF_THE_INSTANCE, OF_THE_SERVER, is_of_the_instance};
pub use judged_steadiness::{JudgedSteadiness, Stalls};
pub use keys::{KeyOrder, Keys};
pub use known_load::{KNOWN_LOADS, KnownLoad, NEW_ORDER};
pub use latency::{Latency, LatencyBins};
pub use line::{
    Connects, Dataset, DatasetState, FORMAT, Interval, LOAD, LateOperations, Line,
    OperationInterval, Pace, Phase, PhaseMark, RATE, RunHeader, ServerIdentity, StatementInterval,
};
pub use line_reader::Lines;
pub use load_stage::LoadStage;
pub use loaded::Loaded;
pub use machine::{
    BlockDevice, Cgroup, CpuSetup, Host, KernelSettings, Link, Machine, Peer, Placement, Storage,
    StorageDirectory,
};
pub use measured::{Counters, Measured, rows_read};
pub use measured_state::{MeasuredState, ServerState};
pub use measurement_cpu::MeasurementCpu;
pub use observer::{ClockDrift, ClockOffset, Observer, ObserverLoss};
pub use offered::{Cause, OfferedLoad, Shortfall};
pub use planned_event::{EventOutcome, PlannedAction, PlannedEvent};
pub use printable::{
    is_unprintable, printable, printable_lines, printable_lines_within, printable_within,
};
pub use proxy_work::{ProxyChange, ProxyHook, ProxyRule, ProxyWork};
pub use read_error::ReadError;
pub use reader::Record;
pub use returned_rows::ReturnedRows;
pub use run_parts::RunParts;
pub use server_activity::{
    ServerObservation, ServerStatus, ServerTotals, SlowClass, SlowLog, TableSize, TableSizes,
    TotalsRow,
};
pub use server_limit::ServerLimit;
pub use server_moment::{ClientConnection, ServerMoment, TimesUpTo};
pub use several_loads::{complete_runs, run_count, run_indices};
pub use side_by_side::SideBySide;
pub use sliced::Batches;
pub use staged::{STAGE, Staged};
pub use statement_classes::Classes;
pub use storage_record::{
    BurstCell, CommitResult, CommitSequence, STORAGE_FORMAT, SteadyRound, StorageHeader,
    StorageLine, StorageMode, StorageReadError, StorageRecord,
};
pub use storage_results::{
    Access, Flushes, ImportedJob, NOISY_FROM, Pattern, PatternResult, Repeat, Requests,
};
pub use tail::RecordTail;
pub use telemetry::{
    CgroupUse, Collected, CpuTimes, DiskRequests, DiskUse, InterfaceUse, LimitedRequests,
    MachineUse, Memory, PROGRAMS_AT_MOST, Paging, Pressure, ProcessUse, ProgramUse, Scheduling,
    TcpUse, Telemetry,
};
pub use totals::{OperationTotals, StatementTotals, Totals};
pub use transport::Transport;
pub use writer::{RecordWriter, RunWriter, WriteError};
