//! Targets with other CPUs of servers whose law is known: a queue for CPUs, as remote clients make it, and contention.
//! Figures computed by hand, and the coverage of the intervals on simulated executions.

#![expect(clippy::unwrap_used, reason = "a test may end in a panic")]

use std::collections::BTreeMap;

use sizing::{
    CarriedVerdict, CheckRequest, Demands, Execution, Executions, Limit, Need, Prediction,
    PredictionRequest, RequirementRequest, ServerCpus, ServiceDemand, Target, WhatIfRequest,
    check_lines, check_target, parse_changes, parse_target, predict, prediction_json,
    prediction_lines, require, what_if, what_if_lines,
};
use stats::{Random, UslModel};

/// What an execution measures.
struct Made {
    block: u32,
    connections: u32,
    per_s: f64,
    cpu_s: f64,
    cpus: f64,
}

fn execution(made: &Made) -> Execution {
    Execution {
        name: String::new(),
        results: 0,
        block: made.block,
        levels: BTreeMap::new(),
        concurrency: made.connections,
        throughput_per_s: made.per_s,
        demands: Demands::from_fn(|demand| (demand == ServiceDemand::Cpu).then_some(made.cpu_s)),
        memory: None,
        cpus: Some(ServerCpus {
            count: made.cpus,
            available: made.cpus,
        }),
        limited_by: None,
    }
}

/// Two blocks on two CPUs. An operation takes 1 ms, of which 500 µs are CPU time: 1 / 1 ms with one connection, and
/// 2 / 500 µs from four on.
fn remote() -> Executions {
    let series = [(1, 1000.0), (4, 4000.0), (16, 4000.0), (64, 4000.0)];
    let both = [1, 2].into_iter();
    let all = both.flat_map(|block| {
        series.map(|(connections, per_s)| {
            execution(&Made {
                block,
                connections,
                per_s,
                cpu_s: 500e-6,
                cpus: 2.0,
            })
        })
    });
    Executions::of("shop".to_owned(), all.collect())
}

fn request(target: Target) -> PredictionRequest {
    PredictionRequest {
        target,
        zipf: None,
        draws: 30,
    }
}

fn on(cpus: &str) -> PredictionRequest {
    request(parse_target(cpus).unwrap())
}

fn text(lines: &[sizing::AnswerLine]) -> String {
    let lines = lines.iter().map(|it| format!("{}{}\n", it.head(), it.text));
    lines.collect()
}

#[test]
fn beyond_the_measured_cpus_contention_is_not_known() {
    // 8 / 500 µs.
    let more = predict(&remote(), &on("cpus=8")).unwrap();
    assert!(more.is_known() && more.is_at_most());
    let shown = text(&prediction_lines(&more));
    for line in [
        "The target can do at most 16.0k (16.0k to 16.0k) operations/s; the CPUs limit it.",
        "cpus         at most 16.0k (16.0k to 16.0k) by 8 CPUs, 500 µs of CPU time per operation; without \
         contention; not validated here (2 CPUs measured)",
        "scaling      no scaling model: the throughput rose in proportion to the connections until 2.00 CPUs were used \
         up; contention with more CPUs was not measured",
    ] {
        assert!(shown.lines().any(|it| it == line), "{line}\n{shown}");
    }
    let json: serde_json::Value = serde_json::from_str(&prediction_json(&more)).unwrap();
    assert_eq!(json["limits"][0]["at_most"], true);
    // 1 / 500 µs: two CPUs were used up without contention.
    let fewer = predict(&remote(), &on("cpus=1")).unwrap();
    let shown = text(&prediction_lines(&fewer));
    let first = "The target can do 2.00k (2.00k to 2.00k) operations/s; the CPUs limit it.";
    assert!(shown.starts_with(first), "{shown}");
}

