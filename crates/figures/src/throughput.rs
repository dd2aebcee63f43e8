//! The throughput of a combination over its executions.

use stats::{ExecutionMean, execution_mean};

use crate::run::RunFigures;

/// Confidence of the interval.
const CONFIDENCE: f64 = 0.95;

/// The mean throughput of the executions of a combination, operations per second, with its 95 % interval: one call for
/// what outputs show and rules judge.
///
/// `None` if an execution has no throughput: a mean over the others would be of a different set than the other figures.
pub fn throughput_of<'f>(
    executions: impl IntoIterator<Item = &'f RunFigures>,
) -> Option<ExecutionMean> {
    let values = executions.into_iter().map(|it| it.throughput_per_s);
    let values: Option<Vec<f64>> = values.collect();
    execution_mean(&values?, CONFIDENCE)
}
