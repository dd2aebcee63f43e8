//! What do these results say: compares executions of an experiment's combinations with a baseline's, and names what
//! limited a run.
//!
//! The unit is the execution, never a second within one: two runs of the same thing differ by more than the seconds of
//! one run tell. A verdict is faster, slower, equivalent within a stated margin, or inconclusive, and then it says how
//! many executions would decide.

mod answer;
mod bottleneck;
mod metric;
mod question;
mod sentence;

pub use answer::{Answer, Decision, answers};
pub use bottleneck::{Bottleneck, Finding, Resource, bottleneck};
pub use metric::Metric;
pub use question::Question;
pub use sentence::sentence;
