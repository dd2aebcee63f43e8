//! Data of the user's own in the runs of an experiment: tables by SQL.

mod statements;

use std::path::Path;

use experiment::{DataSpec, ServerSpec};
use protocol::Endpoint;
use settings::Values;
use workload::{
    KnownTable,
    own_data::{Schema, SchemaError},
};

use crate::{
    blame::Blamed,
    control::{Purpose, control, number},
    data::{DataSet, Loaded, disk_bytes::disk_bytes},
    exit_code::Blame,
    listener::Context,
};

/// Hint for a statement that a given server is not sent.
const GIVEN: &str = "on a server that dbdyno did not start, only the tables that the file creates are touched; a private \
                     server ([server] run) takes every statement";

/// An error where the data cannot be what its keys say; starts and writes nothing.
pub(super) fn check(data: &DataSpec, server: &ServerSpec) -> Result<(), Blamed> {
    let values = &data.source.values;
    if let Some(path) = values.file("sql") {
        let schema = schema(path)?;
        if matches!(server, ServerSpec::Given { .. }) {
            let allowed = schema.check_for_given_server();
            allowed.map_err(|error| Blamed::new(Blame::Input, error).hint(GIVEN.to_owned()))?;
        }
    }
    Ok(())
}

fn schema(path: &Path) -> Result<Schema, Blamed> {
    Schema::read(path).map_err(|error| {
        let hint = match &error {
            SchemaError::Script(_) => None,
            SchemaError::Empty { .. } => Some("write the CREATE TABLE statements into it"),
            SchemaError::Database { .. } => {
                Some("leave the line out; [server] database names the database on a given server")
            }
        };
        Blamed::new(Blame::Input, &error).hint(hint.map(str::to_owned))
    })
}

/// The tables.
pub(super) struct OwnTables {
    values: Values,
}

impl OwnTables {
    pub(super) fn of(data: &DataSpec) -> Self {
        Self {
            values: data.source.values.clone(),
        }
    }
}

impl DataSet for OwnTables {
    /// `the tables of schema.sql`
    fn name(&self) -> String {
        let sql = self.values.file("sql").and_then(Path::file_name);
        format!(
            "the tables of {}",
            sql.unwrap_or_default().to_string_lossy()
        )
    }

    /// Those that its statements create; a file that has become unreadable since it was checked fails in the load.
    fn tables(&self) -> Vec<KnownTable> {
        let schema = self.values.file("sql").map(Schema::read);
        match schema {
            Some(Ok(schema)) => schema.tables().to_vec(),
            _ => Vec::new(),
        }
    }

    fn load(
        &self,
        endpoint: &Endpoint,
        _rows: Option<u64>,
        context: &Context,
    ) -> Result<Loaded, Blamed> {
        let begin = reactor::system_now();
        drop_tables(endpoint, &self.tables())?;
        if let Some(path) = self.values.file("sql") {
            statements::execute(&schema(path)?, endpoint, context)?;
        }
        let took = reactor::system_now() - begin;
        let names = base_tables(endpoint, &self.tables())?;
        Ok(Loaded {
            rows: rows(endpoint, &names)?,
            disk_bytes: if names.is_empty() {
                None
            } else {
                disk_bytes(names.iter().map(String::as_str), endpoint)?
            },
            took,
        })
    }
}

/// Drops those of the tables that are there: all are ones that dbdyno made before.
fn drop_tables(endpoint: &Endpoint, tables: &[KnownTable]) -> Result<(), Blamed> {
    if tables.is_empty() {
        return Ok(());
    }
    let names = tables.iter().map(|table| backticked(&table.name));
    let names: Vec<String> = names.collect();
    let sql = format!("drop table if exists {}", names.join(", "));
    Purpose::Change.control(endpoint, async |connection| {
        connection.query(b"set foreign_key_checks = 0").await?;
        connection.query(sql.as_bytes()).await.map(drop)
    })
}

/// Those of the tables that are in the database, as it spells them.
fn base_tables(endpoint: &Endpoint, own: &[KnownTable]) -> Result<Vec<String>, Blamed> {
    let sql = "select table_name from information_schema.tables \
               where table_schema = database() and table_type = 'BASE TABLE'";
    let sets = control(endpoint, async |connection| connection.rows(sql).await)?;
    let rows = sets.into_iter().flat_map(|set| set.rows);
    let names = rows.filter_map(|row| row.into_iter().next()?);
    let names = names.map(|name| String::from_utf8_lossy(&name).into_owned());
    let is_own = |name: &String| own.iter().any(|own| own.name.eq_ignore_ascii_case(name));
    Ok(names.filter(is_own).collect())
}

fn rows(endpoint: &Endpoint, tables: &[String]) -> Result<u64, Blamed> {
    Purpose::Work.control(endpoint, async |connection| {
        let mut rows = 0;
        for table in tables {
            let sql = format!("select count(*) from {}", backticked(table));
            rows += number(connection, &sql).await?.unwrap_or(0);
        }
        Ok(rows)
    })
}

/// A name as SQL has it.
fn backticked(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}
