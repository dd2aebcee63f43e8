//! One reading of all periodic queries.

use std::{collections::BTreeMap, time::Duration};

use protocol::Error;
use reactor::{Instant, system_now};
use samples::{ClientConnection, InnodbStatus, ServerStatus};

use super::{answer::Row, innodb_status_text, questioner::Questioner, status::Variables};

/// The enabled InnoDB metrics; MariaDB 10.5 has another name for the column.
const METRICS: [&str; 2] = [
    "SELECT NAME, COUNT, TYPE FROM information_schema.INNODB_METRICS WHERE STATUS='enabled'",
    "SELECT NAME, COUNT, TYPE FROM information_schema.INNODB_METRICS WHERE ENABLED=1",
];
/// With more connections than this, the process list costs too much.
const PROCESSES_AT_MOST: f64 = 1000.0;
/// Up to this number of connections, the process list costs no more than the counters and is read as often.
const PROCESSES_CHEAP: f64 = 100.0;
/// Minimum interval of the queries that cost more than the counters.
const SLOWLY: Duration = Duration::from_millis(990);

/// The queries that this server answers.
pub(crate) struct Probes {
    /// Index of the next query of [`METRICS`] to try; past the end none works.
    metrics: usize,
    innodb: bool,
    processes: bool,
    /// Time of the last expensive queries.
    asked_slowly: Option<Instant>,
    /// The longest statement so far.
    pub(crate) longest: Duration,
}

pub(crate) struct Reading {
    /// Time at which the counters were read.
    pub(crate) at: Instant,
    asked: Duration,
    variables: Variables,
    innodb: Option<InnodbStatus>,
    /// `None` if they were not queried or not available.
    connections: Option<Vec<ClientConnection>>,
}

impl Probes {
    /// All queries; later readings leave out those that the server refuses.
    pub(crate) fn all() -> Self {
        Self {
            metrics: 0,
            innodb: true,
            processes: true,
            asked_slowly: None,
            longest: Duration::ZERO,
        }
    }

    /// Makes the next reading a complete one, whatever the time of the last one.
    pub(crate) fn start_anew(&mut self) {
        self.asked_slowly = None;
    }

    /// Reads everything that this server provides.
    pub(crate) async fn read(&mut self, questioner: &mut Questioner) -> Result<Reading, Error> {
        let begun = system_now();
        let slowly = self.asked_slowly.is_none_or(|last| begun - last >= SLOWLY);
        let mut reading = Reading {
            at: begun,
            asked: Duration::ZERO,
            variables: Variables::default(),
            innodb: None,
            connections: None,
        };
        let answer = questioner
            .ask("SHOW GLOBAL STATUS", "SHOW GLOBAL STATUS")
            .await?;
        for (name, value) in answer.map(|answer| answer.pairs()).unwrap_or_default() {
            reading.variables.add_status(name, &value);
        }
        reading.at = system_now();
        self.longest = self.longest.max(reading.at - begun);
        if slowly {
            self.asked_slowly = Some(begun);
            self.read_slowly(questioner, &mut reading).await?;
        }
        let connected = reading.variables.value("Threads_connected").unwrap_or(0.0);
        if self.processes && (slowly || connected <= PROCESSES_CHEAP) {
            self.read_processes(questioner, &mut reading, connected)
                .await?;
        }
        reading.asked = system_now() - begun;
        Ok(reading)
    }

    async fn read_slowly(
        &mut self,
        questioner: &mut Questioner,
        reading: &mut Reading,
    ) -> Result<(), Error> {
        while let Some(sql) = METRICS.get(self.metrics) {
            let begun = system_now();
            let answer = questioner.try_ask(sql).await?;
            self.note(begun);
            match answer {
                Ok(answer) => {
                    answer.rows().for_each(|row| {
                        let value = row.text("count");
                        let variables = &mut reading.variables;
                        variables.add_metric(&row.text("name"), &row.text("type"), &value);
                    });
                    break;
                }
                Err(refusal) => {
                    self.metrics += 1;
                    if self.metrics == METRICS.len() {
                        questioner.miss("INNODB_METRICS", &refusal);
                    }
                }
            }
        }
        if self.innodb {
            let begun = system_now();
            let sql = "SHOW ENGINE INNODB STATUS";
            match questioner.ask(sql, sql).await? {
                Some(answer) => {
                    let text = answer.rows().next().map(|row| row.text("status"));
                    reading.innodb = text.as_deref().map(innodb_status_text::parse);
                }
                None => self.innodb = false,
            }
            self.note(begun);
        }
        Ok(())
    }

    async fn read_processes(
        &mut self,
        questioner: &mut Questioner,
        reading: &mut Reading,
        connected: f64,
    ) -> Result<(), Error> {
        if connected > PROCESSES_AT_MOST {
            self.processes = false;
            let why = format!("{connected} connections are too many to list every second");
            questioner.miss("processlist", &why);
            return Ok(());
        }
        let begun = system_now();
        let own = questioner.connection_id().to_string();
        match questioner.ask("processlist", "SHOW PROCESSLIST").await? {
            Some(answer) => {
                let others = answer.rows().filter(|row| row.text("id") != own);
                reading.connections = Some(others.map(connection).collect());
            }
            None => self.processes = false,
        }
        self.note(begun);
        Ok(())
    }

    fn note(&mut self, begun: Instant) {
        self.longest = self.longest.max(system_now() - begun);
    }
}

impl Reading {
    /// The same reading as a baseline, so that the next difference contains all values.
    pub(crate) fn into_first(mut self) -> Self {
        self.variables = self.variables.into_first();
        self
    }

    /// Number of connections by command.
    fn processes(&self) -> BTreeMap<String, u32> {
        let mut processes = BTreeMap::new();
        for connection in self.connections.iter().flatten() {
            let ClientConnection { command, state, .. } = connection;
            let what = match state.as_str() {
                "" => command.clone(),
                state => format!("{command}: {state}"),
            };
            *processes.entry(what).or_default() += 1;
        }
        processes
    }

    /// The other connections, one by one; `None` if this reading has none.
    pub(crate) fn take_connections(&mut self) -> Option<Vec<ClientConnection>> {
        self.connections.take()
    }

    /// The changes since an earlier reading; `start` is the start of the load.
    pub(crate) fn since(&self, earlier: &Self, start: Instant) -> ServerStatus {
        let change = self.variables.since(&earlier.variables);
        ServerStatus {
            t_s: seconds(earlier.at, start),
            length_s: (self.at - earlier.at).as_secs_f64(),
            asked_s: self.asked.as_secs_f64(),
            counters: change.counters,
            values: change.values,
            innodb: self.innodb.clone(),
            processes: self.processes(),
        }
    }
}

/// A row of the process list.
fn connection(row: Row<'_>) -> ClientConnection {
    ClientConnection {
        id: row.number("id"),
        user: row.text("user"),
        host: row.text("host"),
        database: row.text("db"),
        command: row.text("command"),
        time_s: row.text("time").parse().unwrap_or(0.0),
        state: row.text("state"),
        statement: row.text("info"),
    }
}

/// Seconds from `start` to `at`, negative if it is earlier.
fn seconds(at: Instant, start: Instant) -> f64 {
    if at >= start {
        (at - start).as_secs_f64()
    } else {
        -(start - at).as_secs_f64()
    }
}
