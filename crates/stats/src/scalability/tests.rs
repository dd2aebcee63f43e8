//! Fits of simulated points with a known law.

use proptest::prelude::*;

use super::*;
use crate::noise::Noise;

const TRUTH: UslModel = UslModel {
    single_per_s: 1000.0,
    contention: 0.03,
    coherency: 0.0008,
};

const DRAWS: Resampling = Resampling {
    resamples: 200,
    seed: 5,
};

/// Three executions each at the powers of two up to a concurrency.
fn points(noise: &mut Noise, up_to: u32, deviation: f64) -> Vec<Point> {
    (0..=up_to.ilog2())
        .flat_map(|power| [2_f64.powi(power as i32); 3])
        .map(|concurrency| Point {
            concurrency,
            throughput_per_s: TRUTH.at(concurrency) * (1.0 + deviation * noise.normal()),
        })
        .collect()
}

#[test]
fn the_truth_of_the_table() {
    assert!((TRUTH.peak() - 34.8).abs() < 0.05, "{}", TRUTH.peak());
    assert!((TRUTH.at(TRUTH.peak()) - 11_777.0).abs() < 5.0);
    assert!((TRUTH.at(128.0) - 7_185.0).abs() < 5.0);
}

#[test]
fn exact_points_give_the_law_back() {
    let points = points(&mut Noise::new(131), 64, 0.0);
    let found = scalability(&points, 0.95, DRAWS).unwrap();
    assert!((found.law.single_per_s - 1000.0).abs() < 0.1, "{found:?}");
    assert!((found.law.contention - 0.03).abs() < 1e-4);
    assert!((found.law.coherency - 0.0008).abs() < 1e-6);
    let peak = found.peak.unwrap();
    assert!((peak.concurrency.estimate - 34.8).abs() < 0.1, "{peak:?}");
}

/// Measured up to twice the peak, the peak is known within a few connections; far below it no peak is reported.
#[test]
fn a_peak_is_named_once_it_is_passed() {
    let mut noise = Noise::new(132);
    let (mut named, mut held, mut early, mut wide) = (0, 0, 0, 0);
    for _ in 0..100 {
        let found = scalability(&points(&mut noise, 64, 0.05), 0.95, DRAWS).unwrap();
        if let Ok(peak) = found.peak {
            named += 1;
            assert!(
                peak.concurrency.low > 25.0 && peak.concurrency.high < 50.0,
                "{peak:?}"
            );
            held += usize::from(peak.concurrency.low <= 34.8 && 34.8 <= peak.concurrency.high);
        }
        let found = scalability(&points(&mut noise, 8, 0.02), 0.95, DRAWS).unwrap();
        early += usize::from(found.peak.is_ok());
        wide += usize::from(found.at(128.0).high > 2.0 * found.at(128.0).low);
    }
    assert!(named >= 95, "{named}");
    assert!(held >= 85, "{held}");
    assert!(early <= 2, "{early}");
    assert!(wide >= 80, "{wide}");
}

/// Coverage of the intervals, at a measured concurrency and beyond the measured range.
#[test]
fn ninety_five_percent_hold_the_truth() {
    let mut noise = Noise::new(133);
    let mut held = [0_usize; 2];
    for _ in 0..200 {
        let found = scalability(&points(&mut noise, 32, 0.05), 0.95, DRAWS).unwrap();
        for (held, concurrency) in held.iter_mut().zip([16.0, 128.0]) {
            let throughput = found.at(concurrency);
            let truth = TRUTH.at(concurrency);
            *held += usize::from(throughput.low <= truth && truth <= throughput.high);
        }
    }
    let shares = held.map(|held| held as f64 / 200.0);
    assert!(
        shares.iter().all(|share| (0.9..=0.99).contains(share)),
        "{shares:?}"
    );
}

#[test]
fn without_a_peak_it_says_so() {
    // A straight line: no contention.
    let line: Vec<Point> = [1.0, 2.0, 4.0, 8.0, 16.0]
        .into_iter()
        .map(|concurrency| Point {
            concurrency,
            throughput_per_s: 500.0 * concurrency,
        })
        .collect();
    let found = scalability(&line, 0.95, DRAWS).unwrap();
    let none = found.peak.unwrap_err();
    assert!(none.concurrency.low > 16.0, "{none:?}");
    assert!(
        none.to_string()
            .starts_with("measured up to 16 connections, the peak lies beyond ")
    );
    assert_eq!(scalability(&line[..3], 0.95, DRAWS), None);
    assert_eq!(scalability(&line, 1.0, DRAWS), None);
    let mut broken = line;
    broken[2].throughput_per_s = 0.0;
    assert_eq!(scalability(&broken, 0.95, DRAWS), None);
}

#[test]
fn draws_of_a_caller_decide_about_the_peak() {
    let points = points(&mut Noise::new(134), 64, 0.0);
    let found = usl_fit(&points, Some(&TRUTH)).unwrap();
    assert!((found.peak() - TRUTH.peak()).abs() < 0.1, "{found:?}");
    // Three executions each of 1, 2 and 4 connections.
    assert_eq!(usl_fit(&points[..9], None), None);
    let peak = |measured_up_to| {
        let found = Scalability::of_draws(TRUTH, vec![TRUTH; 3], measured_up_to, 0.9);
        found.unwrap().peak
    };
    // 70 % of 34.8.
    assert!(peak(24.0).is_err() && peak(25.0).is_ok());
    assert_eq!(Scalability::of_draws(TRUTH, Vec::new(), 64.0, 0.9), None);
    assert_eq!(Scalability::of_draws(TRUTH, vec![TRUTH], 64.0, 1.0), None);
}

#[test]
fn the_residual_is_the_typical_distance_of_the_logarithms() {
    let points: Vec<Point> = [(1.0, 0.1_f64), (8.0, -0.1)]
        .into_iter()
        .map(|(concurrency, distance)| Point {
            concurrency,
            throughput_per_s: TRUTH.at(concurrency) * distance.exp(),
        })
        .collect();
    assert!((TRUTH.residual(&points) - 0.1_f64.exp_m1()).abs() < 1e-12);
}

fn points_of(pairs: &[(f64, f64)]) -> Vec<Point> {
    let point = |(concurrency, throughput_per_s): &(f64, f64)| Point {
        concurrency: *concurrency,
        throughput_per_s: *throughput_per_s,
    };
    pairs.iter().map(point).collect()
}

proptest! {
    #[test]
    fn never_panics_and_holds_its_estimate(
        pairs in prop::collection::vec((1.0..300.0_f64, 1e-3..1e9_f64), 0..12),
        any in prop::collection::vec((prop::num::f64::ANY, prop::num::f64::ANY), 0..8),
    ) {
        let few = Resampling { resamples: 10, seed: 1 };
        let _ = scalability(&points_of(&any), 0.95, few);
        if let Some(found) = scalability(&points_of(&pairs), 0.95, few) {
            let throughput = found.at(50.0);
            prop_assert!(throughput.low <= throughput.estimate);
            prop_assert!(throughput.estimate <= throughput.high);
            if let Ok(peak) = found.peak {
                prop_assert!(peak.concurrency.low >= 1.0);
            }
        }
    }
}
