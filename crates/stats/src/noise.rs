//! Seeded noise for the tests of this crate.

use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng, SeedableRng},
};

/// A stream of random numbers.
pub(crate) struct Noise(ChaCha8Rng);

impl Noise {
    /// The stream of `seed`.
    pub(crate) fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    fn uniform(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// A standard normal deviate (Box and Muller).
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// An autocorrelated series of mean 0 and deviation 1, lag-1 correlation `phi`.
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
