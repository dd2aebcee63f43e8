//! The report layouts of the tools that dbdyno replaces.

pub mod mysqlslap;
pub mod super_smack;
pub mod sysbench;
pub mod tpcc;
pub mod tpcc_mysql;