#[test]
fn a_throughput_that_fewer_cpus_did_is_carried() {
    let check = |per_s: f64| {
        let request = CheckRequest {
            prediction: on("cpus=8"),
            per_s: Some(per_s),
            response_limit: None,
        };
        check_target(&remote(), &request).unwrap()
    };
    for (per_s, expected) in [
        // 3000 · 500 µs are 1.5 CPUs, 5000 · 500 µs are 2.5.
        (3000.0, CarriedVerdict::Yes),
        (5000.0, CarriedVerdict::Undecided),
        (17_000.0, CarriedVerdict::No),
    ] {
        let verdict = check(per_s).carried.unwrap().verdict;
        assert_eq!(verdict, expected, "{per_s}");
    }
    // 16 000 / 3000 - 1.
    let shown = text(&check_lines(&check(3000.0)));
    let first = "Yes: the target carries 3.00k operations/s, with at most 433 % (";
    assert!(shown.starts_with(first), "{shown}");
}

#[test]
fn more_cpus_change_the_throughput_by_at_most_their_ratio() {
    let request = WhatIfRequest {
        changes: parse_changes("cpus=8").unwrap(),
        target: None,
        zipf: None,
        draws: 30,
    };
    // 2 / 500 µs was measured, 8 / 500 µs was not.
    let answer = what_if(&remote(), &remote(), &request).unwrap();
    let shown = text(&what_if_lines(&answer));
    for part in [
        " Without a scaling model, the throughput after the change is an upper bound.",
        "now          4.00k (4.00k to 4.00k) operations/s; the CPUs limit it",
        "then         at most 16.0k (16.0k to 16.0k) operations/s; the CPUs limit it",
    ] {
        assert!(shown.contains(part), "{part}\n{shown}");
    }
}

#[test]
fn a_throughput_that_was_measured_needs_the_cpus_that_were_busy() {
    let need = |per_s: f64| {
        let request = RequirementRequest {
            per_s,
            response_limit: None,
            target: Target::default(),
            zipf: None,
            draws: 30,
        };
        let requirement = require(&remote(), &request).unwrap();
        let (limit, need) = requirement.rows[0].needs[0].clone();
        assert_eq!(limit, Limit::Cpus);
        match need {
            Need::Amount {
                amount,
                at_least_why,
            } => (amount.estimate, at_least_why.is_some()),
            other => panic!("{other:?}"),
        }
    };
    // 3000 · 500 µs and 5000 · 500 µs.
    for (per_s, expected, is_at_least) in [(3000.0, 1.5, false), (5000.0, 2.5, true)] {
        let (cpus, found) = need(per_s);
        assert!((cpus - expected).abs() < 1e-9, "{cpus}");
        assert_eq!(found, is_at_least, "{per_s}");
    }
}

const CASES: usize = 200;
const BLOCKS: u32 = 6;
const MEASURED_CPUS: f64 = 4.0;
const TARGET_CPUS: [f64; 5] = [1.0, 2.0, 3.0, 6.0, 8.0];

/// A server whose throughput is known with any number of CPUs.
enum Truth {
    /// An operation takes this time without waiting, and CPU time is a part of it.
    Queue { response_s: f64, cpu_s: f64 },
    /// The scaling model without waiting for CPUs, and the CPU time of an operation.
    Contention { locks: UslModel, cpu_s: f64 },
}

impl Truth {
    fn cpu_s(&self) -> f64 {
        match self {
            Self::Queue { cpu_s, .. } | Self::Contention { cpu_s, .. } => *cpu_s,
        }
    }

    fn at(&self, cpus: f64, connections: f64) -> f64 {
        let all_used = cpus / self.cpu_s();
        match self {
            Self::Queue { response_s, .. } => (connections / response_s).min(all_used),
            Self::Contention { locks, cpu_s } => {
                let law = UslModel {
                    contention: locks.contention + locks.single_per_s * cpu_s / cpus,
                    ..*locks
                };
                law.at(connections).min(all_used)
            }
        }
    }

    fn highest_per_s(&self, cpus: f64) -> f64 {
        let all = (1..=128).map(|connections| self.at(cpus, f64::from(connections)));
        all.fold(0.0, f64::max)
    }

