//! The values of columns: SQLite's integers, and the times of operations.

use figures::{QUANTILES, Times};

/// Microseconds from nanoseconds: the usual unit for the times of a database's statements.
fn us(ns: u64) -> f64 {
    ns as f64 / 1e3
}

/// SQLite's integers are signed; larger values than 2^63 do not occur.
pub(super) fn integer(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// The percentiles that are based on few operations, `p99 p999`; `None` if there are none.
pub(super) fn thin_percentiles(times: Option<&Times>) -> Option<String> {
    let percentiles = times?.percentiles.iter().zip(["p50", "p95", "p99", "p999"]);
    let thin = percentiles.filter(|(it, _)| it.measured_ns().is_some() && it.is_thin());
    let names: Vec<&str> = thin.map(|(_, name)| name).collect();
    (!names.is_empty()).then(|| names.join(" "))
}

/// The seven columns of response times in the order of the schema.
pub(super) fn time_columns(times: Option<&Times>) -> [Option<f64>; 7] {
    let Some(times) = times else {
        return [None; 7];
    };
    let [p50, p95, p99, p999] = QUANTILES.map(|quantile| times.measured_ns(quantile).map(us));
    [
        Some(times.mean_ns / 1e3),
        Some(us(times.min_ns)),
        p50,
        p95,
        p99,
        p999,
        Some(us(times.max_ns)),
    ]
}
