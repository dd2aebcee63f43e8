//! Simulated runs with a known truth.

use proptest::prelude::*;

use super::*;
use crate::{experiments::warm_up, noise::Noise};

const NOTHING_SEEN: Evidence<'static> = Evidence {
    misses_per_s: &[],
    checkpoint_age_bytes: &[],
    dirty_pages: &[],
};

/// The classes of simulated runs of 300 seconds with one kind of warm-up.
#[derive(Default)]
struct Called {
    steady: usize,
    warming: usize,
    other: usize,
    /// Sum of the errors of the means of the steady parts.
    bias: f64,
}

impl Called {
    fn of(seed: u64, runs: usize, tau_s: f64, extensions_s: &[usize]) -> Self {
        let mut noise = Noise::new(seed);
        let mut called = Self::default();
        for _ in 0..runs {
            let run = warm_up(&mut noise, 1200, tau_s);
            let states = [300].iter().chain(extensions_s).map(|seconds| {
                let state = judge_run(&run[..*seconds], &NOTHING_SEEN).unwrap();
                (state, *seconds)
            });
            // Extended until it is steady.
            let (mut steady, not): (Vec<_>, Vec<_>) =
                states.partition(|(state, _)| state.steadiness == Steadiness::Steady);
            match steady.first_mut() {
                Some((state, seconds)) => {
                    let part = &run[state.from..*seconds];
                    called.steady += 1;
                    called.bias += part.iter().sum::<f64>() / part.len() as f64 - 1.0;
                }
                None if not[0].0.steadiness == Steadiness::Warming => called.warming += 1,
                None => called.other += 1,
            }
        }
        called
    }

    fn mean_bias(&self) -> f64 {
        self.bias / self.steady as f64
    }
}

#[test]
fn flat_runs_are_steady() {
    let called = Called::of(101, 300, 0.0, &[]);
    assert!(called.steady >= 294, "{}", called.steady);
    assert!(called.mean_bias().abs() < 0.005, "{}", called.mean_bias());
}

#[test]
fn a_warm_up_of_a_tenth_leaves_less_than_a_percent() {
    for tau_s in [5.0, 20.0, 30.0] {
        let called = Called::of(102, 200, tau_s, &[]);
        assert!(called.steady >= 170, "tau {tau_s}: {}", called.steady);
        assert!(
            called.mean_bias().abs() <= 0.01,
            "tau {tau_s}: {}",
            called.mean_bias()
        );
    }
}

#[test]
fn a_warm_up_of_a_fifth_is_extended() {
    let at_once = Called::of(103, 200, 60.0, &[]);
    assert!(at_once.warming >= 180, "{}", at_once.warming);
    let extended = Called::of(103, 200, 60.0, &[450, 600]);
    assert!(extended.steady >= 170, "{}", extended.steady);
    assert!(
        extended.mean_bias().abs() <= 0.01,
        "{}",
        extended.mean_bias()
    );
}

#[test]
fn a_warm_up_of_half_the_run_is_never_called_steady() {
    for tau_s in [150.0, 300.0, 600.0] {
        let called = Called::of(104, 200, tau_s, &[]);
        assert!(called.warming + called.other >= 190, "tau {tau_s}");
        assert!(called.warming >= 180, "tau {tau_s}: {}", called.warming);
    }
}

/// A run of 300 seconds that follows a level, with 3 % noise.
fn run(seed: u64, level: impl Fn(usize) -> f64) -> RunState {
    let mut noise = Noise::new(seed);
    let errors = noise.autocorrelated(300, 0.5);
    let series: Vec<f64> = errors
        .iter()
        .enumerate()
        .map(|(at, error)| 1000.0 * level(at) * (1.0 + 0.03 * error))
        .collect();
    judge_run(&series, &NOTHING_SEEN).unwrap()
}

#[test]
fn classes() {
    type Level = fn(usize) -> f64;
    let cases: [(&str, Level, Steadiness); 8] = [
        ("flat", |_| 1.0, Steadiness::Steady),
        (
            "a step up early",
            |at| if at < 60 { 0.5 } else { 1.0 },
            Steadiness::Steady,
        ),
        (
            "a stall",
            |at| if at / 4 == 40 { 0.0 } else { 1.0 },
            Steadiness::Steady,
        ),
        ("a rise", |at| 0.5 + at as f64 / 600.0, Steadiness::Warming),
        ("a fall", |at| 1.0 - at as f64 / 600.0, Steadiness::Slowing),
        (
            "a burst that ends",
            |at| if at < 210 { 1.0 } else { 0.7 },
            Steadiness::Slowing,
        ),
        (
            "cycles of a minute",
            |at| if at % 60 < 30 { 1.0 } else { 0.6 },
            Steadiness::Cyclic,
        ),
        (
            "up, down and up",
            |at| match at {
                0..150 => 1.0,
                150..225 => 0.6,
                _ => 1.0,
            },
            Steadiness::NeverSteady,
        ),
    ];
    for (name, level, expected) in cases {
        let mut found = 0;
        for seed in 0..20 {
            let state = run(seed, level);
            assert_eq!(
                state.reasons.is_empty(),
                state.steadiness == Steadiness::Steady,
                "{name}: {state:?}"
            );
            found += usize::from(state.steadiness == expected);
        }
        assert!(found >= 19, "{name}: {found} of 20, {:?}", run(0, level));
    }
}

