//! The report layouts of the tools that dbdyno stands in for.

pub mod super_smack;
pub mod sysbench;
