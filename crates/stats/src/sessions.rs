//! The false-difference rates of measuring one side after the other.

/// Share of comparisons of equal sides that report a difference, for five executions per side with 3 % noise, measured
/// one side after the other on a machine that becomes 1 % slower per run. Simulated in this file's tests.
pub const FALSE_BY_DRIFT: f64 = 0.49;

/// The same share on a machine that is 5 % slower during the second side than during the first.
pub const FALSE_BY_SHIFT: f64 = 0.62;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{comparison::compare, noise::Noise};

    const EXPERIMENTS: u64 = 4_000;
    const EXECUTIONS: usize = 5;
    const NOISE: f64 = 0.03;

    /// The share of experiments in which equal sides are called different; `slower` is the slowdown of run `at` of ten.
    fn called_different(slower: impl Fn(usize) -> f64) -> f64 {
        let different = (0..EXPERIMENTS).filter(|seed| {
            let mut noise = Noise::new(*seed);
            let run = |at| (-slower(at) + NOISE * noise.normal()).exp();
            let runs: Vec<f64> = (0..2 * EXECUTIONS).map(run).collect();
            let (a, b) = runs.split_at(EXECUTIONS);
            compare(a, b, 0.95).is_some_and(|found| found.p_value < 0.05)
        });
        different.count() as f64 / EXPERIMENTS as f64
    }

    #[test]
    fn drifts_and_shifts_between_sides_look_like_differences() {
        let quiet = called_different(|_| 0.0);
        assert!(quiet < 0.06, "{quiet}");
        let found = [
            (called_different(|at| 0.01 * at as f64), FALSE_BY_DRIFT),
            (
                called_different(|at| if at < EXECUTIONS { 0.0 } else { 0.05 }),
                FALSE_BY_SHIFT,
            ),
        ];
        for (simulated, told) in found {
            // The standard error is below 0.008.
            assert!((simulated - told).abs() < 0.025, "{simulated} {told}");
        }
    }
}
