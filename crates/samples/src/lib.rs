//! The run record: what one run measured, in which unit, and the file that keeps it.
//!
//! A run record is append-only JSON Lines. The measuring half (server, load, telemetry) writes it line by
//! line while the run goes on; the judging half (report, later audit and verdict) reads it and needs nothing
//! else. `docs/run-record.md` documents the format.

mod histogram;
mod line;
mod reader;
mod summary;
mod writer;

pub use histogram::{Histogram, HistogramError};
pub use line::{
    Connects, Dataset, DiskUse, End, ErrorCount, FORMAT, Host, Interval, Line, Machine, MachineUse,
    Memory, OperationInterval, Phase, PhaseMark, ProcessUse, RunHeader, ServerIdentity,
    StatementInterval, Telemetry,
};
pub use reader::{ReadError, Record};
pub use summary::{CpuUse, LatencySummary, OperationSummary, RunSummary};
pub use writer::{RecordWriter, WriteError};