    /// The prediction from simulated executions: all times of a block vary together by 2 %, and each by itself.
    fn predicted(&self, cpus: f64, series: &[u32], random: &mut Random) -> Prediction {
        let mut all = Vec::new();
        for block in 1..=BLOCKS {
            let slower = (0.02 * normal(random)).exp();
            for connections in series {
                let mut noisy = |value: f64| value * (0.02 * normal(random)).exp();
                let per_s = self.at(MEASURED_CPUS, f64::from(*connections));
                all.push(execution(&Made {
                    block,
                    connections: *connections,
                    per_s: noisy(per_s / slower),
                    cpu_s: noisy(self.cpu_s() * slower),
                    cpus: MEASURED_CPUS,
                }));
            }
        }
        let target = Target {
            cpus: Some(cpus),
            ..Target::default()
        };
        let executions = Executions::of("simulated".to_owned(), all);
        predict(&executions, &request(target)).unwrap()
    }
}

fn uniform(random: &mut Random, low: f64, high: f64) -> f64 {
    low + (high - low) * random.below(1 << 40) as f64 / (1_u64 << 40) as f64
}

/// Approximately normal: the sum of twelve uniform numbers.
fn normal(random: &mut Random) -> f64 {
    (0..12).map(|_| uniform(random, -0.5, 0.5)).sum()
}

/// How predictions agree with the truth.
#[derive(Default)]
struct Agreement {
    held: usize,
    errors: Vec<f64>,
    widths: Vec<f64>,
}

impl Agreement {
    fn add(&mut self, prediction: &Prediction, per_s: f64) {
        let found = prediction.throughput.as_ref().unwrap().per_s;
        self.held += usize::from(found.low <= per_s && per_s <= found.high);
        self.errors.push((found.estimate / per_s - 1.0).abs());
        self.widths.push(found.high / found.low);
    }

    fn check(mut self) {
        let (held, cases) = (self.held, self.errors.len());
        assert!(held * 10 >= cases * 9, "{held} of {cases}");
        let error = median(&mut self.errors);
        assert!(error < 0.03, "median error {error}");
        // An interval of any width would hold the truth.
        let width = median(&mut self.widths);
        assert!(width < 1.2, "{width}");
    }
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

#[test]
fn intervals_hold_the_truth_of_queues_with_a_sharp_knee() {
    let mut random = Random::new(2026);
    let mut all = Agreement::default();
    for cpu_share in [0.3, 0.5, 0.7, 0.9] {
        let mut errors = Vec::new();
        for _ in 0..CASES / 4 {
            let response_s = uniform(&mut random, 2e-4, 5e-3);
            let truth = Truth::Queue {
                response_s,
                cpu_s: cpu_share * response_s,
            };
            let cpus = TARGET_CPUS[random.below(TARGET_CPUS.len())];
            let prediction = truth.predicted(cpus, &[1, 4, 16, 64], &mut random);
            // Contention of more CPUs than measured does not show.
            assert_eq!(prediction.is_at_most(), cpus > MEASURED_CPUS, "{cpu_share}");
            let per_s = truth.highest_per_s(cpus);
            all.add(&prediction, per_s);
            let found = prediction.throughput.unwrap().per_s.estimate;
            errors.push((found / per_s - 1.0).abs());
        }
        let error = median(&mut errors);
        assert!(error < 0.03, "{cpu_share}: median error {error}");
    }
    all.check();
}

#[test]
fn intervals_hold_the_truth_of_servers_with_contention() {
    let mut random = Random::new(42);
    let mut all = Agreement::default();
    for _ in 0..CASES {
        let single_per_s = uniform(&mut random, 500.0, 5000.0);
        let truth = Truth::Contention {
            locks: UslModel {
                single_per_s,
                contention: uniform(&mut random, 0.0, 0.02),
                coherency: uniform(&mut random, 3e-4, 1e-3),
            },
            cpu_s: uniform(&mut random, 0.1, 0.6) / single_per_s,
        };
        let cpus = TARGET_CPUS[random.below(TARGET_CPUS.len())];
        let prediction = truth.predicted(cpus, &[1, 4, 16, 48, 128], &mut random);
        assert!(prediction.scaling.is_ok() && !prediction.is_at_most());
        all.add(&prediction, truth.highest_per_s(cpus));
    }
    all.check();
}
