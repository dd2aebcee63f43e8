//! What executions are called: runs, or batches of slices of runs side by side.

use crate::grid::Grid;

/// True if the executions of a grid are batches of slices.
pub(crate) fn has_batches(grid: &Grid<'_>) -> bool {
    let mut executions = grid.executions.iter();
    executions.any(|it| it.record.batch.is_some())
}

/// What one and several executions are called where their statistics are described.
pub(crate) fn nouns(of_batches: bool) -> [&'static str; 2] {
    if of_batches {
        ["batch", "batches"]
    } else {
        ["execution", "executions"]
    }
}

/// What one and several of the blocks are called in which executions make pairs.
pub(crate) fn block_nouns(of_batches: bool) -> [&'static str; 2] {
    if of_batches {
        ["batch", "batches"]
    } else {
        ["block", "blocks"]
    }
}

/// What one and several executions are called where they are counted.
pub(crate) fn run_nouns(of_batches: bool) -> [&'static str; 2] {
    if of_batches {
        ["batch", "batches"]
    } else {
        ["run", "runs"]
    }
}