#[test]
fn counters_speak_where_the_throughput_is_flat() {
    let mut noise = Noise::new(105);
    let mut flat = || -> Vec<f64> { (0..120).map(|_| 1000.0 + 20.0 * noise.normal()).collect() };
    let series = flat();
    let falling: Vec<f64> = flat()
        .iter()
        .enumerate()
        .map(|(at, v)| v - 5.0 * at as f64)
        .collect();
    let growing: Vec<f64> = flat()
        .iter()
        .enumerate()
        .map(|(at, v)| v + 5.0 * at as f64)
        .collect();
    let sawtooth: Vec<f64> = (0..120).map(|at| f64::from(at % 20) * 1e6).collect();
    let even = flat();
    let cases = [
        (
            Evidence {
                misses_per_s: &even,
                ..NOTHING_SEEN
            },
            Steadiness::Steady,
            "",
        ),
        (
            Evidence {
                misses_per_s: &falling,
                ..NOTHING_SEEN
            },
            Steadiness::Warming,
            "misses per second changed by -",
        ),
        (
            Evidence {
                checkpoint_age_bytes: &growing,
                ..NOTHING_SEEN
            },
            Steadiness::Slowing,
            "the checkpoint age grew by +",
        ),
        (
            Evidence {
                checkpoint_age_bytes: &sawtooth,
                ..NOTHING_SEEN
            },
            Steadiness::Steady,
            "",
        ),
        (
            Evidence {
                dirty_pages: &growing,
                ..NOTHING_SEEN
            },
            Steadiness::Slowing,
            "dirty pages grew by +",
        ),
    ];
    for (evidence, expected, words) in cases {
        let state = judge_run(&series, &evidence).unwrap();
        assert_eq!(state.steadiness, expected, "{words}: {state:?}");
        let said: String = state.reasons.iter().map(Reason::to_string).collect();
        assert!(said.starts_with(words), "{said}");
    }
}

/// Counter values of a real server while its pool filled at a constant 300 reads per second.
const FILLING: [f64; 12] = [
    309.8, 252.0, 228.7, 180.2, 135.4, 155.0, 87.6, 103.6, 72.2, 70.5, 61.8, 53.8,
];

#[test]
fn counters_seen_a_few_times_do_not_end_a_warm_up() {
    // A short run: its intervals are shorter than the time between two readings of the server.
    let series = [300.0, 298.0, 301.0, 299.0].repeat(5);
    let seen = |looks: usize| {
        let evidence = Evidence {
            misses_per_s: &FILLING[..looks],
            ..NOTHING_SEEN
        };
        judge_run(&series, &evidence).unwrap()
    };
    assert!(seen(0).ends_warm_up(), "nobody looks");
    for looks in [1, 5, 11] {
        let state = seen(looks);
        assert_eq!(state.steadiness, Steadiness::Steady);
        assert!(!state.ends_warm_up(), "{looks}");
        let why = state.why_no_end().unwrap();
        let expected =
            format!("level, but the server's counters were sampled {looks} times, fewer than 12");
        assert_eq!(why, expected);
    }
    assert_eq!(seen(12).steadiness, Steadiness::Warming);
}

#[test]
fn a_pool_that_is_full_now_ends_the_warm_up() {
    let series = [300.0, 298.0, 301.0, 299.0].repeat(15);
    // A real pool read at a constant rate fills in this way: by a constant share of the missing part.
    let misses: Vec<f64> = (0..60)
        .map(|at| (300.0 * (-f64::from(at) / 6.0).exp()).round())
        .collect();
    let evidence = Evidence {
        misses_per_s: &misses,
        ..NOTHING_SEEN
    };
    let state = judge_run(&series, &evidence).unwrap();
    assert!(state.ends_warm_up(), "{state:?}");
    assert!((12..=24).contains(&state.from), "{}", state.from);
    // Not yet flat while the pool was still filling.
    let early = Evidence {
        misses_per_s: &misses[..26],
        ..NOTHING_SEEN
    };
    let state = judge_run(&series[..26], &early).unwrap();
    assert_eq!(state.steadiness, Steadiness::Warming, "{state:?}");
}

#[test]
fn what_cannot_be_judged_says_why() {
    let cases = [
        (vec![5.0; 11], Indeterminate::Short(11)),
        (vec![f64::NAN; 40], Indeterminate::Undefined),
        (vec![0.0; 40], Indeterminate::Undefined),
    ];
    for (series, expected) in cases {
        assert_eq!(judge_run(&series, &NOTHING_SEEN), Err(expected));
    }
    let mut noise = Noise::new(106);
    let wild: Vec<f64> = (0..30).map(|_| (0.8 * noise.normal()).exp()).collect();
    assert!(matches!(
        judge_run(&wild, &NOTHING_SEEN),
        Err(Indeterminate::Noisy(_))
    ));
    assert_eq!(
        judge_run(&[5.0; 12], &NOTHING_SEEN).unwrap().steadiness,
        Steadiness::Steady
    );
}

