//! mysqlslap's tables and clients in the runs of an experiment.

use std::sync::Arc;

use blame::{Blame, Blamed};
use dataset::{KnownTable, own_session::open_settled};
use experiment::{DataSpec, LoadSpec, PlannedLoad, PlannedRun};
use load::{Group, LoadListener, Outcome};
use protocol::Connection;
use runs::{
    Benchmark, Context, DataMaker, DataSet, Destination, Driver, Length, LoadResult, OnServer,
    Purpose, Stage, Work, control, database, wait,
};
use settings::{OptionTable, Value, Values, defaults};
use sqltext::refuse_foreign_text;

use crate::slap::{
    generator::{Generated, Generator},
    options::{SlapData, SlapLoad},
    plan::{Keys, Plan, Planned},
    script::{Script, Statement},
    tables::{Engine, Tables},
    user::SlapUser,
};

/// Longest file of statements.
pub const STATEMENTS_BYTES_MAX: u64 = 256 << 20;
/// The database that mysqlslap uses.
const DATABASE: &str = "mysqlslap";
/// The table that is made up.
const TABLE: &str = "t1";

/// mysqlslap.
pub(crate) struct Slap;

impl Benchmark for Slap {
    fn on_server(&self) -> Option<&dyn OnServer> {
        Some(self)
    }

    fn load_options(&self) -> &'static dyn settings::LoadKind {
        &SlapLoad
    }

    fn check(&self, run: &PlannedRun) -> Result<(), Blamed> {
        let data = run.data.iter().map(|data| &data.source);
        let data = data.filter(|source| source.name() == SlapData.name());
        let data: Vec<&Values> = data.map(|source| &source.values).collect();
        for values in &data {
            own_statements(values, "create")?;
        }
        for load in run.loads_of(SlapLoad.name()) {
            let values = &load.spec.source.values;
            own_statements(values, "query")?;
            for data in data.iter().filter(|_| values.flag("auto_generate_sql")) {
                let fits = generator(data, values).fits_in_memory();
                fits.map_err(|error| Blamed::new(Blame::Input, error))?;
            }
        }
        Ok(())
    }

    fn work(
        &self,
        run: &PlannedRun,
        load: &PlannedLoad,
        stage: &mut Stage,
        _context: &Context,
    ) -> Result<Box<dyn Work>, Blamed> {
        let values = &load.spec.source.values;
        let data = run.data.iter().map(|data| &data.source);
        let mut data = data.filter(|source| source.name() == SlapData.name());
        let data = data.next().map(|source| &source.values);
        let statements = match data {
            Some(data) if values.flag("auto_generate_sql") => {
                generator(data, values).generate().queries
            }
            _ => own_statements(values, "query")?,
        };
        let keys = match statements.iter().any(Statement::takes_a_key) {
            // Of a server that does nothing there is nothing to read.
            true if stage.is_simulated => Keys::Range { first: 1, count: 1 },
            true => control(stage.server(), async |connection| {
                Keys::read(connection).await
            })?,
            false => Keys::List(Vec::new()),
        };
        let (per_client, one_more) = share(values, load.spec.connections);
        let plan = Plan::new(Planned {
            statements,
            keys,
            per_client,
            one_more,
            commit_every: values.count("commit").unwrap_or_default(),
            reconnect_every: values.count("detach").unwrap_or_default(),
            on_connect: Vec::new(),
            seed: load.seed,
            echo: None,
        });
        Ok(Box::new(Clients::new(DATABASE, Arc::new(plan))))
    }
}

impl OnServer for Slap {
    fn name(&self, _load: &LoadSpec) -> Result<String, Blamed> {
        Ok(DATABASE.to_owned())
    }

    fn data_maker(&self) -> Option<&dyn DataMaker> {
        Some(self)
    }
}

impl DataMaker for Slap {
    fn data_options(&self) -> &'static dyn settings::DataKind {
        &SlapData
    }

    fn data_set(&self, data: &DataSpec, _load: &LoadSpec) -> Box<dyn DataSet> {
        Box::new(SlapTables(data.source.values.clone()))
    }
}

/// Statements of each client, and the number of clients that run one more; `None` if the time ends them.
fn share(values: &Values, clients: u32) -> (Option<u64>, u32) {
    let each = values.count("auto_generate_sql_execute_number");
    match values.count("number_of_queries") {
        Some(together) => {
            let clients = u64::from(clients);
            let left = u32::try_from(together % clients);
            (
                Some(together / clients),
                left.expect("it is below the number of clients"),
            )
        }
        None => (each, 0),
    }
}

/// What makes up the table and the statements of clients with these values.
fn generator(data: &Values, load: &Values) -> Generator {
    Generator::of(data, load).expect("the experiment has checked the numbers of columns")
}

