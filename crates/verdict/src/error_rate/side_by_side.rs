//! Error rates, power and coverage of comparisons side by side: slices of two simulated servers, decided as `run`
//! decides.

use stats::{Comparison, Design, Deviation, UntilDecided, compare};
use units::{fine_percent, seconds};

use super::two_servers::{CorrelatedNoise, Order, TURN_S, TwoServers};
use crate::{
    Decision, Measure, Metric,
    decision::CONFIDENCE,
    family::decide_by_looks,
    measure_comparison::Compared,
    noise::Noise,
    side::Slices,
    values::{BlockValue, Values},
};

/// Blocks of slices in a batch.
const SLICES: usize = 5;

/// Batches of a session at most: one minute of slices of each server.
const BATCHES_AT_MOST: usize = 24;

/// Batches of a comparison with a fixed number of them.
const BATCHES: usize = 12;

const LEVEL: f64 = 1.0 - CONFIDENCE;

/// B divided by A where the sides differ.
const FASTER: f64 = 1.05;

/// A machine whose noise meets both servers.
const fn machine(name: &'static str, correlation: f64, has_neighbour: bool) -> TwoServers {
    TwoServers {
        name,
        shared: CorrelatedNoise {
            deviation: 0.08,
            correlation,
        },
        own: CorrelatedNoise::NONE,
        independent: 0.06,
        drift_per_s: if has_neighbour { 0.001 } else { 0.0 },
        has_neighbour,
    }
}

const MACHINES: [TwoServers; 6] = [
    machine("quiet machine, correlation 0.3", 0.3, false),
    machine("quiet machine, correlation 0.6", 0.6, false),
    machine("quiet machine, correlation 0.9", 0.9, false),
    machine("neighbour, correlation 0.3", 0.3, true),
    machine("neighbour, correlation 0.6", 0.6, true),
    machine("neighbour, correlation 0.9", 0.9, true),
];

/// The same with noise of each server alone.
const fn with_own_noise(name: &'static str, deviation: f64, correlation: f64) -> TwoServers {
    TwoServers {
        own: CorrelatedNoise {
            deviation,
            correlation,
        },
        ..machine(name, 0.9, true)
    }
}

const WITH_OWN_NOISE: [TwoServers; 6] = [
    with_own_noise("own noise 3 %, correlation 0.3", 0.03, 0.3),
    with_own_noise("own noise 3 %, correlation 0.6", 0.03, 0.6),
    with_own_noise("own noise 3 %, correlation 0.9", 0.03, 0.9),
    with_own_noise("own noise 6 %, correlation 0.3", 0.06, 0.3),
    with_own_noise("own noise 6 %, correlation 0.6", 0.06, 0.6),
    with_own_noise("own noise 6 %, correlation 0.9", 0.06, 0.9),
];

fn experiments() -> usize {
    let is_long = std::env::var_os("DBDYNO_TRUST").is_some();
    if is_long { 600 } else { 40 }
}

/// Three standard errors of a share of all experiments.
fn chance(share: f64) -> f64 {
    3.0 * (share * (1.0 - share) / experiments() as f64).sqrt()
}

/// The batches of A and of B, each its throughput and its slices.
type Sides = [Vec<(f64, Slices)>; 2];

/// The batches of a session in which B has `ratio` times the throughput that was simulated.
fn batches([a, b]: &[Vec<f64>; 2], session: usize, ratio: f64) -> Sides {
    let side = |slices: &[f64], ratio: f64| {
        let batches = slices.chunks_exact(SLICES).map(|slices| {
            let per_s: Vec<f64> = slices.iter().map(|it| ratio * it).collect();
            let mean = per_s.iter().sum::<f64>() / SLICES as f64;
            let ended = per_s.iter().map(|it| *it as u64).collect();
            let slices = Slices {
                session,
                per_s,
                ended,
            };
            (mean, slices)
        });
        batches.collect()
    };
    [side(a, 1.0), side(b, ratio)]
}

/// The end of a session.
struct Outcome {
    decision: Decision,
    batches: usize,
    comparison: Comparison,
}

fn values(sides: &Sides) -> Values {
    let [a, b] = sides.each_ref().map(|side| -> Vec<BlockValue<'_>> {
        let values = side
            .iter()
            .zip(1..)
            .map(|((value, slices), block)| BlockValue {
                results: 1,
                block,
                value: *value,
                comparable: *value,
                slices: Some(slices),
            });
        values.collect()
    });
    Values::of(&a, &b)
}

