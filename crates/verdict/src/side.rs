//! One side of a comparison: its executions and their common levels.

use std::collections::BTreeMap;

use figures::RunFigures;
use samples::{Interval, Record};

use crate::costs::Costs;

/// A complete execution with its figures.
#[derive(Debug, Clone)]
pub struct Execution<'a> {
    pub record: &'a Record,
    /// Index of its results: executions of one block of the same results make a pair.
    pub results: usize,
    pub(crate) figures: RunFigures,
    pub(crate) costs: Option<Costs>,
    /// The slices of a batch; `None` for a record that is not of a batch.
    pub(crate) slices: Option<Slices>,
}

/// The slices of a batch.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Slices {
    /// Its session, from 1.
    pub(crate) session: usize,
    /// The throughput in each slice, in the order of time. Half an operation more than were completed in it, so that all
    /// have a logarithm.
    pub(crate) per_s: Vec<f64>,
    /// The operations that were completed in each of them.
    pub(crate) ended: Vec<u64>,
}

impl Slices {
    fn of(record: &Record) -> Option<Self> {
        let session = record.session()? as usize;
        let intervals: Vec<&Interval> = record.measured_intervals().collect();
        let slices = intervals.chunk_by(|one, next| one.slice == next.slice);
        let (per_s, ended) = slices
            .map(|slice| {
                let succeeded: u64 = slice.iter().map(|it| it.succeeded()).sum();
                let length_s: f64 = slice.iter().map(|it| it.length_s).sum();
                ((succeeded as f64 + 0.5) / length_s, succeeded)
            })
            .unzip();
        Some(Self {
            session,
            per_s,
            ended,
        })
    }
}

impl<'a> Execution<'a> {
    /// The figures of a record.
    pub fn of(record: &'a Record, results: usize) -> Self {
        let figures = RunFigures::of(record);
        Self {
            record,
            results,
            // What the server did for the other loads of the run cannot be told apart.
            costs: Costs::of(record, &figures).filter(|_| record.header.beside.is_empty()),
            figures,
            slices: Slices::of(record),
        }
    }

    pub fn figures(&self) -> &RunFigures {
        &self.figures
    }
}

/// One side of a comparison.
#[derive(Debug, Clone)]
pub struct Side<'a> {
    /// The name given by the user.
    pub name: String,
    /// The levels that define the side and that the other side need not have; empty for whole results.
    pub levels: BTreeMap<String, String>,
    /// Its executions, without incomplete ones.
    pub executions: Vec<Execution<'a>>,
    /// If their number was determined by an analysis after every block: the maximum number of blocks.
    pub looked_at: Option<usize>,
}

/// The levels of a combination.
pub type Levels = BTreeMap<String, String>;

impl<'a> Side<'a> {
    /// The combinations in their order, without the levels of either side, each with its executions.
    pub(crate) fn places(&self, without: &[&Levels]) -> BTreeMap<Levels, Vec<&Execution<'a>>> {
        let mut places: BTreeMap<Levels, Vec<&Execution<'a>>> = BTreeMap::new();
        for execution in &self.executions {
            let levels = execution.record.header.combination.iter();
            let levels = levels
                .filter(|(factor, _)| !without.iter().any(|side| side.contains_key(*factor)))
                .map(|(factor, level)| (factor.clone(), level.clone()));
            places.entry(levels.collect()).or_default().push(execution);
        }
        places
    }
}
