//! Coverage of predictions on the null server's service-time law, in virtual time: the measured executions and the
//! target are closed loops on the same queues.

#![expect(clippy::unwrap_used, reason = "a test may end in a panic")]

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BinaryHeap},
    time::Duration,
};

use protocol::null_server::{CpuDemand, ReadDemand, ServiceLaw, ServiceQueues};
use sizing::{
    Demands, Execution, Executions, Limit, MemoryUse, Prediction, PredictionRequest, ServerCpus,
    ServiceDemand, parse_target, predict,
};
use stats::Random;

/// Concurrencies with the most memory, and that of the other ones.
const CONCURRENCIES: [u32; 4] = [1, 4, 16, 64];
const CONCURRENCY: u32 = 16;
/// Shares of the data in memory, and that of the target.
const SHARES: [f64; 3] = [0.2, 0.4, 0.8];
const WANTED: f64 = 0.6;
/// Few pages, because the model of the misses adds up single ones.
const DATA_BYTES: u64 = 1 << 20;
const BLOCKS: u32 = 4;
/// CPUs of the measured server, and those of a target.
const MEASURED_CPUS: u16 = 4;
const TARGET_CPUS: [u16; 5] = [1, 2, 3, 6, 8];
/// Statements of a closed loop that are measured. CPUs that begin together end together: this is a multiple of all
/// numbers of CPUs.
const STATEMENTS: u32 = 240;

/// The buffer pool for a share of the data.
fn pool_bytes(share: f64) -> u64 {
    (share * DATA_BYTES as f64) as u64
}

/// What a closed loop measures.
struct Measured {
    per_s: f64,
    /// Of each statement.
    page_reads: f64,
}

/// A closed loop of connections without pauses, in virtual time.
fn closed_loop(law: ServiceLaw, connections: u32) -> Measured {
    let mut queues = ServiceQueues::new(law);
    // The times at which the connections send their next statements.
    let mut next: BinaryHeap<Reverse<Duration>> =
        (0..connections).map(|_| Reverse(Duration::ZERO)).collect();
    let mut serve = |statements: u32| {
        for _ in 0..statements {
            let mut first = next.peek_mut().unwrap();
            let arrival = first.0;
            *first = Reverse(queues.serve(arrival));
        }
        (next.peek().unwrap().0, queues.page_reads().unwrap_or(0))
    };
    let (begin, reads_before) = serve(2 * connections);
    let (end, reads) = serve(STATEMENTS);
    Measured {
        per_s: f64::from(STATEMENTS) / (end - begin).as_secs_f64(),
        page_reads: (reads - reads_before) as f64 / f64::from(STATEMENTS),
    }
}

fn uniform(random: &mut Random, low: f64, high: f64) -> f64 {
    low + (high - low) * random.below(1 << 40) as f64 / (1_u64 << 40) as f64
}

/// Approximately normal: the sum of twelve uniform numbers.
fn normal(random: &mut Random) -> f64 {
    (0..12).map(|_| uniform(random, -0.5, 0.5)).sum()
}

/// The CPUs and the disk of a server.
#[derive(Clone, Copy)]
struct Machine {
    cpus: u16,
    read_iops: f64,
}

/// What one operation demands.
#[derive(Clone, Copy)]
struct Operation {
    cpu_s: f64,
    /// In a part that never limits the throughput.
    serial_s: f64,
    page_reads: f64,
}

impl Operation {
    /// The queues of a server that executes it.
    fn law(&self, machine: Machine) -> ServiceLaw {
        ServiceLaw {
            cpu: Some(CpuDemand {
                cpus: machine.cpus,
                time: Duration::from_secs_f64(self.cpu_s),
            }),
            serial_time: Duration::from_secs_f64(self.serial_s),
            reads: Some(ReadDemand {
                per_statement: self.page_reads,
                iops: Some(machine.read_iops),
            }),
        }
    }
}

/// A load with known demands, and a target.
struct Truth {
    /// Without any memory.
    operation: Operation,
    target: Machine,
}

impl Truth {
    fn drawn(random: &mut Random) -> Self {
        let cpu_s = uniform(random, 1e-4, 1e-3);
        let mut truth = Self {
            operation: Operation {
                cpu_s,
                // Eight CPUs use it for at most 64 % of the time.
                serial_s: cpu_s * uniform(random, 0.01, 0.08),
                page_reads: uniform(random, 2.0, 10.0),
            },
            target: Machine {
                cpus: TARGET_CPUS[random.below(TARGET_CPUS.len())],
                read_iops: f64::INFINITY,
            },
        };
        // Either limit may bind.
        let reads = truth.operation_at(WANTED).page_reads;
        truth.target.read_iops = truth.cpus_per_s() * reads * uniform(random, 0.4, 2.0);
        truth
    }

    /// An operation with a share of the data in memory, for which it reads no pages.
    fn operation_at(&self, share: f64) -> Operation {
        Operation {
            page_reads: self.operation.page_reads * (1.0 - share),
            ..self.operation
        }
    }

