//! The load under which a file is tried, as the tables of an experiment.

use std::path::PathBuf;

use blame::{Blame, Blamed};
use experiment::written;

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
    #[arg(long, value_name = "N", default_value_t = 8)]
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

/// The load of `--workload smack` without a file.
pub(super) const SMACK: &str = include_str!("../../../../../../experiments/smacks/quick.smack");
/// Its name beside the experiment.
pub(super) const SMACK_NAME: &str = "quick.smack";

/// A load as an experiment has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Workload {
    /// The tables `[data]` and `[load]`.
    pub(super) toml: String,
    /// The load in words.
    pub(super) in_words: String,
    /// Connections of the load.
    pub(super) connections: u32,
    /// The name of the metric.
    pub(super) metric: &'static str,
}

impl WorkloadArgs {
    /// The load; an error for a Super Smack file that cannot be found.
    pub(super) fn workload(&self, shared: bool) -> Result<Workload, Blamed> {
        let (data, load, name) = match self.workload {
            Kind::Oltp => (
                format!(
                    "oltp = {{ tables = {}, table_size = {} }}",
                    self.tables,
                    written::literal(&self.table_size)
                ),
                format!("oltp = {{ script = {} }}", written::literal(&self.script)),
                format!("oltp {}", self.script),
            ),
            Kind::Tpcc => (
                format!("tpcc = {{ warehouses = {} }}", self.warehouses),
                "tpcc = { pacing = \"none\", check = \"off\" }".to_owned(),
                format!("tpcc with {} warehouses", self.warehouses),
            ),
            Kind::Smack => {
                let file = self.smack_file()?;
                let mix = self
                    .mix
                    .iter()
                    .map(|mix| format!("\nmix = {}", written::literal(mix)));
                (
                    format!(
                        "smack = {}\nrows = {}",
                        written::literal(&file),
                        written::literal(&self.rows)
                    ),
                    format!(
                        "smack = {}{}",
                        written::literal(&file),
                        mix.collect::<String>()
                    ),
                    format!("smack {file}"),
                )
            }
        };
        let shared = if shared { "on" } else { "off" };
        Ok(Workload {
            toml: format!(
                "[data]\n{data}\nrestore = \"per-run\"\nshared = \"{shared}\"\n\n[load]\n{load}\nconnections = {}\n\
                 warmup = {}\nduration = {}\n",
                self.connections,
                written::literal(&self.warmup),
                written::literal(&self.duration)
            ),
            connections: self.connections,
            in_words: format!("{name}, {} connections", self.connections),
            metric: match self.workload {
                Kind::Tpcc => "new_orders_per_min",
                Kind::Oltp | Kind::Smack => "throughput",
            },
        })
    }

    /// The path of the Super Smack file, which must not depend on the directory of the experiment.
    fn smack_file(&self) -> Result<String, Blamed> {
        let Some(file) = &self.smack else {
            return Ok(SMACK_NAME.to_owned());
        };
        let whole = file
            .canonicalize()
            .map_err(Blamed::io(Blame::Input, file))?;
        Ok(whole.display().to_string())
    }
}