/// The statements of an option, or of the file that it names; none where it is not given.
fn own_statements(values: &Values, option: &str) -> Result<Vec<Statement>, Blamed> {
    let wrong = |message: String| Blamed::new(Blame::Input, message);
    let (text, place) = match values.get(option) {
        Some(Value::File(path)) => {
            let text = files::read_handed_over(path, STATEMENTS_BYTES_MAX);
            let place = path.display().to_string();
            let text = text.map_err(|error| wrong(format!("{place}: {error}")))?;
            refuse_foreign_text(path, &text).map_err(|what| wrong(format!("{place}: {what}")))?;
            (text, place)
        }
        Some(Value::Text(text)) => (text.clone().into_bytes(), format!("`{option}`")),
        _ => return Ok(Vec::new()),
    };
    let delimiter = values.text("delimiter").unwrap_or_default();
    let statements = Script::parse(&text, delimiter.as_bytes()).statements;
    if statements.is_empty() {
        Err(wrong(format!("{place} has no statement")))
    } else {
        Ok(statements)
    }
}

struct SlapTables(Values);

impl SlapTables {
    fn is_made_up(&self) -> bool {
        self.0.flag("auto_generate_sql")
    }

    /// A table that is made up: what the clients run makes no difference to it.
    fn generated(&self) -> Generated {
        generator(&self.0, &defaults(SlapLoad.options())).generate()
    }

    /// Statements of a table that is made up, its CREATE among them.
    fn statements(&self) -> u64 {
        let count = self.0.count("auto_generate_sql_write_number");
        count.expect("it has a default")
    }

    fn plan(&self) -> Result<Tables, Blamed> {
        if self.is_made_up() {
            Ok(Tables::made_up(&self.generated(), self.statements()))
        } else {
            own_statements(&self.0, "create").map(Tables::own)
        }
    }

    async fn make(
        &self,
        connection: &mut Connection,
        tables: &Tables,
    ) -> Result<(), protocol::Error> {
        let before: &[String] = if self.is_made_up() {
            &[format!("drop table if exists {TABLE}")]
        } else {
            // Only on a private server, whose database it is.
            &[
                format!("drop database if exists {DATABASE}"),
                format!("create database {DATABASE}"),
                format!("use {DATABASE}"),
            ]
        };
        for sql in before {
            connection.query(sql.as_bytes()).await?;
        }
        let engine = self.0.text("engine").and_then(Engine::of);
        tables.make(connection, engine.as_ref()).await
    }
}

impl DataSet for SlapTables {
    /// `mysqlslap's table of 999 rows`, `the tables of tables.sql`
    fn name(&self) -> String {
        match self.0.get("create") {
            Some(Value::File(path)) => {
                let name = path.file_name().unwrap_or_default();
                format!("the tables of {}", name.to_string_lossy())
            }
            Some(_) => "the tables of `create`".to_owned(),
            None => format!("mysqlslap's table of {} rows", self.statements() - 1),
        }
    }

    fn tables(&self) -> Vec<KnownTable> {
        vec![KnownTable::created_by(TABLE, self.generated().create.sql())]
    }

    fn load(
        &self,
        destination: &Destination<'_>,
        _rows: Option<u64>,
        context: &Context,
    ) -> Result<LoadResult, Blamed> {
        let endpoint = destination.endpoint;
        let tables = self.plan()?;
        let step = context.step(&format!("loading {}", self.name()), Length::Unknown);
        let begin = reactor::system_now();
        wait(async {
            let failed = |error: protocol::Error| error.blamed(&endpoint.address);
            let limit = Purpose::Work.limit();
            let connection = open_settled(endpoint, limit).await;
            let mut connection = connection.map_err(failed)?;
            let made = self.make(&mut connection, &tables);
            match context.interrupt.unless_raised(made).await {
                Some(made) => made.map_err(failed),
                None => Err(Blamed::new(Blame::Interrupted, "interrupted while loading")),
            }
        })??;
        let took = reactor::system_now() - begin;
        drop(step);
        let tables = database::base_tables(endpoint)?;
        database::loaded(endpoint, &tables, took)
    }
}

/// The clients of a run.
pub struct Clients {
    /// Their name in the record.
    name: String,
    plan: Arc<Plan>,
}

impl Clients {
    /// The clients of a plan under this name.
    pub fn new(name: &str, plan: Arc<Plan>) -> Self {
        Self {
            name: name.to_owned(),
            plan,
        }
    }
}

impl Work for Clients {
    fn drive(
        &self,
        driver: &Driver<'_>,
        observer: &mut dyn LoadListener,
    ) -> Result<Outcome, Blamed> {
        let (plan, endpoint) = (Arc::clone(&self.plan), Arc::new(driver.endpoint().clone()));
        let group = Group {
            name: self.name.clone(),
            operations: plan.operations().to_vec(),
            statements: Vec::new(),
            users: driver.users(),
            make: Box::new(move |index| {
                SlapUser::new(Arc::clone(&plan), Arc::clone(&endpoint), index)
            }),
        };
        driver.drive(driver.load(group), observer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_divided_among_the_clients_to_the_last_one() {
        let mut values = defaults(SlapLoad.options());
        assert_eq!(share(&values, 8), (None, 0));
        values.set("number_of_queries", Value::Count(100));
        assert_eq!(share(&values, 8), (Some(12), 4));
        assert_eq!(share(&values, 200), (Some(0), 100));
    }
}
