//! One run: drives the load on its stage and records everything.

use std::{path::Path, time::Duration};

use experiment::PlannedRun;
use load::{Ended, Outcome};
use protocol::{Compression, Connection, Endpoint};
use samples::{Line, RunHeader};

use crate::{
    benchmarks::benchmark::Work,
    blame::{Blame, Blamed},
    control::Purpose,
    listener::Context,
    open_files,
    record::{
        recording::{Recording, RunProgress},
        sampling::Cadence,
    },
    run::{
        driver::{Driver, interval, loops},
        shortcoming::no_result,
    },
    stage::Stage,
};

/// What one run needs to know of its experiment.
pub(crate) struct Identity<'a> {
    pub experiment: &'a str,
    pub sha256: &'a str,
}

/// One run on its stage.
pub(crate) struct Execution<'a> {
    pub identity: Identity<'a>,
    pub run: &'a PlannedRun,
    pub stage: &'a Stage,
    pub work: Box<dyn Work>,
    /// How often machine and server are looked at, where told.
    pub sample_every: Option<Duration>,
    pub context: &'a Context,
}

impl Execution<'_> {
    /// Drives the load and writes the record; an error leaves a record that says why it is incomplete.
    pub(crate) fn record(&self, path: &Path, progress: RunProgress<'_>) -> Result<(), Blamed> {
        let mut recording = Recording::begin(
            path,
            self.header(),
            self.stage,
            Cadence::new(self.sample_every, interval(&self.run.load)),
            self.context,
            progress,
        )?;
        if let Some(dataset) = &self.stage.dataset {
            recording.write(&Line::Dataset(dataset.clone()));
        }
        self.work
            .known_before()
            .iter()
            .for_each(|line| recording.write(line));
        let result = self.perform(&mut recording);
        recording.end(result.as_ref().map(String::as_str))?;
        result.map(drop)
    }

    /// Everything between the first and the last line; returns how the run ended.
    fn perform(&self, recording: &mut Recording<'_>) -> Result<String, Blamed> {
        Purpose::Work.control(&self.stage.endpoint, async |connection| {
            run_all(connection, &self.run.before).await?;
            // With what these statements set, for the load meets that.
            let server = self.stage.identify(connection, "start").await?;
            recording.write(&Line::Server(server));
            Ok(())
        })?;
        let outcome = self.drive(recording)?;
        // What is asked of the server afterwards is no part of it.
        let took_s = recording.elapsed_s();
        recording.outcome(&outcome);
        let known = self
            .work
            .known_after(&self.stage.endpoint, took_s, self.context);
        known.iter().for_each(|line| recording.write(line));
        let why = how_it_ended(&outcome)?;
        let endpoint = &self.stage.endpoint;
        (self.work).check(endpoint, self.context, &mut |line| recording.write(&line))?;
        Purpose::Work.control(&self.stage.endpoint, async |connection| {
            let server = self.stage.identify(connection, "end").await?;
            recording.write(&Line::Server(server));
            run_all(connection, &self.run.after).await
        })?;
        Ok(why)
    }

    /// How the clients connect; what looks after the run takes the shorter way.
    fn clients(&self) -> Endpoint {
        let way = self.run.server.way();
        let mut endpoint = self.stage.endpoint.clone();
        if way.compress {
            // It is what the run is about: without it, it would measure something else.
            endpoint.compression = Compression::Required;
        }
        endpoint.round_trip = way.round_trip;
        endpoint
    }

    /// The same in words, such as `tcp loopback, compressed, 500µs added to the round trip`.
    fn transport(&self) -> String {
        let way = self.run.server.way();
        let mut transport = self.stage.transport().to_owned();
        if way.compress {
            transport.push_str(", compressed");
        }
        if !way.round_trip.is_zero() {
            transport.push_str(&format!(", {:?} added to the round trip", way.round_trip));
        }
        transport
    }

    fn header(&self) -> RunHeader {
        let load = &self.run.load;
        let run = self.run;
        RunHeader {
            experiment_sha256: self.identity.sha256.to_owned(),
            run: run.run,
            block: run.block,
            transport: self.transport(),
            ..self.stage.header(
                self.identity.experiment,
                run.seed,
                &run.combination,
                load.connections,
                loops(load),
            )
        }
    }

    fn drive(&self, recording: &mut Recording<'_>) -> Result<Outcome, Blamed> {
        open_files::provide_for(self.run.load.connections.into())?;
        let driver = Driver {
            endpoint: self.clients(),
            control: &self.stage.endpoint,
            run: self.run,
            context: self.context,
        };
        self.work.drive(&driver, recording)
    }
}

async fn run_all(
    connection: &mut Connection,
    statements: &[String],
) -> Result<(), protocol::Error> {
    for statement in statements {
        connection.query(statement.as_bytes()).await?;
    }
    Ok(())
}

/// Why a load ended, in words, if it ended as planned and gave a result.
pub(crate) fn how_it_ended(outcome: &Outcome) -> Result<String, Blamed> {
    match &outcome.ended {
        Ended::Planned => {
            if let Some(nothing) = no_result(outcome) {
                return Err(nothing);
            }
            let mut why = "as planned".to_owned();
            if let Some(stop) = &outcome.stop_why {
                why.push_str(&format!("; {stop}"));
            }
            if outcome.unfinished > 0 {
                why.push_str(&format!(
                    "; {} operations had not come back when the drain ended",
                    outcome.unfinished
                ));
            }
            if outcome.offered.not_started > 0 {
                why.push_str(&format!(
                    "; {} operations that were due had not begun",
                    outcome.offered.not_started
                ));
            }
            Ok(why)
        }
        Ended::Interrupted => Err(Blamed::new(Blame::Interrupted, "interrupted")),
        Ended::ServerLost(failure) => Err(Blamed::new(
            Blame::Server,
            format!("the server went away: {failure}"),
        )),
        Ended::Failed { operation, failure } => Err(Blamed::new(
            Blame::Server,
            format!("{operation}: error {}: {failure}", failure.number),
        )
        .hint("on_error = \"count\" or \"retry\" under [load] goes on after an error".to_owned())),
    }
}
