//! The program alone: against our own null server, files and recorded results; no test here starts a real server.

mod calibrate;
mod compare;
mod completions;
mod evidence;
mod extremes;
mod faults;
mod files;
mod gen_data;
mod handed_over;
mod history;
mod how_to;
mod notices;
mod null_server;
mod oltp_ends;
mod own_data;
mod own_dump;
mod prepared;
mod report;
pub(crate) mod serve;
mod shipped;
pub(crate) mod storage;
mod storage_experiment;
mod truth;
mod until_decided;
mod waits;
mod warm_up;
mod wiki;