#[test]
fn what_is_not_steady_is_told_in_words() {
    let line = |slope: f64| -> Vec<f64> { (0..60).map(|at| 100.0 + slope * at as f64).collect() };
    let told = |series: &[f64]| why_not_steady(&judge_run(series, &NOTHING_SEEN));
    assert_eq!(told(&line(0.0)), None);
    assert!(told(&line(2.0)).unwrap().starts_with("still warming: "));
    assert!(told(&line(-1.0)).unwrap().starts_with("slowing: "));
    assert_eq!(
        told(&[1.0; 5]).as_deref(),
        Some("undecided: 5 observations, fewer than 12")
    );
    assert_eq!(
        told(&[0.0; 50]).as_deref(),
        Some("undecided: no operation ended during half of the time or more")
    );
}

#[test]
fn what_was_before_the_measurement_tells_a_slow_rise() {
    let mut noise = Noise::new(107);
    let (mut alone, mut beside) = (0, 0);
    for _ in 0..100 {
        let run = warm_up(&mut noise, 600, 150.0);
        let steady = |judged: Result<RunState, _>| usize::from(judged.unwrap().is_steady());
        alone += steady(judge_run(&run[300..], &NOTHING_SEEN));
        beside += steady(judge_measurement(&run, 300, &NOTHING_SEEN));
    }
    assert!(alone > 50 && beside <= 8, "{alone}, {beside}");
    // A level that is reached early in a long measurement does not move its mean.
    let early: Vec<f64> = (0..300)
        .map(|at| if at < 2 { 50.0 } else { 100.0 })
        .collect();
    assert!(
        judge_measurement(&early, 0, &NOTHING_SEEN)
            .unwrap()
            .is_steady()
    );
    let later: Vec<f64> = (0..300)
        .map(|at| if at < 30 { 50.0 } else { 100.0 })
        .collect();
    let state = judge_measurement(&later, 0, &NOTHING_SEEN).unwrap();
    assert_eq!(state.steadiness, Steadiness::Warming);
    assert_eq!(
        state.reasons[0].to_string(),
        "the first 10 % of the measurement changes its mean by -5 %"
    );
    assert!(
        judge_measurement(&later, 30, &NOTHING_SEEN)
            .unwrap()
            .is_steady()
    );
    assert_eq!(
        judge_measurement(&later, 290, &NOTHING_SEEN),
        Err(Indeterminate::Short(10))
    );
}

#[test]
fn reasons_in_words() {
    let drift = Interval {
        estimate: 0.12,
        low: 0.08,
        high: 0.153,
    };
    let levels = Reason::Levels {
        count: 3,
        lowest: 0.7,
        highest: 1.1,
    };
    let change = |share, from, to| Change { share, from, to };
    for (reason, words) in [
        (
            // A fitted line may end below zero; the observed counts do not.
            Reason::Misses(change(-4.14, 61.8, 2.0)),
            "misses per second changed by -96.8 % (61.8 to 2.00)",
        ),
        (
            Reason::Misses(change(2.0, 0.0, 40.0)),
            "misses per second changed from 0 to 40.0",
        ),
        (
            Reason::CheckpointAge(change(0.96, 1.4e6, 4.2e6)),
            "the checkpoint age grew by +200 % (1.34 MiB to 4.01 MiB)",
        ),
        (
            Reason::DirtyPages(change(0.17, 400.0, 468.0)),
            "dirty pages grew by +17 % (400 to 468)",
        ),
        (
            Reason::LateCut(0.45),
            "the first 45 % of the run look like warm-up",
        ),
        (
            Reason::Drift(drift),
            "throughput changed by +12 % of its median (95 % interval +8 % to +15.3 %)",
        ),
        (
            levels,
            "throughput moved between 3 levels, 70 % to 110 % of the median",
        ),
    ] {
        assert_eq!(reason.to_string(), words);
    }
}

proptest! {
    #[test]
    fn never_panics(
        any in prop::collection::vec(prop::num::f64::ANY, 0..60),
        finite in prop::collection::vec(0.0..1e6_f64, 0..200),
        other in prop::collection::vec(prop::num::f64::ANY, 0..60),
    ) {
        let _ = judge_run(&any, &NOTHING_SEEN);
        let evidence = Evidence {
            misses_per_s: &other,
            checkpoint_age_bytes: &any,
            dirty_pages: &finite,
        };
        if let Ok(state) = judge_run(&finite, &evidence) {
            prop_assert!(state.from < finite.len());
            prop_assert!(state.drift.low <= state.drift.estimate);
            prop_assert!(state.drift.estimate <= state.drift.high);
        }
    }
}
