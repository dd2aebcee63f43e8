//! The load under which files are measured, as the tables of an experiment.

use std::path::{Path, PathBuf};

use blame::{Blame, Blamed};
use experiment::written;
use toml_edit::{DocumentMut, InlineTable, Item, Table, value};

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
#[derive(Debug)]
pub(crate) struct LoadTables {
    pub(crate) data: Table,
    pub(crate) load: Table,
    /// Whether [`SMACK`] is needed beside the experiment.
    pub(crate) is_bundled_smack: bool,
    /// The load in words.
    pub(crate) in_words: String,
    /// Connections of the load.
    pub(crate) connections: u32,
    /// The name of the metric.
    pub(crate) metric: &'static str,
}

impl LoadTables {
    /// Both tables as text.
    pub(crate) fn text(&self) -> String {
        let mut file = DocumentMut::new();
        file.insert("data", Item::Table(self.data.clone()));
        file.insert("load", Item::Table(self.load.clone()));
        file.to_string()
    }
}

impl LoadOptions {
    /// The tables; an error for a Super Smack file that cannot be found. `shared` data is loaded once for all files.
    pub(crate) fn tables(&self, shared: bool) -> Result<LoadTables, Blamed> {
        let (mut data, mut load) = (Table::new(), Table::new());
        let name = self.workload.write(&mut data, &mut load)?;
        data.insert("restore", value(written::string("per-run")));
        let shared = if shared { "on" } else { "off" };
        data.insert("shared", value(written::string(shared)));
        let connections = written::number(self.connections.into());
        load.insert("connections", value(connections));
        load.insert("warmup", value(written::literal(&self.warmup)));
        load.insert("duration", value(written::literal(&self.duration)));
        Ok(LoadTables {
            data,
            load,
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

impl Workload {
    /// Writes its keys of `[data]` and `[load]`; returns its name.
    fn write(&self, data: &mut Table, load: &mut Table) -> Result<String, Blamed> {
        match self {
            Self::Oltp {
                script,
                tables,
                table_size,
            } => {
                let of_data = InlineTable::from_iter([
                    ("tables", written::number((*tables).into())),
                    ("table_size", written::literal(table_size)),
                ]);
                let of_load = InlineTable::from_iter([("script", written::literal(script))]);
                data.insert("oltp", value(of_data));
                load.insert("oltp", value(of_load));
                Ok(format!("oltp {script}"))
            }
            Self::Tpcc { warehouses } => {
                let of_data = [("warehouses", written::number((*warehouses).into()))];
                let of_load = [
                    ("pacing", written::string("none")),
                    ("check", written::string("off")),
                ];
                data.insert("tpcc", value(InlineTable::from_iter(of_data)));
                load.insert("tpcc", value(InlineTable::from_iter(of_load)));
                Ok(format!("tpcc with {warehouses} warehouses"))
            }
            Self::Smack { file, rows, mix } => {
                let file = smack_file(file.as_deref())?;
                data.insert("smack", value(written::literal(&file)));
                data.insert("rows", value(written::literal(rows)));
                load.insert("smack", value(written::literal(&file)));
                if let Some(mix) = mix {
                    load.insert("mix", value(written::literal(mix)));
                }
                Ok(format!("smack {file}"))
            }
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn text(workload: Workload) -> String {
        let options = LoadOptions {
            workload,
            connections: 8,
            warmup: "2s".to_owned(),
            duration: "5s".to_owned(),
        };
        options.tables(true).unwrap().text()
    }

    #[test]
    fn a_load_is_two_tables_of_an_experiment() {
        let oltp = Workload::Oltp {
            script: "read_{write}".to_owned(),
            tables: 4,
            table_size: "25k".to_owned(),
        };
        assert_eq!(
            text(oltp),
            "[data]\noltp = { tables = 4, table_size = \"25k\" }\nrestore = \"per-run\"\nshared = \"on\"\n\n\
             [load]\noltp = { script = \"read_{{write}}\" }\nconnections = 8\nwarmup = \"2s\"\nduration = \"5s\"\n"
        );
        let tpcc = Workload::Tpcc { warehouses: 1 };
        assert_eq!(
            text(tpcc),
            "[data]\ntpcc = { warehouses = 1 }\nrestore = \"per-run\"\nshared = \"on\"\n\n\
             [load]\ntpcc = { pacing = \"none\", check = \"off\" }\nconnections = 8\nwarmup = \"2s\"\n\
             duration = \"5s\"\n"
        );
        let smack = Workload::Smack {
            file: None,
            rows: "100k".to_owned(),
            mix: Some("1:0".to_owned()),
        };
        assert_eq!(
            text(smack),
            "[data]\nsmack = \"quick.smack\"\nrows = \"100k\"\nrestore = \"per-run\"\nshared = \"on\"\n\n\
             [load]\nsmack = \"quick.smack\"\nmix = \"1:0\"\nconnections = 8\nwarmup = \"2s\"\nduration = \"5s\"\n"
        );
    }
}
