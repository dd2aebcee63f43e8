//! Fills tables over several connections and reports the progress.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    thread::available_parallelism,
    time::Duration,
};

use blame::{Blame, Blamed};
use dataset::{Adjusted, PopulateError, PopulateEvent, Population};
use protocol::Endpoint;

use crate::listener::{Context, Length, Step};

/// Length of the progress bar, which shows a share of the bytes.
const WHOLE: u64 = 1000;

/// Fills tables; `what` is the text of the progress line, such as `loading 250000 rows`.
pub fn fill(
    population: &Population,
    what: &str,
    context: &Context,
) -> Result<dataset::Progress, Blamed> {
    fill_and_tell(population, what, context, &mut |_| {})
}

/// Fills tables like [`fill`], and reports every event to `also`.
pub fn fill_and_tell(
    population: &Population,
    what: &str,
    context: &Context,
    also: &mut dyn FnMut(&PopulateEvent),
) -> Result<dataset::Progress, Blamed> {
    let step = context.step(what, Length::Paced(WHOLE));
    let mut adjusted = BTreeMap::new();
    let populated = dataset::populate(population, &context.interrupt, &mut |event| {
        show(&*step, what, &event);
        also(&event);
        if let PopulateEvent::Adjusted {
            table,
            adjusted: more,
        } = event
        {
            add(adjusted.entry(table), more);
        }
    });
    for (table, Adjusted { warnings, first }) in &adjusted {
        step.note(&format!(
            "warning: table {table}: the server changed values of its rows ({warnings} warnings): {first}"
        ));
    }
    populated.map_err(|error| blamed(&population.endpoint, error))
}

/// Default number of connections: the number of CPUs.
pub fn default_streams() -> u32 {
    available_parallelism().map_or(1, |cpus| u32::try_from(cpus.get()).unwrap_or(u32::MAX))
}

/// Adds the warnings of one statement to those of its table and keeps the first one.
fn add(table: Entry<'_, String, Adjusted>, more: Adjusted) {
    match table {
        Entry::Vacant(vacant) => drop(vacant.insert(more)),
        Entry::Occupied(mut known) => {
            let warnings = &mut known.get_mut().warnings;
            *warnings = warnings.saturating_add(more.warnings);
        }
    }
}

fn show(step: &dyn Step, what: &str, event: &PopulateEvent) {
    match event {
        PopulateEvent::Progress(progress) => {
            let share = progress.bytes as f64 / progress.bytes_expected.max(1) as f64;
            // The indexes are created after the last row.
            step.reach(((share * WHOLE as f64) as u64).min(WHOLE - 1));
            let pace = format!(
                "{what}: {} rows, {}",
                progress.rows,
                units::bytes_per_s(progress.bytes_per_s())
            );
            match progress.left() {
                Some(left) if left > Duration::ZERO => step.say_with(&pace, left),
                _ => step.say(&pace),
            }
        }
        PopulateEvent::ByInsert { reason } => {
            step.note(&format!(
                "note: loading with INSERT, because of this: {reason}"
            ));
        }
        PopulateEvent::Finishing { table, .. } => {
            step.say(&format!("{what}: creating the indexes of {table}"));
        }
        PopulateEvent::Adjusted { .. }
        | PopulateEvent::Creating { .. }
        | PopulateEvent::Filling { .. }
        | PopulateEvent::Ready { .. } => {}
    }
}

fn blamed(endpoint: &Endpoint, error: PopulateError) -> Blamed {
    match error {
        PopulateError::Connection(error) => error.blamed(&endpoint.address),
        PopulateError::Interrupted => Blamed::new(Blame::Interrupted, error),
        PopulateError::Thread(_) => Blamed::new(Blame::Machine, error),
        PopulateError::Statement { ref source, .. } => {
            let hint = source.hint();
            Blamed::new(Blame::Server, &error).hint(hint)
        }
        PopulateError::Row {
            is_of_file: true, ..
        } => Blamed::new(Blame::Input, error),
        PopulateError::Row { .. } => Blamed::new(Blame::Server, error),
    }
}
