//! One run, of an experiment or of a command: drives its loads on its stage, and writes their records.

use std::path::PathBuf;

use blame::Blamed;
use protocol::Connection;
use results::results_list;
use samples::Line;

use crate::{
    control::{self, Purpose},
    limit::{HeldDisk, ServerLimits},
    open_files,
    record::{
        load_record::NewRecord,
        recording::{Recording, RunProgress},
    },
    run::{
        load_outcome::{LoadOutcome, end_together, first_error},
        planned::Planned,
    },
};

pub(crate) mod driver;
pub(crate) mod load_outcome;
pub(crate) mod planned;
mod several_loads;
pub(crate) mod shortcoming;
pub(crate) mod single_run;

/// Drives the loads of a run and writes their records to these paths; after an error the records contain the reason why
/// they are incomplete. An incomplete run is an error only if nothing was measured.
pub(crate) fn record(
    planned: &mut Planned<'_>,
    paths: &[PathBuf],
    progress: RunProgress<'_>,
) -> Result<Vec<LoadOutcome>, Blamed> {
    open_files::provide_for(planned.connections())?;
    // Several loads have the same pause.
    let pause = planned.run.loads[0].spec.pause;
    if !pause.is_zero() {
        control::wait(reactor::sleep(pause))?;
    }
    let records = planned.new_records(paths);
    // From here on, so that the machine's line and the first sample tell of it.
    let held = planned.stage.limit.as_ref().map(ServerLimits::hold);
    let held = held.transpose()?;
    let mut recording = Recording::begin(
        &records,
        planned.stage,
        planned.cadence(),
        planned.context,
        progress,
        planned.events(),
    )?;
    (planned.known_before()).for_each(|line| recording.write(&line));
    for (load, record) in records.iter().enumerate() {
        let known = record.known_before.iter();
        known.for_each(|line| recording.write_of(load, line));
    }
    if planned.identity.command.is_some() {
        // The records of an experiment are parts of its results, which are listed.
        for record in &records {
            results_list::list(record.path, &|what| planned.context.warn(what));
        }
    }
    let driven = perform(planned, &records, &mut recording, held);
    let ended: Vec<Result<&str, &Blamed>> = match &driven {
        Ok(driven) => {
            let ended = driven.iter().map(|it| it.ended.as_ref());
            ended.map(|it| it.map(String::as_str)).collect()
        }
        Err(error) => records.iter().map(|_| Err(error)).collect(),
    };
    recording.end(&ended)?;
    driven
}

/// Executes everything between the first lines and the last lines.
fn perform(
    planned: &mut Planned<'_>,
    records: &[NewRecord<'_>],
    recording: &mut Recording<'_>,
    held: Option<HeldDisk>,
) -> Result<Vec<LoadOutcome>, Blamed> {
    let (run, stage) = (planned.run, planned.stage);
    if let Some(endpoint) = &stage.endpoint {
        let purpose = purpose(&run.before);
        purpose.control(endpoint, async |connection| {
            run_all(connection, &run.before).await?;
            // After these statements, so that their settings are included, which apply to the load.
            let server = stage.identify(connection, "start").await?;
            recording.write(&Line::Server(server));
            Ok(())
        })?;
    }
    let outcomes = planned.drive(recording);
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
    let mut driven: Vec<LoadOutcome> = outcomes.into_iter().map(LoadOutcome::of).collect();
    end_together(&mut driven, records);
    if driven.iter().all(|it| it.outcome.is_none()) {
        return first_error(driven).map_or(Ok(Vec::new()), Err);
    }
    let is_complete = driven.iter().all(|it| it.ended.is_ok());
    planned.follow_up(took_s, is_complete, recording)?;
    if let (Some(endpoint), true) = (&stage.endpoint, is_complete) {
        let purpose = purpose(&run.after);
        purpose.control(endpoint, async |connection| {
            let server = stage.identify(connection, "end").await?;
            recording.write(&Line::Server(server));
            run_all(connection, &run.after).await
        })?;
    }
    Ok(driven)
}

/// Purpose of these statements, and thus their time limit: those of the user may take long.
fn purpose(statements: &[String]) -> Purpose {
    if statements.is_empty() {
        Purpose::Question
    } else {
        Purpose::OfUser
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
