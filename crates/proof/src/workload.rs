//! The load under which files are measured, as the tables of an experiment.

use std::path::{Path, PathBuf};

use blame::{Blame, Blamed};
use experiment::written;

/// The load and its data.
#[derive(Debug)]
pub struct LoadOptions {
    /// The kind of load.
    pub workload: Workload,
    /// Number of connections.
    pub connections: u32,
    /// Warm-up before each measurement, as an experiment has it.
    pub warmup: String,
    /// Length of each measurement, as an experiment has it.
    pub duration: String,
}

/// The kinds of load, each with the size of its data.
#[derive(Debug)]
pub enum Workload {
    /// One of sysbench's OLTP workloads.
    Oltp {
        /// Its name.
        script: String,
        /// Number of tables.
        tables: u32,
        /// Rows of each table, as an experiment has them.
        table_size: String,
    },
    /// TPC-C's transactions.
    Tpcc {
        /// Number of warehouses.
        warehouses: u32,
    },
    /// A Super Smack file.
    Smack {
        /// The file; `None` for point selects by primary key.
        file: Option<PathBuf>,
        /// Rows of each table, as an experiment has them.
        rows: String,
        /// How often a client executes each of its queries; `None` for the numbers in the file.
        mix: Option<String>,
    },
}

/// The load of [`Workload::Smack`] without a file.
pub(crate) const SMACK: &str = include_str!("../../../experiments/smacks/quick.smack");
/// Its name beside the experiment.
pub(crate) const SMACK_NAME: &str = "quick.smack";

/// A load as an experiment has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LoadTables {
    /// The tables `[data]` and `[load]`.
    pub(crate) toml: String,
    /// Whether [`SMACK`] is needed beside the experiment.
    pub(crate) is_bundled_smack: bool,
    /// The load in words.
    pub(crate) in_words: String,
    /// Connections of the load.
    pub(crate) connections: u32,
    /// The name of the metric.
    pub(crate) metric: &'static str,
}

impl LoadOptions {
    /// The tables; an error for a Super Smack file that cannot be found. `shared` data is loaded once for all files.
    pub(crate) fn tables(&self, shared: bool) -> Result<LoadTables, Blamed> {
        let (data, load, name) = match &self.workload {
            Workload::Oltp {
                script,
                tables,
                table_size,
            } => (
                format!(
                    "oltp = {{ tables = {tables}, table_size = {} }}",
                    written::literal(table_size)
                ),
                format!("oltp = {{ script = {} }}", written::literal(script)),
                format!("oltp {script}"),
            ),
            Workload::Tpcc { warehouses } => (
                format!("tpcc = {{ warehouses = {warehouses} }}"),
                "tpcc = { pacing = \"none\", check = \"off\" }".to_owned(),
                format!("tpcc with {warehouses} warehouses"),
            ),
            Workload::Smack { file, rows, mix } => {
                let file = smack_file(file.as_deref())?;
                let mix = mix
                    .iter()
                    .map(|mix| format!("\nmix = {}", written::literal(mix)));
                (
                    format!(
                        "smack = {}\nrows = {}",
                        written::literal(&file),
                        written::literal(rows)
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
        Ok(LoadTables {
            toml: format!(
                "[data]\n{data}\nrestore = \"per-run\"\nshared = \"{shared}\"\n\n[load]\n{load}\nconnections = {}\n\
                 warmup = {}\nduration = {}\n",
                self.connections,
                written::literal(&self.warmup),
                written::literal(&self.duration)
            ),
            is_bundled_smack: matches!(self.workload, Workload::Smack { file: None, .. }),
            connections: self.connections,
            in_words: format!("{name}, {} connections", self.connections),
            metric: match self.workload {
                Workload::Tpcc { .. } => "new_orders_per_min",
                Workload::Oltp { .. } | Workload::Smack { .. } => "throughput",
            },
        })
    }
}

/// The path of a Super Smack file, which must not depend on the directory of the experiment.
fn smack_file(file: Option<&Path>) -> Result<String, Blamed> {
    let Some(file) = file else {
        return Ok(SMACK_NAME.to_owned());
    };
    let whole = file
        .canonicalize()
        .map_err(Blamed::io(Blame::Input, file))?;
    Ok(whole.display().to_string())
}
