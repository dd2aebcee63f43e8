//! Plans of statements: what MySQL and MariaDB say about how they execute a statement, in one model; no input, no output.
//!
//! EXPLAIN's rows, its JSON of two families and two versions, its tree, and what the server measured of each node become
//! a [`Plan`]. What a newer server adds is kept by its own name and shown, and is never an error.

mod block_json;
mod change;
mod column_use;
mod drawing;
mod error;
mod extra;
mod findings;
mod flag;
mod json;
mod limits;
mod node;
mod node_figures;
mod operation;
mod operator;
mod operator_json;
mod reading;
mod text;
mod trace;
mod trace_drawing;
mod traditional;
mod tree_text;
mod words;

pub use change::{Change, changes, is_same_plan};
pub use column_use::{Computation, JoinedColumn, TableUse, column_uses};
pub use drawing::WIDTH_AT_LEAST;
pub use error::Error;
pub use findings::{
    CostliestNode, MISESTIMATE_FROM, Measure, Misestimate, dearest, shares, stale_statistics,
    worst_misestimate,
};
pub use flag::Flag;
pub use json::Json;
pub use limits::Limits;
pub use node::{Actual, Condition, Estimate, Fact, Node, Plan};
pub use node_figures::{EstimatedFigures, MeasuredFigures};
pub use operation::{Access, JoinForm, JoinKind, Operation};
pub use trace::{JoinOrder, JoinStep, Outcome, Rejected, Trace, TracedBlock};
pub use traditional::Rows;
