//! The connection for all work around the clients: schema, tables, keys, queries before and after.

use benchmarks::slap::{Engine, Keys, Statement, TableStatement};
use blame::{Blame, Blamed};
use protocol::{Compression, Connection, Endpoint, Outcome};
use runs::{Purpose, quoted, refuse_if_interrupted, wait};

use crate::front_doors::mysqlslap::{settings::Settings, specs::Dialect};

/// Message before tables are created.
const LOADING: &str = "Loading Pre-data";

/// The main connection, with the known state of the schema.
pub(super) struct MainConnection<'s> {
    settings: &'s Settings,
    endpoint: &'s Endpoint,
    connection: Connection,
    schema: Schema,
}

/// Owner of the schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Schema {
    /// Not checked yet.
    Unknown,
    /// Created here, or released by `--yes-drop`.
    Ours,
    /// It existed before, and is not dropped.
    Theirs,
}

impl<'s> MainConnection<'s> {
    pub(super) fn open(settings: &'s Settings, endpoint: &'s Endpoint) -> Result<Self, Blamed> {
        let opened = wait(async {
            let limit = Purpose::Work.limit();
            let mut connection = Connection::open_within(endpoint, limit).await?;
            for sql in &settings.on_connect {
                connection.query(sql.as_bytes()).await?;
            }
            Ok(connection)
        });
        let connection =
            opened?.map_err(|error: protocol::Error| error.blamed(&endpoint.address))?;
        if endpoint.compression != Compression::Off && !connection.compressed() {
            eprintln!(
                "warning: {}: nothing is compressed: the server does not support it",
                settings.program
            );
        }
        Ok(Self {
            settings,
            endpoint,
            connection,
            schema: Schema::Unknown,
        })
    }

    /// Creates the schema with its tables again; a no-op if the test has no tables of its own.
    pub(super) fn make(&mut self, engine: Option<&Engine>) -> Result<(), Blamed> {
        if !self.settings.makes_schema() {
            return Ok(());
        }
        self.make_schema()?;
        self.query(format!("use `{}`", self.settings.schema).as_bytes())?
            .map_err(|error| error.blamed(&self.endpoint.address))?;
        let dialect = self.settings.dialect;
        if let Some(sql) = engine.and_then(|engine| set_engine(dialect, engine)) {
            self.run(&sql)?;
        }
        let settings = self.settings;
        let suffix = settings.create_suffix(engine);
        for statement in settings.tables.table_statements(&suffix) {
            match statement {
                TableStatement::Own(sql) => {
                    refuse_if_interrupted()?;
                    self.run_bytes(&sql)?;
                }
                TableStatement::Transaction(sql) => self.ask(sql)?,
            }
        }
        Ok(())
    }

    fn make_schema(&mut self) -> Result<(), Blamed> {
        let settings = self.settings;
        let name = &settings.schema;
        if self.schema == Schema::Unknown {
            let tables = self.tables()?;
            self.schema = match tables {
                Some(_) if settings.no_drop => Schema::Theirs,
                Some(tables) if !settings.yes_drop => {
                    let message = format!(
                        "{}: schema `{name}` already exists, with {tables} tables, and {} would drop it",
                        settings.program, settings.program
                    );
                    return Err(Blamed::new(Blame::Input, message).hint(
                        "--yes-drop drops it, --no-drop uses and keeps it, --create-schema=NAME names another"
                            .to_owned(),
                    ));
                }
                _ => Schema::Ours,
            };
        }
        match self.schema {
            Schema::Theirs => {
                settings.say(LOADING);
                Ok(())
            }
            Schema::Unknown | Schema::Ours => {
                self.run(&drop_schema(name))?;
                settings.say(LOADING);
                let sql = create_schema(name);
                // The originals print it a second time when they select it.
                self.echo(sql.as_bytes());
                self.echo(sql.as_bytes());
                self.query(sql.as_bytes())?.map(drop).map_err(|error| {
                    let message = format!(
                        "{}: Cannot create schema {name} : {error}",
                        settings.program
                    );
                    Blamed::new(Blame::Server, message)
                })
            }
        }
    }

