//! Which percentiles of response times are given: those with enough independent operations beyond them (rule M09).

use audit::independent_beyond_each;
use samples::{LatencySummary, Record, are_enough};
use verdict::Execution;

/// Why a percentile is not given.
pub(crate) const LEFT_OUT: &str =
    "–: a percentile with fewer than ten independent operations beyond it is not given.";

/// The percentiles of whole runs that have enough beyond them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Support {
    p50: bool,
    p95: bool,
    p99: bool,
    p999: bool,
}

impl Support {
    /// What these runs support together: one run's worth is that of its bursts, another run's are others.
    pub(crate) fn of<'r>(runs: impl IntoIterator<Item = &'r Record>) -> Self {
        let mut beyond = [0.0; 4];
        for record in runs {
            let of_run = independent_beyond_each(record, [0.5, 0.95, 0.99, 0.999]);
            beyond
                .iter_mut()
                .zip(of_run)
                .for_each(|(sum, more)| *sum += more);
        }
        let [p50, p95, p99, p999] = beyond.map(are_enough);
        Self {
            p50,
            p95,
            p99,
            p999,
        }
    }

    /// The response times of a run without the percentiles that it does not support itself.
    pub(crate) fn given_of(execution: &Execution<'_>) -> Option<LatencySummary> {
        let times = execution.summary().latency?;
        Some(Self::of([execution.record]).given(times))
    }

    /// A run's response times without the percentiles that have too little beyond them.
    pub(crate) fn given(self, times: LatencySummary) -> LatencySummary {
        LatencySummary {
            p50_ns: times.p50_ns.filter(|_| self.p50),
            p95_ns: times.p95_ns.filter(|_| self.p95),
            p99_ns: times.p99_ns.filter(|_| self.p99),
            p999_ns: times.p999_ns.filter(|_| self.p999),
            ..times
        }
    }
}
