//! The program alone: against our own null server, files and recorded results; no test here starts a real server.

mod calibrate;
mod completions;
mod evidence;
mod extremes;
mod faults;
mod files;
mod gen_data;
mod notices;
mod null_server;
mod oltp_ends;
mod report;
mod serve;
pub(crate) mod storage;
mod storage_experiment;
mod truth;
mod until_decided;
mod waits;
