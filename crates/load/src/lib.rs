//! Generates load: drives virtual users in a closed or open loop over event loops and records every operation.
//!
//! The crate knows no benchmark: it asks a [`User`] for its next operation and its result.
//! Arrivals, warm-up, stop and error policy are values. Every event loop has its own thread, connections and recording;
//! once per interval it delivers its figures to the controller, which merges them off the hot path.

mod arrivals;
mod budget;
mod controller;
mod event_loop;
mod interval_sums;
mod intervals;
mod lines;
mod load;
mod loop_count;
mod offered_load;
mod opening;
mod outcome;
mod pace;
mod precision;
mod rate_course;
mod recorder;
mod rules;
mod shortfall;
mod stages;
mod steady_state;
mod think_times;
mod threads;
mod timeline;
mod tolerated;
mod turns;
mod user;

pub use arrivals::{Schedule, Share};
pub use load::{Group, INTERVAL, Load, LoadListener};
pub use loop_count::default_loops;
pub use outcome::{Error, OperationTotal, Outcome, Termination, UserTotal};
pub use rules::{
    Counters, Drain, Judge, Judgement, LoadSeries, PlannedEnd, Precision, Stop, WarmUpEnd,
};
pub use settings::{Arrivals, OnError, OnRefusal, PlannedStage, Process, ThinkTime, WarmUp};
pub use threads::drive;
pub use tolerated::ToleratedFailures;
pub use turns::{AHEAD, Slice, Turn, Turns};
pub use user::{Class, Failure, Moment, Next, OperationObserver, User};
