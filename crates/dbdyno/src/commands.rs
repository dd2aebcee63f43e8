//! The commands of dbdyno, one file each.

pub(crate) mod audit;
pub(crate) mod calibrate;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod history;
pub(crate) mod man;
pub(crate) mod null_server;
pub(crate) mod observe;
pub(crate) mod oltp;
pub(crate) mod quick;
pub(crate) mod redo_log_guard;
pub(crate) mod report;
pub(crate) mod rerun;
pub(crate) mod run;
pub(crate) mod server;
pub(crate) mod tables;
pub(crate) mod top;
pub(crate) mod tpcc;
pub(crate) mod tpch;
