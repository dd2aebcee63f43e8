//! Readings of a server on request.

use std::collections::BTreeMap;

use protocol::{Connection, Endpoint, Error};
use reactor::Instant;
use samples::{ClientConnection, ServerMoment};

use super::{
    query_timeouts::in_time,
    questioner::Questioner,
    reading::{Probes, Reading},
    statement_times::{self, Histogram},
    totals::{LIVE_SOURCES, SOURCES, Source, Sums},
};

/// The server's timestamps of changed rows have a resolution of a second; one more is added, so that no row is missed.
const SLACK_S: u64 = 2;

/// A connection to a server, and the values of the last reading.
pub struct ServerView {
    questioner: Questioner,
    variables: BTreeMap<String, String>,
    version: String,
    probes: Probes,
    /// The start of all times.
    began: Instant,
    last: Reading,
    totals: Vec<(&'static Source, Sums)>,
    times: Option<Histogram>,
    connections: Vec<ClientConnection>,
    statements_before: u64,
}

impl ServerView {
    /// Connects and takes the first reading, the baseline of the next one. Times count from `began`.
    ///
    /// An error is a server that cannot be reached or that refuses the login; values that it does not provide are in
    /// [`ServerMoment::not_observed`].
    pub async fn open(endpoint: &Endpoint, began: Instant) -> Result<Self, Error> {
        in_time(async {
            let mut questioner = Questioner::new(Connection::open(endpoint).await?);
            let version = questioner.server_version().to_owned();
            let variables = questioner.ask("variables", "SHOW GLOBAL VARIABLES").await?;
            let variables = variables.map(|answer| answer.pairs()).unwrap_or_default();
            let mut totals = Vec::new();
            for source in &SOURCES[LIVE_SOURCES] {
                if source.is_filled(&mut questioner, &variables)
                    && let Some(sums) = source.read(&mut questioner).await?
                {
                    totals.push((source, sums));
                }
            }
            let times = statement_times::read(&mut questioner, &variables).await?;
            let mut probes = Probes::all();
            let mut last = probes.read(&mut questioner).await?.into_first();
            Ok(Self {
                connections: last.take_connections().unwrap_or_default(),
                statements_before: questioner.statements,
                questioner,
                variables,
                version,
                probes,
                began,
                last,
                totals,
                times,
            })
        })
        .await
    }

    /// SHOW GLOBAL VARIABLES, as it was when the connection opened.
    pub fn variables(&self) -> &BTreeMap<String, String> {
        &self.variables
    }

    /// The server's version, as it reports it.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The changes since the last call, or since the connection was opened. An error is a lost connection; the next
    /// reading needs a new one.
    pub async fn look(&mut self) -> Result<ServerMoment, Error> {
        in_time(self.look_patiently()).await
    }

    async fn look_patiently(&mut self) -> Result<ServerMoment, Error> {
        let mut reading = self.probes.read(&mut self.questioner).await?;
        let mut moment = ServerMoment {
            status: reading.since(&self.last, self.began),
            ..ServerMoment::default()
        };
        let seconds = moment.status.length_s.ceil() as u64 + SLACK_S;
        let mut lost = Vec::new();
        for (place, (source, before)) in self.totals.iter_mut().enumerate() {
            let Some(lately) = source.read_lately(&mut self.questioner, seconds).await? else {
                lost.push(place);
                continue;
            };
            moment.totals.push(source.grown(before, &lately));
            before.extend(lately);
        }
        // A refused query is not repeated.
        lost.iter()
            .rev()
            .for_each(|place| drop(self.totals.remove(*place)));
        if let Some(before) = &self.times {
            let now = statement_times::read(&mut self.questioner, &self.variables).await?;
            if let Some(now) = &now {
                moment.statement_times = statement_times::growth(before, now);
            }
            self.times = now;
        }
        if let Some(connections) = reading.take_connections() {
            self.connections = connections;
        }
        self.last = reading;
        moment.connections = self.connections.clone();
        moment.asked = self.questioner.statements - self.statements_before;
        self.statements_before = self.questioner.statements;
        moment.not_observed = self.questioner.not_observed.clone();
        Ok(moment)
    }

    pub async fn close(self) -> Result<(), Error> {
        in_time(self.questioner.close()).await
    }
}