    /// Operations per second that use all CPUs of the target.
    fn cpus_per_s(&self) -> f64 {
        f64::from(self.target.cpus) / self.operation.cpu_s
    }

    /// Operations per second that use all reads of the target.
    fn reads_per_s(&self) -> f64 {
        self.target.read_iops / self.operation_at(WANTED).page_reads
    }

    /// The highest throughput of the target.
    fn per_s(&self) -> f64 {
        self.cpus_per_s().min(self.reads_per_s())
    }

    /// An execution on the measured server, whose disk never limits it. All demands of a block vary together by 2 %,
    /// and each by itself.
    fn execution(
        &self,
        share: f64,
        concurrency: u32,
        block: (u32, f64),
        random: &mut Random,
    ) -> Execution {
        let mut noisy = |value: f64, deviation: f64| {
            value * (0.02 * block.1 + deviation * normal(random)).exp()
        };
        let operation = Operation {
            cpu_s: noisy(self.operation.cpu_s, 0.02),
            page_reads: noisy(self.operation_at(share).page_reads, 0.03),
            ..self.operation
        };
        let cpus = f64::from(MEASURED_CPUS);
        let machine = Machine {
            cpus: MEASURED_CPUS,
            read_iops: 2.0 * cpus / self.operation.cpu_s * self.operation.page_reads,
        };
        let measured = closed_loop(operation.law(machine), concurrency);
        Execution {
            name: String::new(),
            results: 0,
            block: block.0,
            levels: BTreeMap::new(),
            concurrency,
            throughput_per_s: measured.per_s,
            demands: Demands::from_fn(|demand| match demand {
                ServiceDemand::Cpu => Some(operation.cpu_s),
                ServiceDemand::PageReads => Some(measured.page_reads),
                _ => None,
            }),
            memory: Some(MemoryUse {
                data_bytes: DATA_BYTES,
                buffer_pool_bytes: pool_bytes(share),
            }),
            cpus: Some(ServerCpus {
                count: cpus,
                available: cpus,
            }),
            limited_by: None,
        }
    }

    /// The target's prediction from simulated executions.
    fn predicted(&self, random: &mut Random) -> Prediction {
        let mut all = Vec::new();
        for block in 1..=BLOCKS {
            let block = (block, normal(random));
            for concurrency in CONCURRENCIES {
                all.push(self.execution(SHARES[2], concurrency, block, random));
            }
            for share in &SHARES[..2] {
                all.push(self.execution(*share, CONCURRENCY, block, random));
            }
        }
        let mut target = parse_target("cpus=1,read_iops=1").unwrap();
        target.cpus = Some(f64::from(self.target.cpus));
        target.read_iops = Some(self.target.read_iops);
        target.buffer_pool_bytes = Some(pool_bytes(WANTED));
        let request = PredictionRequest {
            target,
            zipf: None,
            draws: 40,
        };
        let executions = Executions::of("simulated".to_owned(), all);
        predict(&executions, &request).unwrap()
    }
}

/// The stated 90 % intervals hold the truth of targets whose limits were not measured: other CPUs, another disk,
/// another memory.
#[test]
fn intervals_hold_the_throughput_of_targets_that_were_not_measured() {
    const CASES: usize = 200;
    let mut random = Random::new(42);
    let (mut held, mut bound_by_reads) = (0, 0);
    let (mut errors, mut widths) = (Vec::new(), Vec::new());
    for case in 0..CASES {
        let truth = Truth::drawn(&mut random);
        let per_s = truth.per_s();
        // The truth is what the queues do.
        let law = truth.operation_at(WANTED).law(truth.target);
        let simulated = closed_loop(law, CONCURRENCIES[3]).per_s;
        assert!(
            (simulated / per_s - 1.0).abs() < 0.02,
            "case {case}: {simulated} against {per_s}"
        );
        let prediction = truth.predicted(&mut random);
        assert!(prediction.is_known(), "case {case}");
        let throughput = prediction.throughput.unwrap();
        let found = throughput.per_s;
        held += usize::from(found.low <= per_s && per_s <= found.high);
        errors.push((found.estimate / per_s - 1.0).abs());
        widths.push(found.high / found.low);
        let reads_bind = truth.reads_per_s() < truth.cpus_per_s();
        bound_by_reads += usize::from(reads_bind);
        // Limits that are close may be confused.
        let ratio = truth.reads_per_s() / truth.cpus_per_s();
        if !(0.8..1.25).contains(&ratio) {
            let expected = if reads_bind {
                Limit::Reads
            } else {
                Limit::Cpus
            };
            assert_eq!(throughput.binding[0].0, expected, "case {case}: {ratio}");
        }
    }
    let median = |values: &mut Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values[CASES / 2]
    };
    assert!(held * 10 >= CASES * 9, "{held} of {CASES}");
    let error = median(&mut errors);
    assert!(error < 0.03, "median error {error}");
    // An interval of any width would hold the truth.
    let width = median(&mut widths);
    assert!(width < 1.25, "{width}");
    assert!((40..160).contains(&bound_by_reads), "{bound_by_reads}");
}
