//! One run: its load driven on its stage, and its record written.

use std::path::Path;

use load::{Ended, Observer, Outcome};
use protocol::Connection;
use samples::{Line, RunHeader};

use crate::{
    blame::{Blame, Blamed},
    control::Purpose,
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

/// One run on its stage, whoever asks for it.
pub(crate) struct Run<'a> {
    /// File of the record.
    pub path: &'a Path,
    /// The record's first line.
    pub header: RunHeader,
    pub stage: &'a Stage,
    /// How often machine and server are looked at.
    pub cadence: Cadence,
    pub context: &'a Context,
    /// What the record says of data and load before it asks the server.
    pub known_before: Vec<Line>,
    /// Statements right before the load.
    pub before: &'a [String],
    /// Statements after it.
    pub after: &'a [String],
    /// Whether `dbdyno history` lists the record by itself, not with an experiment's results.
    pub is_listed: bool,
}

/// What a run measures.
pub(crate) trait Measured {
    /// Drives the load.
    fn drive(&mut self, observer: &mut dyn Observer) -> Result<Outcome, Blamed>;

    /// What follows when it is over after so many seconds, and came to its planned end or not; `tell` hears what the record
    /// says of it. An error where the load did what its rules forbid.
    fn follow_up(
        &mut self,
        took_s: f64,
        is_complete: bool,
        tell: &mut dyn FnMut(Line),
    ) -> Result<(), Blamed>;
}

/// A load that was driven, to its end or not.
pub(crate) struct Driven {
    pub outcome: Outcome,
    /// How it ended; an error where it broke off, or gave no result.
    pub ended: Result<String, Blamed>,
}

impl Run<'_> {
    /// Drives the load and writes the record; an error leaves a record that says why it is incomplete.
    pub(crate) fn record(
        self,
        load: &mut dyn Measured,
        progress: RunProgress<'_>,
    ) -> Result<Driven, Blamed> {
        let mut recording = Recording::begin(
            self.path,
            self.header.clone(),
            self.stage,
            self.cadence,
            self.context,
            progress,
        )?;
        let known = self.known_before.iter();
        known.for_each(|line| recording.write(line));
        if self.is_listed {
            results_list::list(self.path, &*self.context.listener);
        }
        let driven = self.perform(load, &mut recording);
        recording.end(match &driven {
            Ok(driven) => driven.ended.as_ref().map(String::as_str),
            Err(error) => Err(error),
        })?;
        driven
    }

    /// Everything between the first lines and the last one.
    fn perform(
        &self,
        load: &mut dyn Measured,
        recording: &mut Recording<'_>,
    ) -> Result<Driven, Blamed> {
        self.purpose(self.before)
            .control(&self.stage.endpoint, async |connection| {
                run_all(connection, self.before).await?;
                // With what these statements set, for the load meets that.
                let server = self.stage.identify(connection, "start").await?;
                recording.write(&Line::Server(server));
                Ok(())
            })?;
        let outcome = load.drive(recording)?;
        // What is asked of the server afterwards is no part of it.
        let took_s = recording.elapsed_s();
        recording.outcome(&outcome);
        let ended = how_it_ended(&outcome);
        load.follow_up(took_s, ended.is_ok(), &mut |line| recording.write(&line))?;
        if ended.is_ok() {
            self.purpose(self.after)
                .control(&self.stage.endpoint, async |connection| {
                    let server = self.stage.identify(connection, "end").await?;
                    recording.write(&Line::Server(server));
                    run_all(connection, self.after).await
                })?;
        }
        Ok(Driven { outcome, ended })
    }

    /// The user's statements may take their time.
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

/// Why a load ended, in words, if it ended as planned and gave a result.
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
        Ended::Failed { operation, failure } => Err(Blamed::new(
            Blame::Server,
            format!("{operation}: error {}: {failure}", failure.number),
        )
        .hint(
            "on_error = \"count\" or \"retry\" under [load] continues after an error".to_owned(),
        )),
    }
}
