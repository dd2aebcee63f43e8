//! The long rounds: every version, staged limits and faults, hostile servers. `make test-all` runs them.

mod bottlenecks;
mod burst;
mod matrix;
mod published;
mod sabotage;
mod shipped;
mod staging;
