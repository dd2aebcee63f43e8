//! Simulated executions: with noise only, and with a remaining warm-up.

use super::*;
use crate::noise;

/// The error probabilities of rule M03 of the audit, under the same names.
const WARN_CHANCE: f64 = 0.01;
const INVALID_CHANCE: f64 = 0.001;

/// Experiments with this number of combinations and executions, whose noise has this coefficient of variation and lag-1
/// correlation. Their throughput begins at 1 - `depth` and rises with a time constant of a tenth of their length.
pub(crate) struct Scene {
    pub(crate) combinations: usize,
    pub(crate) executions: usize,
    pub(crate) length: usize,
    pub(crate) variation: f64,
    pub(crate) correlation: f64,
    pub(crate) depth: f64,
}

impl Scene {
    /// Shares of the simulated experiments with a warning, and with the level invalid.
    pub(crate) fn called(&self, repetitions: u64) -> (f64, f64) {
        let (mut warned, mut invalid) = (0_u32, 0_u32);
        for seed in 0..repetitions {
            let mut stream = noise::Noise::new(seed * 7_919 + self.length as u64);
            let shifts: Vec<MeanShift> = (0..self.combinations)
                .map(|_| self.shift(&mut stream))
                .collect();
            let is_warned = |it: &MeanShift| self.warns(it) || self.is_invalid(it);
            warned += u32::from(shifts.iter().any(is_warned));
            invalid += u32::from(shifts.iter().any(|it| self.is_invalid(it)));
        }
        let share = |count| f64::from(count) / repetitions as f64;
        (share(warned), share(invalid))
    }

    fn shift(&self, stream: &mut noise::Noise) -> MeanShift {
        let courses: Vec<Vec<f64>> = (0..self.executions).map(|_| self.course(stream)).collect();
        let courses: Vec<&[f64]> = courses.iter().map(Vec::as_slice).collect();
        mean_shift(&courses).unwrap()
    }

    fn warns(&self, shift: &MeanShift) -> bool {
        let chance = WARN_CHANCE * chance_of_each(self.combinations);
        shift.moved.abs() > 0.02 && shift.proven(chance) > 0.0
    }

    fn is_invalid(&self, shift: &MeanShift) -> bool {
        let chance = INVALID_CHANCE * chance_of_each(self.combinations);
        let proven = shift.proven(chance);
        let is_trend = shift.shape == ShiftShape::Line && shift.proven_change(chance) > 0.05;
        let is_moved = self.executions > 1 && shift.moved.abs() > 0.05 && proven > 0.02;
        proven > 0.05 || is_trend || is_moved
    }

    fn course(&self, stream: &mut noise::Noise) -> Vec<f64> {
        let series = stream.autocorrelated(self.length, self.correlation);
        let values = series.iter().enumerate().map(|(at, noise)| {
            let time = (at as f64 + 0.5) / self.length as f64;
            let level = 1.0 - self.depth * (-time / 0.1).exp();
            (level * (1.0 + self.variation * noise)).max(0.0)
        });
        values.collect()
    }
}

fn repetitions(few: u64) -> u64 {
    if std::env::var_os("DBDYNO_TRUST").is_some() {
        few * 20
    } else {
        few
    }
}

#[test]
fn trust_noise_alone_moves_no_mean() {
    for length in [12, 20, 60, 300] {
        for executions in [1, 3, 5] {
            for variation in [0.01, 0.05, 0.1, 0.2] {
                for correlation in [0.0, 0.6, 0.8] {
                    let scene = Scene {
                        combinations: 1,
                        executions,
                        length,
                        variation,
                        correlation,
                        depth: 0.0,
                    };
                    let (warned, invalid) = scene.called(repetitions(100));
                    println!(
                        "noise {:.0} %, lag-1 {correlation}, {executions} executions of {length} intervals: warned \
                         {:.1} %, invalid {:.1} %",
                        variation * 100.0,
                        warned * 100.0,
                        invalid * 100.0
                    );
                    // 7 and 1 %; the standard errors of 100 repetitions are 2.6 and 1.
                    assert!(warned <= 0.15 && invalid <= 0.04, "{warned} {invalid}");
                    if std::env::var_os("DBDYNO_TRUST").is_some() {
                        // The standard errors of 2,000 repetitions are 0.6 and 0.2.
                        assert!(warned <= 0.08 && invalid <= 0.015, "{warned} {invalid}");
                    }
                }
            }
        }
    }
}