    /// Number of tables in the schema; `None` if the schema does not exist.
    fn tables(&mut self) -> Result<Option<u64>, Blamed> {
        let name = quoted(&self.settings.schema);
        let sql = format!(
            "SELECT (SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = {name}) \
             FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = {name}"
        );
        Ok(self
            .column(&sql)?
            .first()
            .map(|count| number_of(count).unwrap_or(0)))
    }

    /// Drops the schema if it was created here and is not to be kept.
    pub(super) fn drop_schema(&mut self) -> Result<(), Blamed> {
        if self.schema == Schema::Ours && !self.settings.no_drop {
            self.run(&drop_schema(&self.settings.schema))?;
        }
        Ok(())
    }

    /// The keys of a generated table.
    pub(super) fn keys(&mut self) -> Result<Keys, Blamed> {
        if !self.settings.reads_keys {
            return Ok(Keys::List(Vec::new()));
        }
        let keys = self.on(async |connection| Keys::read(connection).await)?;
        keys.map_err(|error| error.blamed(&self.endpoint.address))
    }

    /// Runs the statements of `--pre-query` or `--post-query`.
    pub(super) fn run_all(&mut self, statements: &[Statement]) -> Result<(), Blamed> {
        statements.iter().try_for_each(|statement| {
            refuse_if_interrupted()?;
            self.run_bytes(statement.sql())
        })
    }

    fn run(&mut self, sql: &str) -> Result<(), Blamed> {
        self.run_bytes(sql.as_bytes())
    }

    fn run_bytes(&mut self, sql: &[u8]) -> Result<(), Blamed> {
        self.echo(sql);
        self.query(sql)?.map(drop).map_err(|error| {
            let sql = String::from_utf8_lossy(sql);
            let message = format!(
                "{}: Cannot run query {sql} ERROR : {error}",
                self.settings.program
            );
            Blamed::new(Blame::Server, message)
        })
    }

    /// Executes a statement that mysqlslap does not have.
    fn ask(&mut self, sql: &str) -> Result<(), Blamed> {
        let asked = self.query(sql.as_bytes())?.map(drop);
        asked.map_err(|error| Blamed::new(Blame::Server, format!("{sql}: {error}")))
    }

    fn echo(&self, sql: &[u8]) {
        if self.settings.verbose >= 3 {
            println!("{};", String::from_utf8_lossy(sql));
        }
    }

    fn query(&mut self, sql: &[u8]) -> Result<Result<Outcome, protocol::Error>, Blamed> {
        self.on(async |connection| connection.query(sql).await)
    }

    /// The first column of a result, without NULL values.
    fn column(&mut self, sql: &str) -> Result<Vec<Vec<u8>>, Blamed> {
        let sets = self.on(async |connection| connection.rows(sql).await)?;
        let sets = sets.map_err(|error| error.blamed(&self.endpoint.address))?;
        let rows = sets.into_iter().flat_map(|set| set.rows);
        Ok(rows.filter_map(|row| row.into_iter().next()?).collect())
    }

    fn on<T>(
        &mut self,
        what: impl AsyncFnOnce(&mut Connection) -> Result<T, protocol::Error>,
    ) -> Result<Result<T, protocol::Error>, Blamed> {
        let connection = &mut self.connection;
        wait(async { what(connection).await })
    }
}

fn number_of(text: impl AsRef<[u8]>) -> Option<u64> {
    std::str::from_utf8(text.as_ref()).ok()?.parse().ok()
}

pub(super) fn drop_schema(schema: &str) -> String {
    format!("DROP SCHEMA IF EXISTS `{schema}`")
}

pub(super) fn create_schema(schema: &str) -> String {
    format!("CREATE SCHEMA `{schema}`")
}

/// The statement that sets the default engine; `None` if the first statement that creates a table names the engine.
pub(super) fn set_engine(dialect: Dialect, engine: &Engine) -> Option<String> {
    match dialect {
        Dialect::MySql => Some(engine.set()),
        Dialect::MariaDb => None,
    }
}
