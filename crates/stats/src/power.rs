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

/// Steps of the integral over a standard deviation.
const STEPS: usize = 40;

/// Largest number of executions that is considered.
const EXECUTIONS_AT_MOST: usize = 1_000_000;

/// The standard deviation of one execution, of logarithms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Deviation {
    value: f64,
    /// Degrees of freedom of the estimate; `None` for a known one.
    freedom: Option<f64>,
}

impl Deviation {
    pub fn known(value: f64) -> Self {
        Self {
            value,
            freedom: None,
        }
    }

    pub fn estimated(value: f64, freedom: f64) -> Self {
        Self {
            value,
            freedom: Some(freedom),
        }
    }
}

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
    /// The probability of detecting a difference of `effect` (a logarithm) among executions with this deviation; 0 for
    /// fewer than two executions per side. Over an estimated deviation it is the mean: the actual one may be larger, and
    /// what is lost then is more than what is gained where it is smaller.
    ///
    /// Source: the noncentral t distribution, P(T' > t) as the mean of Φ(δ - t·s) over the distribution of the
    /// estimated deviation s: N. L. Johnson, S. Kotz and N. Balakrishnan, "Continuous Univariate Distributions", vol. 2
    /// (1995), chapter 31. With equal variances Welch's degrees of freedom average 2n(n - 1) / (n + 1), less than
    /// Student's 2(n - 1): the mean of Satterthwaite's formula over two equal variances. The mean over an estimate: D. J.
    /// Spiegelhalter and L. S. Freedman, "A predictive approach to selecting the size of a clinical trial", Statistics in
    /// Medicine 5 (1986), with the scaled χ² of the deviation alone.
    pub fn power(&self, deviation: Deviation, executions: usize, effect: f64) -> f64 {
        let count = executions as f64;
        if executions < 2 || !(deviation.value > 0.0 && effect.is_finite()) {
            return 0.0;
        }
        let freedom = self.freedom(count);
        let shift = effect.abs() / (deviation.value * (2.0 / count).sqrt());
        let limit = quantile(freedom, 1.0 - self.level / 2.0);
        let normal = Normal::standard();
        let of_next = scaled_chi(freedom);
        let of_estimate = deviation.freedom.map_or(vec![(1.0, 1.0)], scaled_chi);
        // A verdict for the wrong side is extremely unlikely where the power is high.
        let parts = of_estimate.into_iter().map(|(estimate, weight)| {
            let exceed = of_next
                .iter()
                .map(|(s, weight)| weight * normal.cdf(shift * estimate - limit * s));
            weight * exceed.sum::<f64>()
        });
        parts.sum::<f64>().clamp(0.0, 1.0)
    }

    /// The smallest difference, as a logarithm, that this number of executions per side detects with 80 % power; `None`
    /// for fewer than two, and if the executions have no spread.
    pub fn smallest_effect(&self, deviation: Deviation, executions: usize) -> Option<f64> {
        if executions < 2 || !(deviation.value > 0.0 && deviation.value.is_finite()) {
            return None;
        }
        let mut high = deviation.value;
        while self.power(deviation, executions, high) < POWER {
            high *= 2.0;
            if !high.is_finite() {
                return None;
            }
        }
        let mut low = 0.0;
        for _ in 0..30 {
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
    pub fn executions_needed(&self, deviation: Deviation, effect: f64) -> Option<usize> {
        if effect.is_nan() || effect <= 0.0 {
            return None;
        }
        if deviation.value <= 0.0 {
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

    /// The degrees of freedom of the deviation among this number of executions per side.
    pub fn freedom(&self, executions: f64) -> f64 {
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

/// √(χ² / ν), as values with their weights, which add up to 1.
fn scaled_chi(freedom: f64) -> Vec<(f64, f64)> {
    if freedom >= NORMAL_FROM {
        return vec![(1.0, 1.0)];
    }
    // Its density is 2 (ν/2)^(ν/2) / Γ(ν/2) · s^(ν - 1) · exp(-ν s² / 2).
    let half = freedom / 2.0;
    let scale = 2.0_f64.ln() + half * half.ln() - ln_gamma(half);
    let density = |s: f64| (scale + (freedom - 1.0) * s.ln() - half * s * s).exp();
    // Seven deviations to each side.
    let reach = 5.0 / freedom.sqrt();
    let begin = (1.0 - reach).max(0.0);
    let width = (1.0 + reach - begin) / STEPS as f64;
    // Midpoint rule: with few degrees of freedom the density is undefined at 0.
    let values = (0..STEPS).map(|step| begin + (step as f64 + 0.5) * width);
    let weighted: Vec<_> = values.map(|s| (s, density(s))).collect();
    let all: f64 = weighted.iter().map(|(_, weight)| weight).sum();
    weighted
        .into_iter()
        .map(|(s, weight)| (s, weight / all))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        comparison::{Comparison, compare, compare_pairs, holm},
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

    fn compared(design: Design, a: &[f64], b: &[f64]) -> Comparison {
        let found = if design.paired {
            let pairs: Vec<_> = a.iter().copied().zip(b.iter().copied()).collect();
            compare_pairs(&pairs, 0.95)
        } else {
            compare(a, b, 0.95)
        };
        found.unwrap()
    }

    fn p_value(design: Design, a: &[f64], b: &[f64]) -> f64 {
        compared(design, a, b).p_value
    }

    /// The deviation that a comparison finds in one experiment.
    fn estimated(design: Design, noise: &mut Noise, executions: usize) -> Deviation {
        let (a, b) = experiment(noise, executions, 0.0);
        let freedom = design.freedom(executions as f64);
        Deviation::estimated(compared(design, &a, &b).deviation, freedom)
    }

    /// The actual decision detects the stated difference with the stated power of 80 %, where the deviation is known and
    /// where each statement rests on the deviation of one earlier experiment of as many executions.
    #[test]
    fn trust_what_is_said_to_be_found_is_found() {
        for design in [PAIRS, LISTS] {
            for executions in [3, 5, 12] {
                let known = Deviation::known(0.02);
                let of_known = design.smallest_effect(known, executions).unwrap();
                // The smallest effect is a multiple of the deviation.
                let freedom = design.freedom(executions as f64);
                let unit = Deviation::estimated(1.0, freedom);
                let times = design.smallest_effect(unit, executions).unwrap();
                let mut noise = Noise::new(executions as u64);
                let mut found = [0_u32; 2];
                for _ in 0..repetitions() {
                    let estimate = estimated(design, &mut noise, executions);
                    for (found, effect) in found.iter_mut().zip([of_known, times * estimate.value])
                    {
                        let (a, b) = experiment(&mut noise, executions, effect);
                        *found += u32::from(p_value(design, &a, &b) < design.level);
                    }
                }
                let shares = found.map(|found| f64::from(found) / repetitions() as f64);
                println!(
                    "{} executions {}: a difference of {:.1} % at 2 % noise is found in {:.1} %, what an estimate says in \
                     {:.1} % (said: 80)",
                    executions,
                    if design.paired {
                        "in pairs"
                    } else {
                        "as lists"
                    },
                    100.0 * of_known.exp_m1(),
                    100.0 * shares[0],
                    100.0 * shares[1]
                );
                for share in shares {
                    let is_as_said = (share - 0.8).abs() < 0.05;
                    assert!(is_as_said, "{design:?} {executions} {shares:?}");
                }
                let needed = design.executions_needed(known, of_known);
                assert!(needed.unwrap().abs_diff(executions) <= 1, "{needed:?}");
                let needed = design.executions_needed(unit, times);
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
            let known = Deviation::known(0.02);
            let effect = design.smallest_effect(known, executions).unwrap();
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
        let power = PAIRS.power(Deviation::known(0.02), 3, effect);
        assert!((0.33..0.40).contains(&power), "{power}");
        // J. Cohen, Statistical Power Analysis (1988), table 2.4.1: d = 0.5 needs 64 per side.
        assert!(
            LISTS
                .executions_needed(Deviation::known(1.0), 0.5)
                .unwrap()
                .abs_diff(64)
                <= 1
        );
        // Without a difference the power is half of the two-sided level.
        assert!((LISTS.power(Deviation::known(1.0), 10, 0.0) - 0.025).abs() < 0.002);
        assert_eq!(PAIRS.power(Deviation::known(0.02), 1, 1.0), 0.0);
        assert_eq!(PAIRS.smallest_effect(Deviation::known(0.0), 5), None);
        assert_eq!(
            PAIRS.executions_needed(Deviation::known(0.02), f64::NAN),
            None
        );
        assert_eq!(PAIRS.executions_needed(Deviation::known(0.0), 0.1), Some(3));
        assert_eq!(PAIRS.executions_needed(Deviation::known(5.0), 1e-6), None);
        // The less is known of the deviation, the larger must be what is found for certain.
        let smallest = |freedom| {
            let deviation = Deviation::estimated(0.02, freedom);
            PAIRS.smallest_effect(deviation, 5).unwrap()
        };
        let known = PAIRS.smallest_effect(Deviation::known(0.02), 5).unwrap();
        assert!(smallest(2.0) > smallest(4.0) && smallest(4.0) > 1.05 * known);
        assert!((smallest(1e6) - known).abs() < 1e-9);
    }
}
