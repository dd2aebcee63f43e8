//! One run: drives its load on its stage, and writes its record.

use std::path::Path;

use load::{Ended, Observer, Outcome};
use protocol::Connection;
use samples::{Line, RunHeader};

use crate::{
    blame::Blamed,
    control::Purpose,
    events::Events,
    exit_code::Blame,
    limit::{HeldDisk, ServerLimits},
    listener::Context,
    record::{
        recording::{Recording, RunProgress},
        sampling::Cadence,
    },
    results::results_list,
    run::shortcoming::no_result,
    stage::Stage,
};

pub(crate) mod driver;
pub(crate) mod planned;
pub(crate) mod shortcoming;
pub(crate) mod single_run;

/// One run on its stage, of an experiment or of a command.
pub(crate) struct Run<'a> {
    /// File of the record.
    pub path: &'a Path,
    /// The record's first line.
    pub header: RunHeader,
    pub stage: &'a Stage,
    /// Sampling intervals of machine and server.
    pub cadence: Cadence,
    pub context: &'a Context,
    /// Lines about data and load, written before the server is queried.
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

/// The load of a run.
pub(crate) trait Measured {
    /// Drives the load.
    fn drive(&mut self, observer: &mut dyn Observer) -> Result<Outcome, Blamed>;

    /// Work after a load of `took_s` seconds; `is_complete` if it came to its planned end. `tell` receives the lines
    /// for the record. An error if the load violated its rules.
    fn follow_up(
        &mut self,
        took_s: f64,
        is_complete: bool,
        tell: &mut dyn FnMut(Line),
    ) -> Result<(), Blamed>;
}

/// A load that has ended, complete or not.
pub(crate) struct Driven {
    pub outcome: Outcome,
    /// The end of the load in words; an error if it was incomplete or gave no result.
    pub ended: Result<String, Blamed>,
}

impl Run<'_> {
    /// Drives the load and writes the record; after an error the record contains the reason why it is incomplete.
    pub(crate) fn record(
        mut self,
        load: &mut dyn Measured,
        progress: RunProgress<'_>,
    ) -> Result<Driven, Blamed> {
        // From here on, so that the machine's line and the first sample tell of it.
        let held = self.stage.limit.as_ref().map(ServerLimits::hold);
        let held = held.transpose()?;
        let mut recording = Recording::begin(
            self.path,
            self.header.clone(),
            self.stage,
            self.cadence,
            self.context,
            progress,
            self.events.take(),
        )?;
        let known = self.known_before.iter();
        known.for_each(|line| recording.write(line));
        if self.is_listed {
            results_list::list(self.path, &*self.context.listener);
        }
        let driven = self.perform(load, &mut recording, held);
        recording.end(match &driven {
            Ok(driven) => driven.ended.as_ref().map(String::as_str),
            Err(error) => Err(error),
        })?;
        driven
    }

    /// Executes everything between the first lines and the last line.
    fn perform(
        &self,
        load: &mut dyn Measured,
        recording: &mut Recording<'_>,
        held: Option<HeldDisk>,
    ) -> Result<Driven, Blamed> {
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
        let driven = load.drive(recording);
        recording.end_events();
        let outcome = driven?;
        // What follows is not measured, and is not to take hours. The last sample still counts under the limit.
        recording.end_sampling();
        drop(held);
        // Later queries to the server are not part of the load.
        let took_s = recording.elapsed_s();
        recording.outcome(&outcome);
        let ended = how_it_ended(&outcome);
        load.follow_up(took_s, ended.is_ok(), &mut |line| recording.write(&line))?;
        if let (Some(endpoint), true) = (&self.stage.endpoint, ended.is_ok()) {
            let purpose = self.purpose(self.after);
            purpose.control(endpoint, async |connection| {
                let server = self.stage.identify(connection, "end").await?;
                recording.write(&Line::Server(server));
                run_all(connection, self.after).await
            })?;
        }
        Ok(Driven { outcome, ended })
    }

    /// Purpose of these statements, and thus their time limit: those of the user may take long.
    fn purpose(&self, statements: &[String]) -> Purpose {
        if statements.is_empty() {
            Purpose::Question
        } else {
            Purpose::Work
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

/// The end of a load in words, if it ended as planned and gave a result.
fn how_it_ended(outcome: &Outcome) -> Result<String, Blamed> {
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
        Ended::Failed { failure, .. } if failure.is_of_input => {
            Err(Blamed::new(Blame::Input, failure))
        }
        Ended::Failed { operation, failure } => Err(Blamed::new(
            Blame::Server,
            format!("{operation}: error {}: {failure}", failure.number),
        )
        .hint(
            "on_error = \"count\" or \"retry\" under [load] continues after an error".to_owned(),
        )),
    }
}
