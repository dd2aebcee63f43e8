//! Statistical power: the smallest difference that a number of executions detects, and the executions that a difference
//! needs.

use statrs::{
    distribution::{ContinuousCDF, Normal, StudentsT},
    function::gamma::ln_gamma,
};

use crate::comparison::EXECUTIONS_AT_LEAST;

/// Required probability of detecting a difference.
const POWER: f64 = 0.8;

/// Degrees of freedom from which Student's t is treated as normal.
const NORMAL_FROM: f64 = 2_000.0;

/// Steps of the integral over the standard deviation.
const STEPS: usize = 400;

/// Largest number of executions that is considered.
const EXECUTIONS_AT_MOST: usize = 1_000_000;

/// The design of a comparison: pairing and error level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Design {
    /// True for pairs within blocks, false for two lists.
    pub paired: bool,
    /// Probability of finding a difference where there is none: 0.05, or its share of that if several comparisons are
    /// decided together.
    pub level: f64,
}

impl Design {
    /// The probability of detecting a difference of `effect` (a logarithm) among executions with this standard
    /// deviation (of one execution, of logarithms); 0 for fewer than two executions per side.
    ///
    /// Source: the noncentral t distribution, P(T' > t) as the mean of Φ(δ - t·s) over the distribution of the
    /// estimated deviation s: N. L. Johnson, S. Kotz and N. Balakrishnan, "Continuous Univariate Distributions", vol. 2
    /// (1995), chapter 31. With equal variances Welch's degrees of freedom average 2n(n - 1) / (n + 1), less than
    /// Student's 2(n - 1): the mean of Satterthwaite's formula over two equal variances.
    pub fn power(&self, deviation: f64, executions: usize, effect: f64) -> f64 {
        let count = executions as f64;
        let freedom = self.freedom(count);
        if executions < 2 || !(deviation > 0.0 && effect.is_finite()) {
            return 0.0;
        }
        let shift = effect.abs() / (deviation * (2.0 / count).sqrt());
        let limit = quantile(freedom, 1.0 - self.level / 2.0);
        // A verdict for the wrong side is extremely unlikely where the power is high.
        exceeds(limit, freedom, shift)
    }

    /// The smallest difference, as a logarithm, that this number of executions per side detects with 80 % power; `None`
    /// for fewer than two, and if the executions have no spread.
    pub fn smallest_effect(&self, deviation: f64, executions: usize) -> Option<f64> {
        if executions < 2 || !(deviation > 0.0 && deviation.is_finite()) {
            return None;
        }
        let mut high = deviation;
        while self.power(deviation, executions, high) < POWER {
            high *= 2.0;
            if !high.is_finite() {
                return None;
            }
        }
        let mut low = 0.0;
        for _ in 0..40 {
            let middle = f64::midpoint(low, high);
            if self.power(deviation, executions, middle) < POWER {
                low = middle;
            } else {
                high = middle;
            }
        }
        Some(high)
    }

    /// Executions per side, at least three, that detect a difference of `effect` (a logarithm) with 80 % power. `None`
    /// for an effect that is not positive, and if a million would not suffice.
    pub fn executions_needed(&self, deviation: f64, effect: f64) -> Option<usize> {
        if effect.is_nan() || effect <= 0.0 {
            return None;
        }
        if deviation <= 0.0 {
            return Some(EXECUTIONS_AT_LEAST);
        }
        let is_found = |executions| self.power(deviation, executions, effect) >= POWER;
        let (mut low, mut high) = (EXECUTIONS_AT_LEAST - 1, EXECUTIONS_AT_LEAST);
        while !is_found(high) {
            if high >= EXECUTIONS_AT_MOST {
                return None;
            }
            low = high;
            high = (high * 2).min(EXECUTIONS_AT_MOST);
        }
        while high - low > 1 {
            let middle = low.midpoint(high);
            if is_found(middle) {
                high = middle;
            } else {
                low = middle;
            }
        }
        Some(high)
    }

    fn freedom(&self, executions: f64) -> f64 {
        if self.paired {
            executions - 1.0
        } else {
            2.0 * executions * (executions - 1.0) / (executions + 1.0)
        }
    }
}

fn quantile(freedom: f64, share: f64) -> f64 {
    match StudentsT::new(0.0, 1.0, freedom) {
        Ok(student) if freedom < NORMAL_FROM => student.inverse_cdf(share),
        _ => Normal::standard().inverse_cdf(share),
    }
}

