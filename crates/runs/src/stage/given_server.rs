//! A server that is already there: nothing of it is restarted, reconfigured or dropped.

use std::{collections::BTreeMap, path::PathBuf, rc::Rc};

use experiment::{PlannedRun, ServerSpec};
use protocol::Endpoint;
use samples::Dataset;
use settings::Rows;

use crate::{
    blame::{Blame, Blamed},
    control::{Purpose, control, number, quoted, variables},
    data::WantedData,
    listener::Context,
    record::server_host::Observation,
    stage::{Stage, created_tables::CreatedTables, local_pid, refuse_local},
};

/// A server that is already there.
pub(crate) struct GivenServer {
    endpoint: Endpoint,
    /// The data set that dbdyno loaded last, in this process.
    holds: Option<String>,
    /// The tables that dbdyno made here for these results, in this process or one before.
    created: CreatedTables,
    context: Context,
    /// Who looks at its machine, in the runs so far.
    observation: Option<Rc<Observation>>,
    /// Block of the last run.
    block: Option<u32>,
}

impl GivenServer {
    /// The server at this endpoint.
    pub(crate) fn new(endpoint: Endpoint, created: CreatedTables, context: Context) -> Self {
        Self {
            endpoint,
            holds: None,
            created,
            context,
            observation: None,
            block: None,
        }
    }

    /// Brings the data into place that a run asks for.
    pub(crate) fn prepare(
        &mut self,
        run: &PlannedRun,
        data: Option<WantedData<'_>>,
        database: &str,
    ) -> Result<Stage, Blamed> {
        self.endpoint
            .database
            .get_or_insert_with(|| database.to_owned());
        let variables = control(&self.endpoint, variables)?;
        let server_pid = local_pid(&self.endpoint.address, &variables);
        let observation = self.observation(run, server_pid)?;
        let new_block = self.block.replace(run.block) != Some(run.block);
        let dataset = match data {
            Some(data) => Some(self.bring(&data, new_block, &variables)?),
            None => None,
        };
        let datadir = variables.get("datadir").map(PathBuf::from);
        Ok(Stage {
            endpoint: self.endpoint.clone(),
            server_pid,
            // The same path on another machine is another directory.
            datadir: datadir.filter(|_| server_pid.is_some()),
            observation,
            private: false,
            is_simulated: false,
            dataset,
            settings_changed: Vec::new(),
        })
    }

    /// Who looks at its machine in a run; tried out before the first one.
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

    /// Drops the tables that dbdyno made here for these results.
    pub(crate) fn drop_created(&mut self) -> Result<(), Blamed> {
        let address = self.endpoint.address.to_string();
        let tables = self.created.on(&address);
        if tables.is_empty() {
            return Ok(());
        }
        let sql = format!("drop table if exists {}", tables.join(", "));
        Purpose::Change.control(&self.endpoint, async |connection| {
            connection.query(sql.as_bytes()).await
        })?;
        self.created.forget(&address)
    }

    fn bring(
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
            for table in data.maker.tables() {
                self.claim(&table)?;
            }
            loaded = Some((data.maker).load(&self.endpoint, rows, &self.context)?);
            self.holds = Some(data.data_set.clone());
        }
        Ok(Dataset {
            source: data.maker.name(),
            // What was loaded before has the rows that were asked for, or its loader would have failed.
            rows: loaded.map_or(rows.unwrap_or_default(), |loaded| loaded.rows),
            disk_bytes: loaded.and_then(|loaded| loaded.disk_bytes),
            buffer_pool_bytes: variables
                .get("innodb_buffer_pool_size")
                .and_then(|bytes| bytes.parse().ok()),
            load_s: loaded.map(|loaded| loaded.took.as_secs_f64()),
            state: if loaded.is_some() { "loaded" } else { "kept" }.to_owned(),
        })
    }

    /// Makes sure that a table may be replaced: only one that does not exist, or that dbdyno made.
    fn claim(&mut self, table: &str) -> Result<(), Blamed> {
        let database = self.endpoint.database.as_deref().unwrap_or_default();
        let place = format!("{} {database}.{table}", self.endpoint.address);
        if self.created.holds(&place) {
            return Ok(());
        }
        let sql = format!(
            "select count(*) from information_schema.tables where table_schema = {} and table_name = {}",
            quoted(database),
            quoted(table)
        );
        let found = control(&self.endpoint, async |connection| {
            number(connection, &sql).await
        })?;
        if found == Some(0) {
            return self.created.add(place);
        }
        let message = format!(
            "table {database}.{table} exists already on {}",
            self.endpoint.address
        );
        let hint = "drop it, or name another database: database = \"...\" under [server]; \
                    without [data] a run takes the table as it is";
        Err(Blamed::new(Blame::Input, message).hint(hint.to_owned()))
    }
}
