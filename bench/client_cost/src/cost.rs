//! What a query costs: the difference of a long and a short run.

use crate::finished::Usage;

/// Queries per connection of the short run: connecting, preparing and compiling scripts are behind then.
pub(crate) const SHORT_PER_CONNECTION: u64 = 64;

/// A run and the number of operations that it did.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Run {
    pub(crate) operations: u64,
    pub(crate) usage: Usage,
    /// Processor time of the server meanwhile, in seconds; only the null server's is used.
    pub(crate) server_cpu_s: f64,
}

/// What one operation costs once everything is set up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Cost {
    /// Processor time of the client per operation.
    pub(crate) client_us: f64,
    /// Processor time of the server per operation; only of the null server.
    pub(crate) server_us: f64,
    /// Operations per second of wall time.
    pub(crate) operations_per_s: f64,
    /// Largest resident set of the long run.
    pub(crate) peak_bytes: u64,
}

impl Cost {
    /// The cost per operation by which a long run differs from a short one.
    ///
    /// `None` when the long run was not longer: the machine was too busy to tell.
    pub(crate) fn between(short: &Run, long: &Run) -> Option<Self> {
        let operations = (long.operations - short.operations) as f64;
        let client_s = long.usage.cpu_s - short.usage.cpu_s;
        let wall_s = long.usage.wall_s - short.usage.wall_s;
        (client_s > 0.0 && wall_s > 0.0).then(|| Self {
            client_us: client_s * 1e6 / operations,
            server_us: (long.server_cpu_s - short.server_cpu_s) * 1e6 / operations,
            operations_per_s: operations / wall_s,
            peak_bytes: long.usage.peak_bytes,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(operations: u64, wall_s: f64, cpu_s: f64) -> Run {
        Run {
            operations,
            usage: Usage {
                wall_s,
                cpu_s,
                peak_bytes: 1 << 20,
            },
            server_cpu_s: 2.0 * cpu_s,
        }
    }

    #[test]
    fn what_both_runs_pay_drops_out() {
        let cost = Cost::between(&run(100, 0.3, 0.2), &run(1100, 1.3, 0.7)).unwrap();
        assert!((cost.client_us - 500.0).abs() < 1e-6, "{cost:?}");
        assert!((cost.server_us - 1000.0).abs() < 1e-6, "{cost:?}");
        assert!((cost.operations_per_s - 1000.0).abs() < 1e-6, "{cost:?}");
        assert_eq!(cost.peak_bytes, 1 << 20);
    }

    #[test]
    fn a_long_run_that_was_no_longer_tells_nothing() {
        assert_eq!(
            Cost::between(&run(100, 1.3, 0.2), &run(200, 1.2, 0.3)),
            None
        );
        assert_eq!(
            Cost::between(&run(100, 1.0, 0.3), &run(200, 1.2, 0.2)),
            None
        );
    }
}
