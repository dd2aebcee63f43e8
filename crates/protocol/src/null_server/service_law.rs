//! The service-time law: the simulated resources of a null server, at which statements wait for each other.
//!
//! It is pure: all times are the caller's. The null server applies it to the times of real statements, and a simulation
//! in virtual time has the same queues.

use std::{cmp::Reverse, collections::BinaryHeap, time::Duration};

/// What a statement needs of the simulated resources, in this order: a CPU, the serial part, the disk.
///
/// Each resource serves statements first come, first served. A closed loop without pauses therefore completes at most
/// cpus / time, 1 / `serial_time` and iops / `per_statement` statements per second, whichever is least, and reaches
/// this bound with enough connections.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ServiceLaw {
    pub cpu: Option<CpuDemand>,
    /// Time of a part that one statement at a time executes; zero for none.
    pub serial_time: Duration,
    pub reads: Option<ReadDemand>,
}

/// CPU time on one of several CPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CpuDemand {
    /// At least one.
    pub cpus: u16,
    /// CPU time of each statement.
    pub time: Duration,
}

/// Page reads from one disk.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReadDemand {
    /// Mean over statements, not negative: the first n statements need n times as many reads, rounded down.
    pub per_statement: f64,
    /// Reads per second of a busy disk, above zero; `None` for a disk that takes no time.
    pub iops: Option<f64>,
}

/// The queues of a law: what the statements so far use of its resources.
#[derive(Debug)]
pub struct ServiceQueues {
    law: ServiceLaw,
    /// The time at which each CPU becomes free.
    cpus: BinaryHeap<Reverse<Duration>>,
    /// The time at which the serial part becomes free.
    serial_free: Duration,
    disk: Disk,
    statements: u64,
    page_reads: u64,
}

/// A disk that serves reads one after the other, each in the same time.
#[derive(Debug, Default)]
struct Disk {
    /// Begin and end of the time without an idle moment.
    busy_from: Duration,
    busy_until: Duration,
    /// Reads in this time.
    reads: u64,
}

impl ServiceQueues {
    /// Queues of resources that are idle.
    pub fn new(law: ServiceLaw) -> Self {
        let cpus = law.cpu.map_or(0, |cpu| cpu.cpus.max(1));
        Self {
            law,
            cpus: (0..cpus).map(|_| Reverse(Duration::ZERO)).collect(),
            serial_free: Duration::ZERO,
            disk: Disk::default(),
            statements: 0,
            page_reads: 0,
        }
    }

    /// The time at which the law has served a statement that arrives at `arrival`; both count from the same origin, and
    /// statements have to be passed in the order of their arrival.
    pub fn serve(&mut self, arrival: Duration) -> Duration {
        self.statements += 1;
        let mut at = arrival;
        if let Some(CpuDemand { time, .. }) = self.law.cpu
            && let Some(mut first_free) = self.cpus.peek_mut()
        {
            at = at.max(first_free.0) + time;
            *first_free = Reverse(at);
        }
        if !self.law.serial_time.is_zero() {
            at = at.max(self.serial_free) + self.law.serial_time;
            self.serial_free = at;
        }
        if let Some(ReadDemand {
            per_statement,
            iops,
        }) = self.law.reads
        {
            // The fractions of all statements together, so that the mean is exact.
            let reads = (self.statements as f64 * per_statement) as u64 - self.page_reads;
            self.page_reads += reads;
            if let Some(iops) = iops.filter(|_| reads > 0) {
                at = self.disk.read(at, reads, iops);
            }
        }
        at
    }

    /// Page reads of all statements so far; `None` if the law has none.
    pub fn page_reads(&self) -> Option<u64> {
        self.law.reads.map(|_| self.page_reads)
    }
}