/// The decision of records of batches.
fn decided(rule: &UntilDecided, sides: &Sides) -> Outcome {
    let values = values(sides);
    let means = values.means(CONFIDENCE).unwrap();
    let measure = Measure::Metric(Metric::Throughput);
    let mut compared = Compared::new(measure, means, values, Some(BATCHES_AT_MOST));
    decide_by_looks(rule, LEVEL, &mut compared);
    Outcome {
        decision: compared.decision,
        batches: compared.blocks.unwrap(),
        comparison: compared.comparison.unwrap(),
    }
}

/// Shares of the simulated sessions.
struct Shares {
    /// Of equal servers: those that are called different.
    different: f64,
    /// Of servers that differ: those in which B is called faster.
    found: f64,
    /// Of the same: those whose interval at the end contains the truth.
    held: f64,
    /// The mean time until the end of the same, seconds.
    end_s: f64,
}

fn shares(servers: &TwoServers) -> Shares {
    let rule = |margin| UntilDecided::new(margin, BATCHES_AT_MOST, LEVEL).unwrap();
    let (rule_of_equal, rule_of_different) = (rule(0.001), rule(0.02));
    let mut noise = Noise::new(41);
    let (mut different, mut found, mut held, mut all_batches) = (0, 0, 0, 0);
    for _ in 0..experiments() {
        let slices = servers.slices(&mut noise, BATCHES_AT_MOST * SLICES, Order::RandomInBlocks);
        let of_equal = decided(&rule_of_equal, &batches(&slices, 1, 1.0));
        different += usize::from(of_equal.decision.is_different());
        let of_different = decided(&rule_of_different, &batches(&slices, 1, FASTER));
        found += usize::from(of_different.decision == Decision::Faster);
        let interval = of_different.comparison.ratio;
        held += usize::from(interval.low <= FASTER && FASTER <= interval.high);
        all_batches += of_different.batches;
    }
    let mean = |sum: usize| sum as f64 / experiments() as f64;
    let shares = Shares {
        different: mean(different),
        found: mean(found),
        held: mean(held),
        end_s: mean(all_batches) * (2 * SLICES) as f64 * TURN_S,
    };
    println!(
        "side by side, {}: {} of equal servers called different, 5 % more found in {} after {}, the interval \
         holds in {}",
        servers.name,
        fine_percent(shares.different),
        fine_percent(shares.found),
        seconds(shares.end_s),
        fine_percent(shares.held)
    );
    shares
}

/// The random order within blocks makes pairs independent of the machine's noise, whatever its correlation in time.
#[test]
fn trust_the_noise_of_the_machine_is_not_called_a_difference() {
    for servers in &MACHINES {
        let shares = shares(servers);
        let name = servers.name;
        assert!(shares.different <= 0.05 + chance(0.05), "{name}");
        assert!(shares.found >= 0.8 - chance(0.8), "{name}");
        assert!(shares.held >= 0.95 - chance(0.95), "{name}");
    }
}

/// Pairs do not remove the noise of one server, but the slices show that it is correlated. The strongest correlation still
/// causes some false decisions more.
#[test]
fn trust_the_noise_of_one_server_is_not_called_a_difference() {
    for servers in &WITH_OWN_NOISE {
        let shares = shares(servers);
        let name = servers.name;
        assert!(shares.different <= 0.07 + chance(0.07), "{name}");
        assert!(shares.held >= 0.95 - chance(0.95), "{name}");
    }
}

/// Two servers with equal settings differ as long as they stand, from session to session by another ratio.
#[test]
fn trust_lasting_differences_of_servers_are_seldom_called_a_difference() {
    let rule = UntilDecided::new(0.02, BATCHES_AT_MOST, LEVEL).unwrap();
    let servers = machine("quiet", 0.6, false);
    for (deviation, sessions, most) in [
        (0.005, 1, 0.05),
        (0.005, 3, 0.05),
        (0.01, 1, 0.15),
        (0.01, 3, 0.1),
    ] {
        let mut noise = Noise::new(44);
        let in_session = BATCHES_AT_MOST / sessions;
        let different = (0..experiments()).filter(|_| {
            let mut sides: Sides = [Vec::new(), Vec::new()];
            for session in 1..=sessions {
                let ratio = (deviation * noise.normal()).exp();
                let slices = servers.slices(&mut noise, in_session * SLICES, Order::RandomInBlocks);
                for (all, own) in sides.iter_mut().zip(batches(&slices, session, ratio)) {
                    all.extend(own);
                }
            }
            decided(&rule, &sides).decision.is_different()
        });
        let share = different.count() as f64 / experiments() as f64;
        println!(
            "side by side, own difference {} (standard deviation), {sessions} sessions: {} are called different",
            fine_percent(deviation),
            fine_percent(share)
        );
        assert!(
            share <= most + chance(most),
            "{deviation} {sessions}: {share}"
        );
    }
}

