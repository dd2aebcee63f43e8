//! The rate of false alarms when a subject is compared with itself: fabricated records, decided as `run` and `compare`
//! decide.

mod side_by_side;
mod two_servers;

use std::collections::BTreeMap;

use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng, SeedableRng},
};
use samples::Record;

use crate::{
    Budget, Compared, ComparisonParameters, Execution, Measure, Metric, Question, Side, answers,
    contrast,
    testing::{RecordBuilder, record},
};

const FILESYSTEMS: [&str; 2] = ["ext4", "xfs"];
const PER_S: f64 = 1_000.0;
const CONNECTIONS: [&str; 3] = ["1", "4", "16"];

/// Numbers of experiments with a false alarm.
#[derive(Default)]
struct Alarms {
    /// By the experiment's own answer.
    answer: u32,
    /// By `compare`, of its primary metric.
    primary: u32,
    /// By `compare --all`, of any other metric; these are decided together.
    metrics: u32,
    /// By `compare --all`, of any cost; these are decided together as well.
    costs: u32,
}

/// An approximately normal deviate: the sum of twelve uniform ones.
fn normal(random: &mut ChaCha8Rng) -> f64 {
    let uniform = |random: &mut ChaCha8Rng| f64::from(random.next_u32()) / f64::from(u32::MAX);
    (0..12).map(|_| uniform(random)).sum::<f64>() - 6.0
}

/// Executions of two identical filesystems, with normal noise in the logarithm of every measure.
fn experiment(random: &mut ChaCha8Rng, blocks: u32, deviation: f64) -> Vec<Record> {
    let mut records = Vec::new();
    for block in 1..=blocks {
        for filesystem in FILESYSTEMS {
            for connections in CONNECTIONS {
                let mut factor = || (deviation * normal(random)).exp();
                let mut made = record(&RecordBuilder {
                    block,
                    levels: vec![("fs", filesystem), ("connections", connections)],
                    per_s: (PER_S * factor()) as u64,
                    response_us: (500.0 * factor()) as u64,
                    server_cpu_s: 0.5 * factor(),
                    ..RecordBuilder::default()
                });
                made.header.run = records.len() as u32 + 1;
                records.push(made);
            }
        }
    }
    records
}

fn side<'r>(executions: &[Execution<'r>], filesystem: &str, question: &Question) -> Side<'r> {
    let of = |it: &&Execution<'_>| it.record.header.combination["fs"] == filesystem;
    Side {
        name: filesystem.to_owned(),
        levels: BTreeMap::from([("fs".to_owned(), filesystem.to_owned())]),
        executions: executions.iter().filter(of).cloned().collect(),
        looked_at: question.until_decided.map(|budget| budget.blocks),
    }
}

fn is_called_different(compared: &Compared) -> bool {
    compared.decision.is_different()
}

fn alarms(experiments: u32, blocks: u32, deviation: f64, until_decided: bool) -> Alarms {
    let mut random = ChaCha8Rng::seed_from_u64(u64::from(blocks));
    let question = Question {
        metric: Metric::Throughput,
        baseline: vec![("fs".to_owned(), "ext4".to_owned())],
        min_effect: 0.001,
        until_decided: until_decided.then_some(Budget {
            blocks: blocks as usize,
            time_is_spent: false,
        }),
    };
    let mut alarms = Alarms::default();
    for _ in 0..experiments {
        let records = experiment(&mut random, blocks, deviation);
        let executions: Vec<Execution<'_>> =
            records.iter().map(|it| Execution::of(it, 1)).collect();
        let answered = answers(&question, &executions);
        assert_eq!(answered.len(), CONNECTIONS.len());
        let is_different = answered.iter().any(|it| it.decision.is_different());
        alarms.answer += u32::from(is_different);

        let sides = FILESYSTEMS.map(|it| side(&executions, it, &question));
        let terms = ComparisonParameters {
            margin: question.min_effect,
            primary: Some(question.metric),
            asked: None,
        };
        let contrast = contrast(&sides[0], &sides[1], &terms);
        let mut primaries = contrast
            .places
            .iter()
            .filter_map(|it| contrast.primary_of(it));
        alarms.primary += u32::from(primaries.any(is_called_different));
        let is_primary = |it: &Compared| it.measure == Measure::Metric(question.metric);
        let mut metrics = contrast.places.iter().flat_map(|it| &it.metrics);
        let mut costs = contrast.places.iter().flat_map(|it| &it.costs);
        alarms.metrics += u32::from(metrics.any(|it| !is_primary(it) && is_called_different(it)));
        alarms.costs += u32::from(costs.any(is_called_different));
    }
    alarms
}

/// Normal noise in records of three comparisons: the error rate of the whole experiment is 5 %.
fn assert_error_rate(blocks: u32, until_decided: bool) {
    const DEVIATION: f64 = 0.05;
    let is_long = std::env::var_os("DBDYNO_TRUST").is_some();
    let experiments = if is_long { 200 } else { 4 };
    // Three standard errors above 5 %.
    let limit = 0.05 + 3.0 * (0.05 * 0.95 / f64::from(experiments)).sqrt();
    let found = alarms(experiments, blocks, DEVIATION, until_decided);
    let counts = [
        ("run", found.answer),
        ("compare", found.primary),
        ("another metric", found.metrics),
        ("a cost", found.costs),
    ];
    for (what, count) in counts {
        let share = f64::from(count) / f64::from(experiments);
        println!(
            "records of the same thing, {blocks} blocks{}, noise {}: {} called different by {what} (allowed: 5 %)",
            if until_decided { " until decided" } else { "" },
            units::fine_percent(DEVIATION),
            units::fine_percent(share),
        );
        assert!(share <= limit, "{blocks}, {what}: {share} of {limit}");
    }
}

#[test]
fn trust_records_of_the_same_thing_are_not_called_different() {
    assert_error_rate(3, false);
    assert_error_rate(5, false);
}

#[test]
fn trust_records_of_the_same_thing_are_not_called_different_when_looked_at() {
    assert_error_rate(12, true);
}
