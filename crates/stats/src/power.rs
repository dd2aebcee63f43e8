//! How large a difference so many executions find, and how many a difference takes.

use statrs::{
    distribution::{ContinuousCDF, Normal, StudentsT},
    function::gamma::ln_gamma,
};

use crate::comparison::EXECUTIONS_AT_LEAST;

/// Shares of the experiments in which a difference is to be found.
const POWER: f64 = 0.8;

/// Degrees of freedom from which on Student's t is the normal distribution.
const NORMAL_FROM: f64 = 2_000.0;

/// Steps of the integral over the deviation.
const STEPS: usize = 400;

/// More executions nobody does.
const EXECUTIONS_AT_MOST: usize = 1_000_000;

/// How the executions of two sides are compared, and how often a comparison may err.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Design {
    /// In pairs of one block, or as two lists.
    pub paired: bool,
    /// How often a difference may be found that is none: 0.05, and its part of that where several comparisons are
    /// decided together.
    pub level: f64,
}

impl Design {
    /// The share of experiments that find a difference of `effect` (a logarithm) among executions of this standard
    /// deviation (of one execution, of logarithms); 0 for fewer than two executions a side.
    ///
    /// Source: the noncentral t distribution, P(T' > t) as the mean of Φ(δ - t·s) over the distribution of the estimated
    /// deviation s: N. L. Johnson, S. Kotz and N. Balakrishnan, "Continuous Univariate Distributions", vol. 2 (1995), chapter
    /// 31. Welch's degrees of freedom of two sides that vary alike are 2n(n - 1) / (n + 1) in the mean, less than Student's
    /// 2(n - 1): the mean of Satterthwaite's formula over two equal variances.
    pub fn power(&self, deviation: f64, executions: usize, effect: f64) -> f64 {
        let count = executions as f64;
        let freedom = self.freedom(count);
        if executions < 2 || !(deviation > 0.0 && effect.is_finite()) {
            return 0.0;
        }
        let shift = effect.abs() / (deviation * (2.0 / count).sqrt());
        let limit = quantile(freedom, 1.0 - self.level / 2.0);
        // That the wrong side is called the better one is next to impossible where a difference is likely to be found.
        exceeds(limit, freedom, shift)
    }

    /// The smallest difference, as a logarithm, that so many executions a side find in four of five experiments; `None` for
    /// fewer than two, and where they do not differ by chance.
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

    /// Executions a side, three at least, after which a difference of `effect` (a logarithm) is found in four of five
    /// experiments. `None` for an effect that is not positive, and where a million would not do.
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
    // By midpoints: the density of few degrees of freedom has no value at 0.
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

    /// Logarithms of both sides of one experiment, B's more by `effect`.
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

    /// The program's own decision finds what is said to be found in four of five cases, as often as is said.
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

    /// One of four comparisons differs: Holm asks it for a quarter of the 5 %.
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
        // Pairs of three, 2.8 standard errors: the normal approximation says 80 %.
        let effect = 2.8 * 0.02 * (2.0_f64 / 3.0).sqrt();
        let power = PAIRS.power(0.02, 3, effect);
        assert!((0.33..0.40).contains(&power), "{power}");
        // J. Cohen, Statistical Power Analysis (1988), table 2.4.1: d = 0.5 takes 64 a side.
        assert!(LISTS.executions_needed(1.0, 0.5).unwrap().abs_diff(64) <= 1);
        // With no difference it is the level, of one side.
        assert!((LISTS.power(1.0, 10, 0.0) - 0.025).abs() < 0.002);
        assert_eq!(PAIRS.power(0.02, 1, 1.0), 0.0);
        assert_eq!(PAIRS.smallest_effect(0.0, 5), None);
        assert_eq!(PAIRS.executions_needed(0.02, f64::NAN), None);
        assert_eq!(PAIRS.executions_needed(0.0, 0.1), Some(3));
        assert_eq!(PAIRS.executions_needed(5.0, 1e-6), None);
    }
}
