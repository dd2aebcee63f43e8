//! Percentiles that runs support together, and what stands where one is not given.

use figures::{RunFigures, Times, are_given};

/// Why a percentile is not given.
pub(crate) const LEFT_OUT: &str =
    "–: a percentile with fewer than ten independent operations beyond it is not given.";

/// Runs whose percentiles are given, or not, by all of them together.
#[derive(Clone, Copy)]
pub(crate) struct Together<'f>(pub(crate) &'f [&'f RunFigures]);

impl Together<'_> {
    /// A percentile of one of the runs' times, nanoseconds; `of` finds these times in each run.
    pub(crate) fn given_ns(
        self,
        of: fn(&RunFigures) -> Option<&Times>,
        run: &RunFigures,
        quantile: f64,
    ) -> Option<u64> {
        let all = self.0.iter().map(|run| of(run)?.percentile(quantile));
        let all = all.collect::<Option<Vec<_>>>()?;
        are_given(all).then_some(of(run)?.percentile(quantile)?.ns)
    }
}
