//! Seeded noise for the tests of this crate.

use crate::random::Random;

/// A stream of random numbers.
pub(crate) struct Noise(Random);

impl Noise {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Random::new(seed))
    }

    /// A uniform number between 0 and 1, both excluded.
    pub(crate) fn uniform(&mut self) -> f64 {
        const STEPS: usize = 1 << 53;
        (self.0.below(STEPS) as f64 + 0.5) / STEPS as f64
    }

    /// A standard normal deviate (Box and Muller).
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// An autocorrelated series with mean 0, standard deviation 1 and lag-1 correlation `phi`.
    pub(crate) fn autocorrelated(&mut self, length: usize, phi: f64) -> Vec<f64> {
        let mut state = self.normal();
        (0..length)
            .map(|_| {
                state = phi * state + (1.0 - phi * phi).sqrt() * self.normal();
                state
            })
            .collect()
    }
}
