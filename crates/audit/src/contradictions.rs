//! How a record, or the records of an experiment, can contradict themselves: a table of checks, each with a fixture among
//! the tests.

mod between;
mod course;
mod load;
mod machine;
mod server;

use samples::Record;

use crate::set::Set;

/// A check of one record: the contradiction in words, if there is one.
pub(crate) type OfRecord = fn(&Record) -> Option<String>;
/// The same of the records of an experiment.
pub(crate) type OfSet = fn(&Set<'_>) -> Option<String>;

/// The checks of each record, the most telling first.
pub(crate) const OF_RECORD: [OfRecord; 20] = [
    course::intervals,
    course::window,
    course::figures,
    course::copied,
    course::observed_after_end,
    load::due,
    load::rate,
    load::ceiling,
    load::errors,
    load::connects,
    load::service,
    load::end,
    server::identity,
    server::buffer_pool,
    server::data,
    server::counters,
    machine::times,
    machine::capacity,
    machine::processes,
    machine::memory,
];

/// The checks of the records of an experiment together.
pub(crate) const OF_SET: [OfSet; 4] = [
    between::same,
    between::copied,
    between::overlapping,
    between::labels,
];