/// An experiment of 36 steady runs: the worst of its combinations does not make it invalid.
#[test]
fn trust_a_steady_experiment_is_not_invalid() {
    for (variation, correlation) in [(0.05, 0.6), (0.1, 0.6), (0.2, 0.8)] {
        let scene = Scene {
            combinations: 12,
            executions: 3,
            length: 20,
            variation,
            correlation,
            depth: 0.0,
        };
        let (warned, invalid) = scene.called(repetitions(100));
        println!(
            "12 combinations of 3 executions, noise {:.0} %, lag-1 {correlation}: warned {:.1} %, invalid {:.1} %",
            variation * 100.0,
            warned * 100.0,
            invalid * 100.0
        );
        // 7 and 1 %; the standard errors of 100 repetitions are 2.6 and 1.
        assert!(warned <= 0.15 && invalid <= 0.04, "{warned} {invalid}");
        if std::env::var_os("DBDYNO_TRUST").is_some() {
            assert!(warned <= 0.08 && invalid <= 0.015, "{warned} {invalid}");
        }
    }
}

#[test]
fn trust_a_warm_up_of_a_tenth_of_the_run_is_warned_of() {
    for (executions, length, variation, correlation, at_least) in [
        (1, 300, 0.05, 0.6, 0.95),
        (1, 60, 0.05, 0.6, 0.8),
        (3, 60, 0.1, 0.6, 0.95),
        (3, 20, 0.05, 0.6, 0.9),
        (3, 12, 0.05, 0.6, 0.8),
        (3, 60, 0.2, 0.6, 0.9),
    ] {
        let scene = Scene {
            combinations: 1,
            executions,
            length,
            variation,
            correlation,
            depth: 0.6,
        };
        let (warned, invalid) = scene.called(repetitions(100));
        println!(
            "warm-up of a tenth left in, noise {:.0} %, lag-1 {correlation}, {executions} executions of {length} \
             intervals: warned {:.1} %, invalid {:.1} %",
            variation * 100.0,
            warned * 100.0,
            invalid * 100.0
        );
        assert!(warned >= at_least, "{warned} of {executions} of {length}");
    }
}

#[test]
fn more_noise_is_judged_no_milder_where_nothing_can_be_told() {
    let course = |noise: &[f64]| -> Vec<f64> { noise.iter().map(|it| 100.0 + it).collect() };
    assert_eq!(mean_shift(&[&course(&[0.0; 11])]), None);
    assert_eq!(mean_shift(&[&[0.0; 20]]), None);
    assert_eq!(mean_shift(&[]), None);
    let flat = mean_shift(&[&course(&[0.0; 20])]).unwrap();
    assert!(flat.moved.abs() < 1e-9 && flat.proven(WARN_CHANCE) < 1e-9);
}

#[test]
fn a_line_and_a_warm_up_are_told_apart() {
    let rising: Vec<f64> = (0..60).map(|at| 100.0 + f64::from(at)).collect();
    let found = mean_shift(&[&rising]).unwrap();
    assert_eq!(found.shape, ShiftShape::Line);
    // From 100 to 159 around a mean of 129.5.
    assert!((found.change - 59.0 / 129.5).abs() < 1e-9, "{found:?}");
    assert!(
        (found.moved - (129.5 / 159.0 - 1.0)).abs() < 1e-9,
        "{found:?}"
    );
    assert!(found.proven_change(INVALID_CHANCE) > 0.4);
    let warming: Vec<f64> = (0..60)
        .map(|at| 100.0 * (1.0 - 0.6 * (-f64::from(at) / 6.0).exp()))
        .collect();
    let found = mean_shift(&[&warming]).unwrap();
    assert_eq!(found.shape, ShiftShape::EarlyPart);
    assert!((-0.08..-0.05).contains(&found.moved), "{found:?}");
}

#[test]
fn a_day_is_judged_as_fast_as_a_minute() {
    let day = vec![5.0; 86_400];
    assert!(mean_shift(&[&day, &day]).unwrap().moved.abs() < 1e-9);
}
