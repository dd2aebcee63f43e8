//! A look at a server whenever it is asked for.

use std::collections::BTreeMap;

use protocol::{Connection, Endpoint, Error};
use reactor::Instant;
use samples::{ClientConnection, ServerMoment};

use super::{
    patience::in_time,
    questioner::Questioner,
    reading::{Probes, Reading},
    statement_times::{self, Histogram},
    totals::{LIVE_SOURCES, SOURCES, Source, Sums},
};

/// The server's clock of a row that grew is as coarse as a second; one more, so that none is missed.
const SLACK_S: u64 = 2;

/// A connection to a server, and what stood there when it was asked the last time.
pub struct ServerView {
    questioner: Questioner,
    variables: BTreeMap<String, String>,
    version: String,
    probes: Probes,
    /// What the times of all moments count from.
    began: Instant,
    last: Reading,
    totals: Vec<(&'static Source, Sums)>,
    times: Option<Histogram>,
    connections: Vec<ClientConnection>,
    statements_before: u64,
}

impl ServerView {
    /// Connects, and reads what the first moment is subtracted from. Times count from `began`.
    ///
    /// An error is a server that cannot be reached, or lets nobody in; what it does not tell is in
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

    /// The server's version, as it says itself.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// What the server did since the last call, at first since it was opened. An error is a connection that is lost; the
    /// next look needs another one.
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
        // What is refused once is not asked again.
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

    /// Says goodbye to the server.
    pub async fn close(self) -> Result<(), Error> {
        in_time(self.questioner.close()).await
    }
}