/// Equal servers, compared in three ways with the same number of slices.
#[test]
fn trust_pairs_of_slices_remove_the_noise_of_the_machine() {
    let servers = machine("neighbour, correlation 0.6", 0.6, true);
    let blocks = BATCHES_AT_MOST * SLICES;
    let mut noise = Noise::new(42);
    let mut ways = [(); 3].map(|()| Vec::new());
    for _ in 0..experiments() {
        let mut sides = |order| batches(&servers.slices(&mut noise, blocks, order), 1, 1.0);
        let lists = |sides: &Sides| {
            let [a, b] = sides
                .each_ref()
                .map(|side| -> Vec<f64> { side.iter().map(|(value, _)| *value).collect() });
            compare(&a, &b, CONFIDENCE).unwrap()
        };
        let in_blocks = sides(Order::RandomInBlocks);
        ways[0].push(values(&in_blocks).compare(CONFIDENCE).unwrap());
        ways[1].push(lists(&in_blocks));
        ways[2].push(lists(&sides(Order::OneAfterTheOther)));
    }
    let names = [
        "pairs of slices",
        "the same slices without pairs",
        "one server after the other",
    ];
    let found = ways.map(|of_way| {
        let mean =
            |of: fn(&Comparison) -> f64| of_way.iter().map(of).sum::<f64>() / of_way.len() as f64;
        let different = mean(|it| f64::from(u8::from(it.p_value < LEVEL)));
        let error = mean(|it| it.ratio.estimate.ln().powi(2)).sqrt();
        let half_width = mean(|it| (it.ratio.high / it.ratio.low).ln() / 2.0);
        [different, error, half_width]
    });
    for (name, [different, error, half_width]) in names.iter().zip(&found) {
        println!(
            "{name}: {} of equal servers called different, error {}, half of the interval {}",
            fine_percent(*different),
            fine_percent(*error),
            fine_percent(*half_width)
        );
    }
    let [pairs, lists, one_after_the_other] = found;
    assert!(pairs[0] <= 0.05 + chance(0.05), "{pairs:?}");
    assert!(pairs[2] < lists[2] / 2.0, "{pairs:?} {lists:?}");
    assert!(one_after_the_other[0] > 0.25, "{one_after_the_other:?}");
    assert!(
        pairs[1] < one_after_the_other[1] / 4.0,
        "{one_after_the_other:?}"
    );
}

/// A difference that is said to be detected with 80 % power is detected with it, although batches are not normal.
#[test]
fn trust_the_stated_power_of_batches_is_right() {
    let design = Design {
        paired: true,
        level: LEVEL,
    };
    for servers in &MACHINES {
        let mut noise = Noise::new(43);
        let sessions: Vec<[Vec<f64>; 2]> = (0..experiments())
            .map(|_| servers.slices(&mut noise, BATCHES * SLICES, Order::RandomInBlocks))
            .collect();
        let compared = |ratio: f64| -> Vec<Comparison> {
            let sides = sessions.iter().map(|slices| batches(slices, 1, ratio));
            sides
                .map(|sides| values(&sides).compare(CONFIDENCE).unwrap())
                .collect()
        };
        let of_equal = compared(1.0);
        let variances = of_equal.iter().map(|it| it.deviation.powi(2));
        let deviation = (variances.sum::<f64>() / of_equal.len() as f64).sqrt();
        let effect = design
            .smallest_effect(Deviation::known(deviation), BATCHES)
            .unwrap();
        let of_different = compared(effect.exp()).into_iter();
        let found = of_different.filter(|it| it.p_value < LEVEL && it.ratio.estimate > 1.0);
        let share = found.count() as f64 / experiments() as f64;
        println!(
            "side by side, {}: a difference of {} is found by {BATCHES} batches in {} (stated: 80 %)",
            servers.name,
            fine_percent(effect.exp_m1()),
            fine_percent(share)
        );
        assert!(share >= 0.77 - chance(0.77), "{}: {share}", servers.name);
    }
}
