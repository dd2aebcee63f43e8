//! The default number of event loops of a load.

use std::{num::NonZero, thread};

use settings::Arrivals;

/// Default number of event loops for this number of connections on the CPUs that this process may use (its affinity and
/// its cgroup's quota).
///
/// min(connections, 2 x CPUs), but one in an open loop and one on a single CPU.
pub fn default_loops(connections: u32, arrivals: &Arrivals) -> u32 {
    let cpus = thread::available_parallelism().map_or(1, NonZero::get) as u32;
    loops_on(cpus, connections, arrivals)
}

fn loops_on(cpus: u32, connections: u32, arrivals: &Arrivals) -> u32 {
    // Each event loop has its own arrivals and connections. Several loops are several queues: an operation would wait
    // on one loop while a connection is free on another, unlike in the single queue of a real service.
    if arrivals.rate_per_s().is_some() {
        return 1;
    }
    match cpus {
        // Several loops would take turns, and each turn would find only a part of the answers.
        0 | 1 => 1,
        _ => connections.min(2 * cpus).max(1),
    }
}

#[cfg(test)]
mod tests {
    use settings::Process;

    use super::*;

    #[test]
    fn loops_follow_cpus_and_connections() {
        let closed = Arrivals::Closed;
        let open = Arrivals::Open {
            rate_per_s: 1e3,
            process: Process::Constant,
        };
        let cases = [
            (1, 1, closed, 1),
            (1, 64, closed, 1),
            (2, 1, closed, 1),
            (2, 3, closed, 3),
            (2, 64, closed, 4),
            (16, 8, closed, 8),
            (16, 10_000, closed, 32),
            (16, 0, closed, 1),
            (1, 64, open, 1),
            (16, 64, open, 1),
        ];
        for (cpus, connections, arrivals, loops) in cases {
            let found = loops_on(cpus, connections, &arrivals);
            assert_eq!(found, loops, "{cpus} CPUs, {connections} connections");
        }
    }
}
