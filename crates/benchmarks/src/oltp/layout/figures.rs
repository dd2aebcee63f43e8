//! The final report's figures, from a run record.

use std::time::Duration;

use samples::{CONNECT, Durations, Record};

use super::{FinalReport, Latency, histogram};

/// Figures of the final report that are not in a record.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReportExtras<'b> {
    /// Percentiles (0 to 100) to print; without any, the report says that they are disabled.
    pub percentiles: &'b [f64],
    /// From the first event to the end of the last.
    pub total_time: Duration,
    /// Events of each connection, and the time spent in them, seconds.
    pub threads: Vec<(u64, f64)>,
    /// Events in flight at the end; `None` if there are none.
    pub unfinished: Option<u64>,
}

impl FinalReport {
    /// The figures of a run: events of the measurement, including those that were completed after its end.
    pub fn of(record: &Record, beside: &ReportExtras<'_>) -> Self {
        let totals = record.totals();
        let classes = totals.classes();
        let response = &totals.response();
        let statements = record
            .errors
            .iter()
            .filter(|error| error.operation != CONNECT);
        let (lost, ignored): (Vec<_>, Vec<_>) = statements.partition(|error| error.number == 0);
        let events: Vec<f64> = beside
            .threads
            .iter()
            .map(|(events, _)| *events as f64)
            .collect();
        let busy: Vec<f64> = beside.threads.iter().map(|(_, busy_s)| *busy_s).collect();
        Self {
            reads: classes.reads,
            writes: classes.writes,
            others: classes.others,
            events: response.count,
            ignored_errors: ignored.iter().map(|error| error.count).sum(),
            reconnects: lost.iter().map(|error| error.retried).sum(),
            unfinished: beside.unfinished,
            total_time: beside.total_time,
            latency: Latency {
                min_ms: response.min_ns as f64 / 1e6,
                avg_ms: response.mean_ns().unwrap_or(0.0) / 1e6,
                max_ms: response.max_ns as f64 / 1e6,
                percentiles: beside
                    .percentiles
                    .iter()
                    .map(|percentile| (*percentile, percentile_ms(response, *percentile)))
                    .collect(),
                sum_ms: response.sum_ns as f64 / 1e6,
            },
            events_per_thread: mean_and_deviation(&events),
            busy_per_thread_s: mean_and_deviation(&busy),
        }
    }
}

/// The histogram of a run's response times.
pub fn histogram_of(record: &Record) -> String {
    histogram(record.totals().response().histogram.counts())
}

/// A percentile (0 to 100) in milliseconds, within the exact minimum and maximum; 0 without times.
fn percentile_ms(durations: &Durations, percentile: f64) -> f64 {
    let ns = durations.histogram.quantile_ns(percentile / 100.0);
    let ns = ns.map_or(0, |ns| {
        ns.clamp(durations.min_ns.min(durations.max_ns), durations.max_ns)
    });
    ns as f64 / 1e6
}

/// Mean and standard deviation of all values; as in sysbench, the variance is divided by their number.
fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let count = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / count).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fairness_of_two_threads() {
        // sysbench printed 42.5000/0.50 for 85 events of two threads.
        assert_eq!(mean_and_deviation(&[42.0, 43.0]), (42.5, 0.5));
        assert_eq!(mean_and_deviation(&[]), (0.0, 0.0));
    }
}