impl Disk {
    /// The end of reads that are requested at this time.
    ///
    /// It is computed from all reads since the disk was last idle: rounded times of single reads would add up to
    /// another rate.
    fn read(&mut self, requested: Duration, reads: u64, iops: f64) -> Duration {
        if requested >= self.busy_until {
            (self.busy_from, self.reads) = (requested, 0);
        }
        self.reads += reads;
        let busy = Duration::try_from_secs_f64(self.reads as f64 / iops);
        self.busy_until = self.busy_from.saturating_add(busy.unwrap_or(Duration::MAX));
        self.busy_until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    /// The ends of statements that arrive at these times, and their page reads.
    fn served(law: ServiceLaw, arrivals_ms: &[u64]) -> (Vec<u128>, Option<u64>) {
        let mut queues = ServiceQueues::new(law);
        let ends = arrivals_ms.iter().map(|at| queues.serve(ms(*at)));
        (
            ends.map(|end| end.as_millis()).collect(),
            queues.page_reads(),
        )
    }

    fn cpus(cpus: u16, time_ms: u64) -> Option<CpuDemand> {
        Some(CpuDemand {
            cpus,
            time: ms(time_ms),
        })
    }

    fn reads(per_statement: f64, iops: f64) -> Option<ReadDemand> {
        Some(ReadDemand {
            per_statement,
            iops: Some(iops),
        })
    }

    #[test]
    fn a_law_without_resources_takes_no_time() {
        assert_eq!(
            served(ServiceLaw::default(), &[0, 0, 7]),
            (vec![0, 0, 7], None)
        );
    }

    #[test]
    fn statements_wait_for_the_first_free_cpu() {
        let law = ServiceLaw {
            cpu: cpus(2, 10),
            ..ServiceLaw::default()
        };
        // The CPUs are free again at 10 and 14 ms.
        assert_eq!(served(law, &[0, 4, 5, 5, 40]).0, [10, 14, 20, 24, 50]);
    }

    #[test]
    fn one_statement_at_a_time_is_in_the_serial_part() {
        let law = ServiceLaw {
            serial_time: ms(5),
            ..ServiceLaw::default()
        };
        assert_eq!(served(law, &[0, 1, 2, 30]).0, [5, 10, 15, 35]);
    }

    #[test]
    fn page_reads_are_exact_on_average_and_wait_for_the_disk() {
        let law = ServiceLaw {
            reads: reads(0.4, 100.0),
            ..ServiceLaw::default()
        };
        // 0.4, 0.8, 1.2, 1.6, 2.0, rounded down: the third and the fifth statement read a page, in 10 ms each. The last
        // one, 2.4 in all, reads none.
        let (ends, page_reads) = served(law, &[0, 0, 0, 0, 0, 50]);
        assert_eq!(ends, [0, 0, 10, 0, 20, 50]);
        assert_eq!(page_reads, Some(2));
        let unlimited = ServiceLaw {
            reads: Some(ReadDemand {
                per_statement: 2.5,
                iops: None,
            }),
            ..law
        };
        assert_eq!(served(unlimited, &[0, 0, 3]), (vec![0, 0, 3], Some(7)));
    }

    #[test]
    fn an_idle_disk_begins_anew() {
        let law = ServiceLaw {
            reads: reads(1.0, 100.0),
            ..ServiceLaw::default()
        };
        assert_eq!(served(law, &[0, 5, 100, 100]).0, [10, 20, 110, 120]);
    }

    #[test]
    fn the_times_of_all_resources_add_up() {
        let law = ServiceLaw {
            cpu: cpus(2, 10),
            serial_time: ms(4),
            reads: reads(2.0, 100.0),
        };
        // 10 + 4 + 2 · 10 ms. The second statement is on the other CPU, waits 4 ms for the serial part and 16 ms for
        // the disk. The third one has a CPU at 10 ms and the serial part at 20 ms, and waits 30 ms for the disk.
        assert_eq!(served(law, &[0, 0, 0]).0, [34, 54, 74]);
    }

    #[test]
    fn the_rate_of_a_disk_is_exact_whatever_the_time_of_a_read() {
        // A third of a second is no whole number of nanoseconds.
        let law = ServiceLaw {
            reads: reads(1.0, 3.0),
            ..ServiceLaw::default()
        };
        let mut queues = ServiceQueues::new(law);
        let mut end = Duration::ZERO;
        for _ in 0..3_000 {
            end = queues.serve(Duration::ZERO);
        }
        assert_eq!(end, Duration::from_secs(1_000));
        // A limit that is almost none is no overflow.
        let slow = ServiceLaw {
            reads: reads(1e6, 1e-300),
            ..law
        };
        assert_eq!(ServiceQueues::new(slow).serve(ms(1)), Duration::MAX);
    }
}
