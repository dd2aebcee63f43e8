//! MediaWiki's `page` and `revision` as experiments and `dbdyno wiki` use them.

use std::time::Duration;

use blame::Blamed;
use dataset::{
    KnownTable, Population,
    wiki::{WikiData, WikiPlan, known_tables},
};
use experiment::{DataSpec, LoadSpec};
use protocol::Endpoint;
use runs::{
    Context, DataMaker, DataSet, Destination, LoadResult, PreparedTables, database, disk_bytes,
    population::{self, default_streams},
    refuse_existing,
};

/// The database of the tables, unless another is named.
pub const DATABASE: &str = "wiki";

/// The tables of the tuning contest.
pub struct Wiki;

/// What filling the tables took.
#[derive(Debug, Clone, Copy)]
pub struct Filled {
    /// Rows of both tables.
    pub rows: u64,
    /// Bytes of the rows as text.
    pub bytes: u64,
    /// Until all rows and keys were in.
    pub took: Duration,
}

impl DataMaker for Wiki {
    fn data_options(&self) -> &'static dyn settings::DataKind {
        &WikiData
    }

    fn data_set(&self, data: &DataSpec, _load: &LoadSpec) -> Box<dyn DataSet> {
        Box::new(WikiTables(WikiPlan::of(&data.source.values)))
    }
}

impl PreparedTables for Wiki {
    fn benchmark(&self) -> &'static str {
        "MediaWiki"
    }

    fn known(&self) -> Vec<KnownTable> {
        known_tables()
    }
}

struct WikiTables(WikiPlan);

impl DataSet for WikiTables {
    /// `MediaWiki's page and revision, 1670757 pages`
    fn name(&self) -> String {
        format!("MediaWiki's page and revision, {} pages", self.0.pages)
    }

    fn tables(&self) -> Vec<KnownTable> {
        known_tables()
    }

    fn load(
        &self,
        destination: &Destination<'_>,
        _rows: Option<u64>,
        context: &Context,
    ) -> Result<LoadResult, Blamed> {
        let endpoint = destination.endpoint;
        let filled = fill(endpoint, &self.0, default_streams(), context)?;
        let tables = known_tables();
        Ok(LoadResult {
            rows: filled.rows,
            disk_bytes: disk_bytes(tables.iter().map(|table| table.name.as_str()), endpoint)?,
            took: filled.took,
        })
    }
}

/// Makes the database and its tables and fills them.
pub fn prepare(
    endpoint: &Endpoint,
    plan: &WikiPlan,
    streams: u32,
    context: &Context,
) -> Result<Filled, Blamed> {
    database::create(endpoint)?;
    refuse_existing(&Wiki, "dbdyno wiki cleanup", endpoint)?;
    fill(endpoint, plan, streams, context)
        .map_err(|error| error.hint("dbdyno wiki cleanup removes what was loaded".to_owned()))
}

fn fill(
    endpoint: &Endpoint,
    plan: &WikiPlan,
    streams: u32,
    context: &Context,
) -> Result<Filled, Blamed> {
    let population = Population {
        endpoint: endpoint.clone(),
        tables: plan.tables(),
        streams,
        // The rows are known to be right.
        session: vec!["set unique_checks = 0".to_owned()],
    };
    let what = format!("loading {} pages and their revisions", plan.pages);
    let reached = population::fill(&population, &what, context)?;
    Ok(Filled {
        rows: reached.rows,
        bytes: reached.bytes,
        took: reached.elapsed,
    })
}
