//! The command lines of the tools that dbdyno stands in for.

pub(crate) mod gen_data;
mod my_getopt;
pub(crate) mod mysqlslap;
pub(crate) mod super_smack;
mod tpcc_arguments;
pub(crate) mod tpcc_load;
pub(crate) mod tpcc_start;
