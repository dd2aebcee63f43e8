//! An existing server, which is not restarted or reconfigured and whose data is not dropped.

use std::{collections::BTreeMap, path::PathBuf, rc::Rc};

use blame::{Blame, Blamed};
use dataset::KnownTable;
use experiment::{PlannedRun, ServerSpec};
use protocol::{Address, Endpoint};
use samples::{Dataset, DatasetState};
use settings::Rows;

use crate::{
    control::{Purpose, backticked, control, variables},
    data::{
        Destination, WantedData,
        known_tables::{NamesakeTable, taken},
    },
    global_variables::settable,
    listener::Context,
    prepared_statements::PreparedStatements,
    record::server_host::Observation,
    stage::{
        Stage,
        created_tables::{CreatedTable, CreatedTables},
        local_pid, refuse_local,
    },
};

/// An existing server.
pub(crate) struct GivenServer {
    endpoint: Endpoint,
    /// The data set that this process loaded last.
    holds: Option<String>,
    /// Fingerprint of the user's own statements by data set.
    statements: BTreeMap<String, u64>,
    /// The tables created here for these results, by this process or an earlier one.
    created: CreatedTables,
    context: Context,
    /// Observer of its machine in the runs so far.
    observation: Option<Rc<Observation>>,
    /// Block of the last run.
    block: Option<u32>,
}

impl GivenServer {
    pub(crate) fn new(endpoint: Endpoint, created: CreatedTables, context: Context) -> Self {
        Self {
            endpoint,
            holds: None,
            statements: BTreeMap::new(),
            created,
            context,
            observation: None,
            block: None,
        }
    }

    pub(crate) fn address(&self) -> &Address {
        &self.endpoint.address
    }

    /// Provides the data that a run requires.
    pub(crate) fn prepare(
        &mut self,
        run: &PlannedRun,
        data: Option<WantedData<'_>>,
        database: &str,
        prepared: PreparedStatements,
    ) -> Result<Stage, Blamed> {
        self.endpoint
            .database
            .get_or_insert_with(|| database.to_owned());
        let variables = control(&self.endpoint, variables)?;
        let remedy = |all| format!("SET GLOBAL max_prepared_stmt_count={all}");
        prepared.refuse_by(&variables, remedy)?;
        settable::check(&run.server, &self.endpoint.address, &variables)?;
        let server_pid = local_pid(&self.endpoint.address, &variables);
        let observation = self.observation(run, server_pid)?;
        let new_block = self.block.replace(run.block) != Some(run.block);
        let dataset = match data {
            Some(data) => Some(self.provide_data(&data, new_block, &variables)?),
            None => None,
        };
        let datadir = variables.get("datadir").map(PathBuf::from);
        Ok(Stage {
            endpoint: Some(self.endpoint.clone()),
            process: None,
            proxy: None,
            directory: None,
            server_pid,
            // The same path on another machine is a different directory.
            datadir: datadir.filter(|_| server_pid.is_some()),
            observation,
            private: false,
            is_simulated: false,
            dataset,
            settings_changed: Vec::new(),
            limit: None,
        })
    }

    /// The observer of its machine in a run; tested before the first run.
    fn observation(
        &mut self,
        run: &PlannedRun,
        server_pid: Option<u32>,
    ) -> Result<Option<Rc<Observation>>, Blamed> {
        let ServerSpec::Given {
            observe: Some(observe),
            ..
        } = &run.server
        else {
            return Ok(None);
        };
        refuse_local(server_pid)?;
        if let Some(known) = self.observation.as_ref().filter(|it| it.is(observe)) {
            return Ok(Some(Rc::clone(known)));
        }
        let observation = Observation::new(observe.clone(), &*self.context.listener)?;
        observation.try_out()?;
        self.observation = Some(Rc::clone(&observation));
        Ok(Some(observation))
    }

    /// Drops the tables that dbdyno created here for these results; none if an unrelated table replaced one of them.
    pub(crate) fn drop_created(&mut self) -> Result<(), Blamed> {
        let address = self.endpoint.address.to_string();
        let mut databases: BTreeMap<String, Vec<KnownTable>> = BTreeMap::new();
        for created in self.created.on(&address) {
            let tables = databases.entry(created.database).or_default();
            tables.push(created.table);
        }
        if databases.is_empty() {
            return Ok(());
        }
        let mut drops = Vec::new();
        for (database, tables) in databases {
            let endpoint = Endpoint {
                database: Some(database.clone()),
                ..self.endpoint.clone()
            };
            let found = control(&endpoint, async |connection| {
                taken(connection, &tables).await
            })?;
            if let Some(other) = found.iter().find(|found| !found.is_known) {
                return Err(self.not_ours(&database, other, "nothing was dropped"));
            }
            let places = found
                .iter()
                .map(|found| format!("{}.{}", backticked(&database), backticked(&found.name)));
            drops.extend(places);
        }
        if !drops.is_empty() {
            let sql = format!("drop table if exists {}", drops.join(", "));
            Purpose::Change.control(&self.endpoint, async |connection| {
                // A table is dropped before those that refer to it.
                connection.query(b"set foreign_key_checks = 0").await?;
                connection.query(sql.as_bytes()).await
            })?;
        }
        self.created.forget(&address)
    }

