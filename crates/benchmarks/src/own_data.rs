//! Data of the user's own in the runs of an experiment: dumps, tables by SQL, rows of CSV files, rows by rules.

mod csv_files;
mod dump;
mod generated;
mod statements;
mod table_infos;

use std::{
    cell::OnceCell,
    hash::{DefaultHasher, Hash, Hasher},
    path::Path,
};

use blame::{Blame, Blamed};
use dataset::{
    KnownTable,
    own_data::{
        CsvFile, Schema, SchemaError,
        generate::{TableSpec, create_statements, table_specs},
    },
};
use experiment::{DataSpec, ServerSpec};
use protocol::Endpoint;
use runs::{Context, DataSet, Destination, LoadResult, Purpose, backticked, database};
use settings::Values;

/// Hint for a statement that a given server is not sent.
const GIVEN: &str = "on a server that dbdyno did not start, statements may only change tables that the file \
     creates; a private server ([server] run) accepts every statement";

/// An error where the data cannot be what its keys say; starts and writes nothing.
pub(super) fn check(data: &DataSpec, server: &ServerSpec) -> Result<(), Blamed> {
    let values = &data.source.values;
    if let Some(path) = values.data_file("dump") {
        dump::files(path)?;
    }
    if let Some(path) = values.file("sql") {
        let schema = schema(path)?;
        for spec in specs(values) {
            require(&schema, &spec.name, "generate", path)?;
        }
        for (table, file) in values.named_data_files("csv").into_iter().flatten() {
            require(&schema, table, "csv", path)?;
            CsvFile::header(file).map_err(csv_files::wrong)?;
        }
        if matches!(server, ServerSpec::Given { .. }) {
            check_for_given_server(&schema)?;
        }
    }
    Ok(())
}

fn check_for_given_server(schema: &Schema) -> Result<(), Blamed> {
    let allowed = schema.check_for_given_server();
    allowed.map_err(|error| Blamed::new(Blame::Input, error).hint(GIVEN.to_owned()))
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

/// An error where a schema does not create a table that a key fills.
fn require(schema: &Schema, table: &str, key: &str, path: &Path) -> Result<(), Blamed> {
    if schema.tables().iter().any(|it| it.name == table) {
        return Ok(());
    }
    let message = format!("{key}: table {table} is not created by {}", path.display());
    let names = schema.tables().iter().map(|table| table.name.as_str());
    let names: Vec<&str> = names.collect();
    let hint = format!("its tables are {}", names.join(", "));
    Err(Blamed::new(Blame::Input, message).hint(hint))
}

/// The tables of `generate`.
fn specs(values: &Values) -> Vec<TableSpec> {
    let specs = values.tables("generate").map(table_specs);
    specs.map_or(Vec::new(), |specs| {
        specs.expect("the experiment has checked the rules")
    })
}

/// The CREATE TABLEs of the tables of `generate`, where no schema makes them.
fn creates(values: &Values) -> Vec<(String, String)> {
    let specs = specs(values);
    if values.file("sql").is_some() || specs.is_empty() {
        return Vec::new();
    }
    create_statements(&specs).expect("the experiment has checked the rules")
}

pub(super) struct OwnTables {
    values: Values,
    seed: u64,
    /// The statements of `sql`, read once: those that are checked are those that are executed.
    schema: OnceCell<Schema>,
}

impl OwnTables {
    pub(super) fn of(data: &DataSpec) -> Self {
        Self {
            values: data.source.values.clone(),
            seed: data.seed,
            schema: OnceCell::new(),
        }
    }

    /// The statements of `sql`; `None` without the key.
    fn schema(&self) -> Result<Option<&Schema>, Blamed> {
        let Some(path) = self.values.file("sql") else {
            return Ok(None);
        };
        if let Some(read) = self.schema.get() {
            return Ok(Some(read));
        }
        let read = schema(path)?;
        Ok(Some(self.schema.get_or_init(|| read)))
    }
}

impl DataSet for OwnTables {
    /// `the tables of schema.sql, 1000 generated rows (seed 1)`
    fn name(&self) -> String {
        let sql = self.values.file("sql").and_then(Path::file_name);
        let sql = sql.map(|name| format!("the tables of {}", name.to_string_lossy()));
        let files = self.values.named_data_files("csv").into_iter().flatten();
        let files: Vec<String> = files
            .filter_map(|(_, file)| Some(file.file_name()?.to_string_lossy().into_owned()))
            .collect();
        let files = (!files.is_empty()).then(|| files.join(", "));
        let rows: u64 = specs(&self.values).iter().map(|spec| spec.rows).sum();
        let generated = (rows > 0).then(|| format!("{rows} generated rows (seed {})", self.seed));
        let dump = self.values.data_file("dump").and_then(Path::file_name);
        let dump = dump.map(|name| format!("the dump {}", name.to_string_lossy()));
        let parts = [dump, sql, files, generated];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        parts.join(", ")
    }

    /// Those that its statements create; a file that has become unreadable since it was checked fails in the load.
    fn tables(&self) -> Vec<KnownTable> {
        match self.schema() {
            Ok(Some(schema)) => schema.tables().to_vec(),
            Err(_) => Vec::new(),
            Ok(None) => {
                let creates = creates(&self.values).into_iter();
                let known =
                    creates.map(|(name, sql)| KnownTable::created_by(&name, sql.as_bytes()));
                known.collect()
            }
        }
    }

    fn check_for_given_server(&self) -> Result<u64, Blamed> {
        let mut hasher = DefaultHasher::new();
        if let Some(schema) = self.schema()? {
            check_for_given_server(schema)?;
            for statement in &schema.statements {
                statement.text().hash(&mut hasher);
            }
        }
        Ok(hasher.finish())
    }

    /// Otherwise a LOAD DATA into a table with AUTO_INCREMENT would hold the lock of its counter to its end, as if it
    /// drew numbers whose count is unknown, and those of several connections would wait for each other. MySQL 8 has it.
    fn settings_of_load(&self) -> &'static [(&'static str, &'static str)] {
        &[("innodb_autoinc_lock_mode", "2")]
    }

    fn load(
        &self,
        destination: &Destination<'_>,
        _rows: Option<u64>,
        context: &Context,
    ) -> Result<LoadResult, Blamed> {
        let endpoint = destination.endpoint;
        let begin = reactor::system_now();
        let files = self.values.named_data_files("csv");
        let files = csv_files::check(files, context)?;
        drop_tables(endpoint, &self.tables())?;
        if let Some(schema) = self.schema()? {
            statements::execute(schema, endpoint, context)?;
        }
        Purpose::Change.control(endpoint, async |connection| {
            for (_, sql) in creates(&self.values) {
                connection.query(sql.as_bytes()).await?;
            }
            Ok(())
        })?;
        if let Some(path) = self.values.data_file("dump") {
            let as_lines = self.values.text("dump_as") == Some("lines");
            dump::load(path, as_lines, destination, context)?;
        }
        csv_files::load(files, endpoint, context)?;
        let specs = specs(&self.values);
        if !specs.is_empty() {
            generated::load(&specs, self.seed, endpoint, context)?;
        }
        let took = reactor::system_now() - begin;
        let mut tables = database::base_tables(endpoint)?;
        let own = self.tables();
        // Of a dump, everything in the database is.
        let is_own = |name: &String| {
            own.is_empty() || own.iter().any(|own| own.name.eq_ignore_ascii_case(name))
        };
        tables.retain(is_own);
        database::loaded(endpoint, &tables, took)
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
