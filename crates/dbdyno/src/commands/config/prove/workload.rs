//! The options of the load under which a file is tried.

use std::path::PathBuf;

use proof::{LoadOptions, Workload};

/// The load and its data.
#[derive(Debug, clap::Args)]
pub(super) struct WorkloadArgs {
    /// Load under which the lines are measured
    #[arg(long, value_enum, default_value_t = Kind::Oltp)]
    workload: Kind,
    /// With --workload oltp: name of the sysbench workload
    #[arg(long, value_name = "NAME", default_value = "read_write")]
    script: String,
    /// With --workload oltp: number of tables
    #[arg(long, value_name = "N", default_value_t = 4)]
    tables: u32,
    /// With --workload oltp: number of rows in each table
    #[arg(long, value_name = "ROWS", default_value = "25k")]
    table_size: String,
    /// With --workload tpcc: number of warehouses, about 100 MB each
    #[arg(long, value_name = "N", default_value_t = 1)]
    warehouses: u32,
    /// With --workload smack: the .smack file [default: a file with point selects by primary key]
    #[arg(long, value_name = "FILE")]
    smack: Option<PathBuf>,
    /// With --workload smack: number of rows in each table
    #[arg(long, value_name = "ROWS", default_value = "100k")]
    rows: String,
    /// With --workload smack: number of times that a client executes each of its queries, in the order of the file
    /// [default: the numbers in the file]
    #[arg(long, value_name = "N:N")]
    mix: Option<String>,
    /// Number of connections
    #[arg(long, short, value_name = "N", default_value_t = 8)]
    connections: u32,
    /// Unmeasured warm-up at the start of each run: a duration, or auto to wait until the throughput is steady
    #[arg(long, value_name = "TIME", default_value = "2s")]
    warmup: String,
    /// Length of the measurement in each run, such as 10s or 1m
    #[arg(long, value_name = "TIME", default_value = "5s")]
    duration: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Kind {
    /// One of sysbench's OLTP workloads
    Oltp,
    /// TPC-C's transactions
    Tpcc,
    /// A Super Smack file
    Smack,
}

impl WorkloadArgs {
    /// The load, with the options of the chosen kind.
    pub(super) fn options(&self) -> LoadOptions {
        LoadOptions {
            workload: match self.workload {
                Kind::Oltp => Workload::Oltp {
                    script: self.script.clone(),
                    tables: self.tables,
                    table_size: self.table_size.clone(),
                },
                Kind::Tpcc => Workload::Tpcc {
                    warehouses: self.warehouses,
                },
                Kind::Smack => Workload::Smack {
                    file: self.smack.clone(),
                    rows: self.rows.clone(),
                    mix: self.mix.clone(),
                },
            },
            connections: self.connections,
            warmup: self.warmup.clone(),
            duration: self.duration.clone(),
        }
    }
}