    fn provide_data(
        &mut self,
        data: &WantedData<'_>,
        new_block: bool,
        variables: &BTreeMap<String, String>,
    ) -> Result<Dataset, Blamed> {
        let rows = match data.rows() {
            None => None,
            Some(Rows::Count(rows)) => Some(rows),
            Some(Rows::TimesBufferPool(_)) => {
                return Err(Blamed::new(
                    Blame::Input,
                    "rows as a multiple of the buffer pool need a private server",
                )
                .hint("give a plain count, such as rows = \"1M\"".to_owned()));
            }
        };
        let mut loaded = None;
        if data.is_renewed(new_block) || self.holds.as_ref() != Some(&data.data_set) {
            self.check_statements(data)?;
            let tables = data.maker.tables();
            self.claim(tables.clone())?;
            let destination = Destination {
                endpoint: &self.endpoint,
                directory: None,
            };
            loaded = Some((data.maker).load(&destination, rows, &self.context)?);
            self.note_columns(&tables)?;
            self.holds = Some(data.data_set.clone());
        }
        Ok(Dataset {
            source: data.maker.name(),
            // Data loaded earlier has the requested rows, or its load would have failed.
            rows: loaded.map_or(rows.unwrap_or_default(), |loaded| loaded.rows),
            disk_bytes: loaded.and_then(|loaded| loaded.disk_bytes),
            buffer_pool_bytes: variables
                .get("innodb_buffer_pool_size")
                .and_then(|bytes| bytes.parse().ok()),
            load_s: loaded.map(|loaded| loaded.took.as_secs_f64()),
            state: if loaded.is_some() {
                DatasetState::Loaded
            } else {
                DatasetState::Kept
            },
        })
    }

    /// Checks the user's own statements, which a file may have changed since the experiment began.
    fn check_statements(&mut self, data: &WantedData<'_>) -> Result<(), Blamed> {
        let found = data.maker.check_for_given_server()?;
        let first = *self
            .statements
            .entry(data.data_set.clone())
            .or_insert(found);
        if first == found {
            return Ok(());
        }
        let message = format!(
            "{}: the statements have changed since the first load",
            data.maker.name()
        );
        let hint = "restore the file, or start a new experiment: with the new statements, its runs would have different data";
        Err(Blamed::new(Blame::Input, message).hint(hint.to_owned()))
    }

    /// Checks that the tables may be replaced: only tables that do not exist, or that dbdyno created and whose columns
    /// match. A process may end between its note and its CREATE, and another user may then create a table of that name.
    fn claim(&mut self, tables: Vec<KnownTable>) -> Result<(), Blamed> {
        let found = control(&self.endpoint, async |connection| {
            taken(connection, &tables).await
        })?;
        for table in tables {
            let mut created = self.created_table(table);
            let noted = self.created.on(&created.address);
            let noted = noted.into_iter().find(|noted| created.is_same(noted));
            let is_there = found.iter().find(|found| found.name == created.table.name);
            match (noted, is_there) {
                (None, None) => self.created.add(created)?,
                (_, None) => {}
                (Some(noted), Some(there)) => {
                    created.table.layouts.extend(noted.table.layouts);
                    if !created.table.has_layout(&there.columns) {
                        let what = "nothing was replaced";
                        return Err(self.not_ours(&created.database, there, what));
                    }
                }
                (None, Some(there)) => {
                    let database = &created.database;
                    let (name, address) = (&there.name, &self.endpoint.address);
                    let message = format!("table {database}.{name} exists already on {address}");
                    let hint = "drop it, or name another database: database = \"...\" under [server]; without \
                         [data], a run uses the table as it is";
                    return Err(Blamed::new(Blame::Input, message).hint(hint.to_owned()));
                }
            }
        }
        Ok(())
    }

    /// Records the actual columns of tables that were just created, where they differ from the expected ones because
    /// the user's own statements created them.
    fn note_columns(&mut self, tables: &[KnownTable]) -> Result<(), Blamed> {
        let found = control(&self.endpoint, async |connection| {
            taken(connection, tables).await
        })?;
        for table in found.into_iter().filter(|found| !found.is_known) {
            let created = self.created_table(KnownTable {
                name: table.name,
                layouts: vec![table.columns.join(", ")],
            });
            if !self.created.on(&created.address).contains(&created) {
                self.created.add(created)?;
            }
        }
        Ok(())
    }

    fn created_table(&self, table: KnownTable) -> CreatedTable {
        CreatedTable {
            address: self.endpoint.address.to_string(),
            database: self.endpoint.database.clone().unwrap_or_default(),
            table,
        }
    }

    /// The error for a recorded table that now has other columns.
    fn not_ours(&self, database: &str, table: &NamesakeTable, what: &str) -> Blamed {
        let name = &table.name;
        let message = format!(
            "table {database}.{name} on {} is not the one that dbdyno created: its columns are {}",
            self.endpoint.address,
            table.columns.join(", ")
        );
        let hint = format!(
            "{what}; rename the table or drop it yourself, or remove its line from `created-tables` in the results"
        );
        Blamed::new(Blame::Input, message).hint(hint)
    }
}
