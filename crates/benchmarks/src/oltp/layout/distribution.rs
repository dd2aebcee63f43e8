//! The latency histogram of sysbench: logarithmic buckets with a bar of stars.

use std::fmt::Write;

/// Number of buckets from 0.001 ms to 100 s, each 1.8 % wider than the one before.
const BUCKETS: f64 = 1024.0;
const MIN_MS: f64 = 0.001;
const MAX_MS: f64 = 100_000.0;
/// Number of stars of the fullest bucket.
const STARS: f64 = 40.0;

/// The histogram of response times in nanoseconds, each with its count, in ascending order.
///
/// Buckets continue beyond 100 s, where the original puts all times into its last one.
pub fn histogram(times_ns: impl IntoIterator<Item = (u64, u64)>) -> String {
    let mut out = String::from(
        "Latency histogram (values are in milliseconds)\n       \
         value  ------------- distribution ------------- count\n",
    );
    let per_bucket = (BUCKETS - 1.0) / (MAX_MS / MIN_MS).ln();
    let mut buckets: Vec<(f64, u64)> = Vec::new();
    for (time_ns, count) in times_ns {
        let log = (time_ns as f64 / 1e6 / MIN_MS).ln();
        let bucket = (log * per_bucket).round().max(0.0);
        match buckets.last_mut() {
            Some((last, sum)) if *last == bucket => *sum += count,
            _ => buckets.push((bucket, count)),
        }
    }
    let fullest = buckets.iter().map(|(_, count)| *count).max().unwrap_or(1);
    for (bucket, count) in buckets {
        let value_ms = MIN_MS * (bucket / per_bucket).exp();
        let stars = (STARS * count as f64 / fullest as f64).round() as usize;
        writeln!(out, "{value_ms:12.3} |{:<40} {count}", "*".repeat(stars))
            .expect("writing to a string does not fail");
    }
    out.push_str(" \n");
    out
}