/// The probability that a noncentral t with this shift exceeds a limit.
fn exceeds(limit: f64, freedom: f64, shift: f64) -> f64 {
    let normal = Normal::standard();
    if freedom >= NORMAL_FROM {
        return normal.cdf(shift - limit);
    }
    // The density of s = √(χ² / ν) is 2 (ν/2)^(ν/2) / Γ(ν/2) · s^(ν - 1) · exp(-ν s² / 2).
    let half = freedom / 2.0;
    let scale = 2.0_f64.ln() + half * half.ln() - ln_gamma(half);
    let density = |s: f64| (scale + (freedom - 1.0) * s.ln() - half * s * s).exp();
    let reach = 1.0 + 8.0 / freedom.sqrt();
    let width = reach / STEPS as f64;
    // Midpoint rule: with few degrees of freedom the density is undefined at 0.
    let parts = (0..STEPS).map(|step| {
        let s = (step as f64 + 0.5) * width;
        density(s) * normal.cdf(shift - limit * s)
    });
    (parts.sum::<f64>() * width).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        comparison::{compare, compare_pairs, holm},
        noise::Noise,
    };

    const PAIRS: Design = Design {
        paired: true,
        level: 0.05,
    };
    const LISTS: Design = Design {
        paired: false,
        level: 0.05,
    };

    fn repetitions() -> usize {
        if std::env::var_os("DBDYNO_TRUST").is_some() {
            20_000
        } else {
            1_500
        }
    }

    /// Logarithms of both sides of one experiment, with B higher by `effect`.
    fn experiment(noise: &mut Noise, executions: usize, effect: f64) -> (Vec<f64>, Vec<f64>) {
        let mut side = |level: f64| -> Vec<f64> {
            let run = |_| (level + 0.02 * noise.normal()).exp();
            (0..executions).map(run).collect()
        };
        (side(0.0), side(effect))
    }

    fn p_value(design: Design, a: &[f64], b: &[f64]) -> f64 {
        let found = if design.paired {
            let pairs: Vec<_> = a.iter().copied().zip(b.iter().copied()).collect();
            compare_pairs(&pairs, 0.95)
        } else {
            compare(a, b, 0.95)
        };
        found.unwrap().p_value
    }

    /// The actual decision detects the stated difference with the stated power of 80 %.
    #[test]
    fn trust_what_is_said_to_be_found_is_found() {
        for design in [PAIRS, LISTS] {
            for executions in [3, 5, 12] {
                let effect = design.smallest_effect(0.02, executions).unwrap();
                let mut noise = Noise::new(executions as u64);
                let found = (0..repetitions()).filter(|_| {
                    let (a, b) = experiment(&mut noise, executions, effect);
                    p_value(design, &a, &b) < design.level
                });
                let share = found.count() as f64 / repetitions() as f64;
                println!(
                    "{} executions {}: a difference of {:.1} % at 2 % noise is found in {:.1} % (said: 80)",
                    executions,
                    if design.paired {
                        "in pairs"
                    } else {
                        "as lists"
                    },
                    100.0 * effect.exp_m1(),
                    100.0 * share
                );
                assert!(
                    (share - 0.8).abs() < 0.05,
                    "{design:?} {executions} {share}"
                );
                let needed = design.executions_needed(0.02, effect);
                assert!(needed.unwrap().abs_diff(executions) <= 1, "{needed:?}");
            }
        }
    }

    /// One of four comparisons differs: Holm's correction requires a quarter of the 5 % for it.
    #[test]
    fn trust_the_correction_for_several_comparisons_is_in_what_is_said() {
        let design = Design {
            level: 0.05 / 4.0,
            ..PAIRS
        };
        for executions in [5, 12] {
            let effect = design.smallest_effect(0.02, executions).unwrap();
            let mut noise = Noise::new(77);
            let found = (0..repetitions()).filter(|_| {
                let effects = [effect, 0.0, 0.0, 0.0];
                let p_values = effects.map(|effect| {
                    let (a, b) = experiment(&mut noise, executions, effect);
                    p_value(design, &a, &b)
                });
                holm(&p_values)[0] < 0.05
            });
            let share = found.count() as f64 / repetitions() as f64;
            println!(
                "{executions} executions in pairs, one of four comparisons differs: found in {:.1} % (said: 80)",
                100.0 * share
            );
            assert!((share - 0.8).abs() < 0.05, "{executions} {share}");
        }
    }

    #[test]
    fn known_powers() {
        // Three pairs, 2.8 standard errors: 80 % by the normal approximation.
        let effect = 2.8 * 0.02 * (2.0_f64 / 3.0).sqrt();
        let power = PAIRS.power(0.02, 3, effect);
        assert!((0.33..0.40).contains(&power), "{power}");
        // J. Cohen, Statistical Power Analysis (1988), table 2.4.1: d = 0.5 needs 64 per side.
        assert!(LISTS.executions_needed(1.0, 0.5).unwrap().abs_diff(64) <= 1);
        // Without a difference the power is half of the two-sided level.
        assert!((LISTS.power(1.0, 10, 0.0) - 0.025).abs() < 0.002);
        assert_eq!(PAIRS.power(0.02, 1, 1.0), 0.0);
        assert_eq!(PAIRS.smallest_effect(0.0, 5), None);
        assert_eq!(PAIRS.executions_needed(0.02, f64::NAN), None);
        assert_eq!(PAIRS.executions_needed(0.0, 0.1), Some(3));
        assert_eq!(PAIRS.executions_needed(5.0, 1e-6), None);
    }
}
