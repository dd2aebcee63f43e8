//! What a user can set: typed options with their units and defaults, and the plain values of a load.
//!
//! The crate opens no socket and no file and reads no clock: the experiment file, the command lines and the benchmarks
//! share its words.

pub mod quantity;
