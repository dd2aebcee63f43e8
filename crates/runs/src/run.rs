//! One run: drives its loads on its stage, and writes their records.

use blame::Blamed;
use load::Outcome;
use protocol::Connection;
use results::results_list;
use samples::Line;

use crate::{
    control::Purpose,
    events::Events,
    limit::{HeldDisk, ServerLimits},
    listener::Context,
    record::{
        load_record::NewRecord,
        recording::{Recording, RunProgress},
        sampling::Cadence,
    },
    run::driven::{Driven, end_together, first_error},
    stage::Stage,
};

pub(crate) mod driven;
pub(crate) mod driver;
pub(crate) mod planned;
mod several_loads;
pub(crate) mod shortcoming;
pub(crate) mod single_run;

/// One run on its stage, of an experiment or of a command.
pub(crate) struct Run<'a> {
    /// The records, one for each load.
    pub records: Vec<NewRecord<'a>>,
    pub stage: &'a Stage,
    /// Sampling intervals of machine and server.
    pub cadence: Cadence,
    pub context: &'a Context,
    /// Lines about the data and the command, written before the server is queried.
    pub known_before: Vec<Line>,
    /// What is done to the server while the load is measured; `None` without events.
    pub events: Option<Events>,
    /// Statements to execute right before the load.
    pub before: &'a [String],
    /// Statements to execute after the load.
    pub after: &'a [String],
    /// Whether `dbdyno history` lists the record separately, not as part of an experiment's results.
    pub is_listed: bool,
}

/// The loads of a run.
pub(crate) trait Measured {
    /// Drives the loads to their end; returns what became of each of them.
    fn drive(&mut self, recording: &mut Recording<'_>) -> Vec<Result<Outcome, Blamed>>;

    /// Work after loads of `took_s` seconds; `is_complete` if all of them came to their planned end. An error if a load
    /// violated its rules.
    fn follow_up(
        &mut self,
        took_s: f64,
        is_complete: bool,
        recording: &mut Recording<'_>,
    ) -> Result<(), Blamed>;
}

impl Run<'_> {
    /// Drives the loads and writes their records; after an error the records contain the reason why they are incomplete.
    pub(crate) fn record(
        mut self,
        loads: &mut dyn Measured,
        progress: RunProgress<'_>,
    ) -> Result<Vec<Driven>, Blamed> {
        // From here on, so that the machine's line and the first sample tell of it.
        let held = self.stage.limit.as_ref().map(ServerLimits::hold);
        let held = held.transpose()?;
        let mut recording = Recording::begin(
            &self.records,
            self.stage,
            self.cadence,
            self.context,
            progress,
            self.events.take(),
        )?;
        let known = self.known_before.iter();
        known.for_each(|line| recording.write(line));
        for (load, record) in self.records.iter().enumerate() {
            let known = record.known_before.iter();
            known.for_each(|line| recording.write_of(load, line));
        }
        if self.is_listed {
            for record in &self.records {
                results_list::list(record.path, &|what| self.context.warn(what));
            }
        }
        let driven = self.perform(loads, &mut recording, held);
        let ended: Vec<Result<&str, &Blamed>> = match &driven {
            Ok(driven) => {
                let ended = driven.iter().map(|it| it.ended.as_ref());
                ended.map(|it| it.map(String::as_str)).collect()
            }
            Err(error) => self.records.iter().map(|_| Err(error)).collect(),
        };
        recording.end(&ended)?;
        driven
    }

    /// Executes everything between the first lines and the last lines.
    fn perform(
        &self,
        loads: &mut dyn Measured,
        recording: &mut Recording<'_>,
        held: Option<HeldDisk>,
    ) -> Result<Vec<Driven>, Blamed> {
        if let Some(endpoint) = &self.stage.endpoint {
            let purpose = self.purpose(self.before);
            purpose.control(endpoint, async |connection| {
                run_all(connection, self.before).await?;
                // After these statements, so that their settings are included, which apply to the load.
                let server = self.stage.identify(connection, "start").await?;
                recording.write(&Line::Server(server));
                Ok(())
            })?;
        }
        let outcomes = loads.drive(recording);
        recording.end_events();
        // What follows is not measured, and is not to take hours. The last sample still counts under the limit.
        recording.end_sampling();
        drop(held);
        // Later queries to the server are not part of the load.
        let took_s = recording.elapsed_s();
        for (load, outcome) in outcomes.iter().enumerate() {
            let measured = outcome.iter();
            measured.for_each(|outcome| recording.outcome(load, outcome));
        }
        let mut driven: Vec<Driven> = outcomes.into_iter().map(Driven::of).collect();
        end_together(&mut driven, &self.records);
        if driven.iter().all(|it| it.outcome.is_none()) {
            return first_error(driven).map_or(Ok(Vec::new()), Err);
        }
        let is_complete = driven.iter().all(|it| it.ended.is_ok());
        loads.follow_up(took_s, is_complete, recording)?;
        if let (Some(endpoint), true) = (&self.stage.endpoint, is_complete) {
            let purpose = self.purpose(self.after);
            purpose.control(endpoint, async |connection| {
                let server = self.stage.identify(connection, "end").await?;
                recording.write(&Line::Server(server));
                run_all(connection, self.after).await
            })?;
        }
        Ok(driven)
    }

    /// Purpose of these statements, and thus their time limit: those of the user may take long.
    fn purpose(&self, statements: &[String]) -> Purpose {
        if statements.is_empty() {
            Purpose::Question
        } else {
            Purpose::OfUser
        }
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
