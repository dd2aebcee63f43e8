//! sysbench's tables: made, filled, and found again.

use std::thread;

use blame::Blamed;
use dataset::{KnownTable, PopulateEvent, Population, Progress};
use protocol::Endpoint;
use runs::{
    Context, DataSet, Destination, Loaded, PreparedTables, Purpose, disk_bytes,
    population::{default_streams, fill_and_tell},
};

use crate::oltp::{
    script::Script,
    settings::Settings,
    table::{drop_statement, expected_tables, known_tables, tables},
};

/// Connections that fill tables: one for each CPU keeps the server busy, more wait for each other.
const STREAMS_MIN: usize = 2;
const STREAMS_MAX: usize = 16;

/// Number of connections that fill tables: those of the load, at least one for each CPU.
pub fn streams(connections: u32) -> u32 {
    let cpus = thread::available_parallelism().map_or(STREAMS_MIN, usize::from);
    connections.max(cpus.min(STREAMS_MAX) as u32)
}

pub struct OltpTables {
    /// The workload.
    pub script: Script,
    pub settings: Settings,
}

impl OltpTables {
    pub fn count(&self) -> u32 {
        match self.script {
            Script::BulkInsert => self.settings.connections,
            _ => self.settings.tables,
        }
    }

    /// Rows that `prepare` gives each of them.
    pub fn rows_each(&self) -> u64 {
        let expected = expected_tables(self.script, &self.settings);
        expected.first().map_or(0, |table| table.rows)
    }

    /// BLACKHOLE keeps no row.
    pub fn keep_rows(&self) -> bool {
        !self.settings.engine.eq_ignore_ascii_case("blackhole")
    }

    /// Makes and fills them over a number of connections; `also` hears of every event.
    pub fn prepare(
        &self,
        endpoint: &Endpoint,
        streams: u32,
        context: &Context,
        also: &mut dyn FnMut(&PopulateEvent),
    ) -> Result<Progress, Blamed> {
        let tables = tables(self.script, &self.settings);
        let rows = tables.iter().filter_map(|table| table.rows.as_ref());
        let rows: u64 = rows.map(|rows| rows.units()).sum();
        let population = Population {
            endpoint: endpoint.clone(),
            streams,
            tables,
            session: vec!["SET foreign_key_checks=0".to_owned()],
        };
        let what = format!("loading {rows} rows");
        fill_and_tell(&population, &what, context, also)
    }
}

impl PreparedTables for OltpTables {
    fn benchmark(&self) -> &'static str {
        "sysbench"
    }

    fn known(&self) -> Vec<KnownTable> {
        known_tables(self.count())
    }
}

impl DataSet for OltpTables {
    /// `sysbench's 4 tables of 250000 rows`
    fn name(&self) -> String {
        let (count, rows) = (self.count(), self.settings.table_size);
        let plural = if count == 1 { "" } else { "s" };
        format!("sysbench's {count} table{plural} of {rows} rows")
    }

    fn tables(&self) -> Vec<KnownTable> {
        self.known()
    }

    fn load(
        &self,
        destination: &Destination<'_>,
        _rows: Option<u64>,
        context: &Context,
    ) -> Result<Loaded, Blamed> {
        let endpoint = destination.endpoint;
        Purpose::Change.control(endpoint, async |connection| {
            for number in 1..=self.count() {
                connection.query(drop_statement(number).as_bytes()).await?;
            }
            Ok(())
        })?;
        let loaded = self.prepare(endpoint, default_streams(), context, &mut |_| {})?;
        let names = self.known();
        Ok(Loaded {
            rows: loaded.rows,
            disk_bytes: disk_bytes(names.iter().map(|table| table.name.as_str()), endpoint)?,
            took: loaded.elapsed,
        })
    }
}
