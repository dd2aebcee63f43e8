//! The compared metrics: one number per execution.

use figures::{Percentile, RunFigures, are_thin};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// Successful operations per second; more is better.
    Throughput,
    /// New-Orders per minute, including rolled-back ones (clause 5.4.2); more is better. Only for its terminals.
    NewOrders,
    /// Median response time; less is better.
    P50,
    /// 95th percentile of the response time; less is better.
    P95,
    /// 99th percentile of the response time; less is better. Undefined with too few operations beyond it.
    P99,
    /// Duration of the measurement, for work that ends by itself (a data load); less is better.
    Elapsed,
}

impl Metric {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Throughput,
        Self::NewOrders,
        Self::P50,
        Self::P95,
        Self::P99,
        Self::Elapsed,
    ];

    /// Default metrics for results without a question, in order of preference.
    pub const HEADLINE: [Self; 3] = [Self::NewOrders, Self::Elapsed, Self::Throughput];

    /// Its name in an experiment file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Throughput => "throughput",
            Self::NewOrders => "new_orders_per_min",
            Self::P50 => "p50",
            Self::P95 => "p95",
            Self::P99 => "p99",
            Self::Elapsed => "elapsed",
        }
    }

    /// Its name in a sentence.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::NewOrders => "New-Orders per minute",
            other => other.name(),
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|metric| metric.name() == name)
    }

    pub fn more_is_better(self) -> bool {
        matches!(self, Self::Throughput | Self::NewOrders)
    }

    /// The execution's number: operations per second, New-Orders per minute, nanoseconds or seconds; `None` if it was
    /// not measured.
    pub fn of(self, run: &RunFigures) -> Option<f64> {
        self.of_all(&[run])?.first().copied()
    }

    /// The numbers of executions that are analysed together; `None` if one was not measured, because the others are
    /// then a different set of executions than that of the other metrics.
    pub fn of_all(self, runs: &[&RunFigures]) -> Option<Vec<f64>> {
        let values: Vec<f64> = match self {
            Self::Throughput => all(runs, |run| run.throughput_per_s)?,
            Self::NewOrders => all(runs, |run| run.new_orders_per_min)?,
            Self::P50 => percentiles_ns(runs, 0.5)?,
            Self::P95 => percentiles_ns(runs, 0.95)?,
            Self::P99 => percentiles_ns(runs, 0.99)?,
            Self::Elapsed => runs.iter().map(|run| run.measured_s).collect(),
        };
        // A value of zero cannot be compared.
        values.iter().all(|value| *value > 0.0).then_some(values)
    }

    /// True for a percentile that is marked because it is based on too few operations in all of these executions.
    pub fn is_thin(self, runs: &[&RunFigures]) -> bool {
        let quantile = match self {
            Self::P50 => 0.5,
            Self::P95 => 0.95,
            Self::P99 => 0.99,
            Self::Throughput | Self::NewOrders | Self::Elapsed => return false,
        };
        let own = runs
            .iter()
            .map(|run| run.response.as_ref()?.percentile(quantile));
        let own: Option<Vec<&Percentile>> = own.collect();
        own.is_some_and(are_thin)
    }
}

fn all(runs: &[&RunFigures], of: impl Fn(&RunFigures) -> Option<f64>) -> Option<Vec<f64>> {
    runs.iter().map(|run| of(run)).collect()
}

fn percentiles_ns(runs: &[&RunFigures], quantile: f64) -> Option<Vec<f64>> {
    all(runs, |run| {
        Some(run.response.as_ref()?.measured_ns(quantile)? as f64)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back() {
        for metric in Metric::ALL {
            assert_eq!(Metric::named(metric.name()), Some(metric));
        }
        assert_eq!(Metric::named("speed"), None);
    }
}
