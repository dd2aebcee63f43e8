//! What is compared: one number per execution.

use samples::RunSummary;

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// Successful operations per second; more is better.
    Throughput,
    /// New-Orders per minute, rolled back ones included (clause 5.4.2); more is better. Of its terminals only.
    NewOrders,
    /// Median response time; less is better.
    P50,
    /// 95th percentile of the response time; less is better.
    P95,
    /// 99th percentile of the response time; less is better. Undefined with too few operations beyond it.
    P99,
    /// Length of the measurement, for work that ends by itself (a load of data); less is better.
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

    /// Metrics that speak for results where no question names one, the first one that they have.
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

    /// The metric of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|metric| metric.name() == name)
    }

    /// True where more is better.
    pub fn more_is_better(self) -> bool {
        matches!(self, Self::Throughput | Self::NewOrders)
    }

    /// The execution's number: operations per second, New-Orders per minute, nanoseconds or seconds; `None` where it was not measured.
    pub fn of(self, run: &RunSummary) -> Option<f64> {
        let latency = run.latency.as_ref();
        let value = match self {
            Self::Throughput => run.throughput_per_s?,
            Self::NewOrders => run.new_orders_per_min()?,
            Self::P50 => latency?.p50_ns? as f64,
            Self::P95 => latency?.p95_ns? as f64,
            Self::P99 => latency?.p99_ns? as f64,
            Self::Elapsed => run.measured_s,
        };
        // Nothing done, or nothing timed, is no number to compare.
        (value > 0.0).then_some(value)
    }
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
