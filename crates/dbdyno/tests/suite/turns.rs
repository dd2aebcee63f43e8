//! The slices of loads that take turns, read from the records of their runs.

use samples::Record;

use crate::results::{Results, record_name};

/// Rounding of times in a record, seconds.
pub(crate) const WITHIN_S: f64 = 1e-6;

/// The records of a session of two runs.
pub(crate) fn two_records(results: &Results) -> [Record; 2] {
    [1, 2].map(|run| Record::open(&results.file(&record_name(run))).unwrap())
}

/// Begin, end and number of the slices of a record.
pub(crate) fn slices(record: &Record) -> Vec<(f64, f64, u32)> {
    let mut slices: Vec<(f64, f64, u32)> = Vec::new();
    for interval in &record.intervals {
        let Some(number) = interval.slice else {
            continue;
        };
        let end_s = interval.t_s + interval.length_s;
        match slices.last_mut() {
            Some(last) if last.2 == number => last.1 = end_s,
            _ => slices.push((interval.t_s, end_s, number)),
        }
    }
    slices
}

/// Checks that one load at a time is measured, and that each block of slices ends before the next one begins.
#[track_caller]
pub(crate) fn take_turns(records: &[Record]) {
    let mut all: Vec<_> = records.iter().flat_map(slices).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    for pair in all.windows(2) {
        assert!(pair[0].1 <= pair[1].0 + WITHIN_S, "{pair:?}");
    }
    let numbers: Vec<u32> = all.iter().map(|it| it.2).collect();
    assert!(numbers.is_sorted(), "{numbers:?}");
}
