//! Slices of two servers that stand side by side on a simulated machine.

use crate::noise::Noise;

/// Length of a slice, seconds.
const SLICE_S: f64 = 0.5;

/// Length of a turn: the settling time and its slice, seconds.
pub(super) const TURN_S: f64 = 0.6;

/// Shortest and longest burst of the neighbour, and time between two bursts, seconds.
const BURST_S: [f64; 2] = [2.0, 120.0];

/// Share of the throughput that is lost while the neighbour takes a whole core of the machine's two.
const LOST_TO_A_CORE: f64 = 0.5;

/// Noise whose values are correlated in time, by a process of the first order.
#[derive(Debug, Clone, Copy)]
pub(super) struct CorrelatedNoise {
    /// Standard deviation, of the logarithm of throughput.
    pub(super) deviation: f64,
    /// Correlation of two values 500 ms apart.
    pub(super) correlation: f64,
}

impl CorrelatedNoise {
    pub(super) const NONE: Self = Self {
        deviation: 0.0,
        correlation: 0.0,
    };
}

/// The noise of a session of two servers.
#[derive(Debug, Clone, Copy)]
pub(super) struct TwoServers {
    pub(super) name: &'static str,
    /// Noise of the machine, which meets the server that is loaded.
    pub(super) shared: CorrelatedNoise,
    /// Noise of each server alone, such as its checkpoints.
    pub(super) own: CorrelatedNoise,
    /// Standard deviation of the independent noise of each slice.
    pub(super) independent: f64,
    /// Change of the machine's speed, a share per second.
    pub(super) drift_per_s: f64,
    /// Whether a neighbour takes between 0 and 100 % of a core in bursts.
    pub(super) has_neighbour: bool,
}

/// The order of the turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// One turn of each server in every block, in a random order.
    RandomInBlocks,
    /// All turns of A, then all of B.
    OneAfterTheOther,
}

impl TwoServers {
    /// The throughputs of the slices of A and of B, block by block; the servers are equal.
    pub(super) fn slices(&self, noise: &mut Noise, blocks: usize, order: Order) -> [Vec<f64>; 2] {
        let bursts = self.bursts(noise, 2.0 * TURN_S * blocks as f64);
        let mut shared = Process::new(self.shared, noise);
        let mut own = [(); 2].map(|()| Process::new(self.own, noise));
        let mut slices = [(); 2].map(|()| Vec::with_capacity(blocks));
        for block in 0..blocks {
            let first = usize::from(noise.share() < 0.5);
            for place in 0..2 {
                let turn = 2 * block + place;
                let server = match order {
                    Order::RandomInBlocks => (first + place) % 2,
                    Order::OneAfterTheOther => usize::from(turn >= blocks),
                };
                let begin_s = TURN_S * turn as f64;
                let of_servers = own
                    .each_mut()
                    .map(|process| process.value_after_turn(noise));
                let log = self.drift_per_s * begin_s
                    + shared.value_after_turn(noise)
                    + of_servers[server]
                    + self.independent * noise.normal();
                let end_s = begin_s + TURN_S;
                slices[server].push(log.exp() * remaining(&bursts, end_s - SLICE_S, end_s));
            }
        }
        slices
    }

    /// The bursts of a neighbour that has been running for some time.
    fn bursts(&self, noise: &mut Noise, until_s: f64) -> Vec<Burst> {
        let mut bursts = Vec::new();
        if !self.has_neighbour {
            return bursts;
        }
        let [shortest_s, longest_s] = BURST_S;
        let length_s =
            |noise: &mut Noise| shortest_s * (longest_s / shortest_s).powf(noise.share());
        let mut end_s = -longest_s * noise.share();
        while end_s < until_s {
            let begin_s = end_s + length_s(noise);
            end_s = begin_s + length_s(noise);
            bursts.push(Burst {
                begin_s,
                end_s,
                of_core: noise.share(),
            });
        }
        bursts
    }
}

/// A time in which the neighbour takes a share of a core.
struct Burst {
    begin_s: f64,
    end_s: f64,
    of_core: f64,
}

/// The share of the throughput that bursts leave in this time.
fn remaining(bursts: &[Burst], begin_s: f64, end_s: f64) -> f64 {
    let lost = bursts.iter().map(|burst| {
        let overlap_s = burst.end_s.min(end_s) - burst.begin_s.max(begin_s);
        LOST_TO_A_CORE * burst.of_core * overlap_s.max(0.0) / (end_s - begin_s)
    });
    1.0 - lost.sum::<f64>()
}

/// The present value of correlated noise.
struct Process {
    noise: CorrelatedNoise,
    /// In standard deviations.
    value: f64,
}

impl Process {
    fn new(noise: CorrelatedNoise, random: &mut Noise) -> Self {
        Self {
            noise,
            value: random.normal(),
        }
    }

    /// Its value a turn later, of the logarithm of throughput.
    fn value_after_turn(&mut self, random: &mut Noise) -> f64 {
        let kept = self.noise.correlation.powf(TURN_S / SLICE_S);
        self.value = kept * self.value + (1.0 - kept * kept).sqrt() * random.normal();
        self.noise.deviation * self.value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_takes_its_share_of_a_slice() {
        let burst = Burst {
            begin_s: 1.0,
            end_s: 2.0,
            of_core: 0.8,
        };
        let left = |begin_s, end_s| remaining(std::slice::from_ref(&burst), begin_s, end_s);
        assert!((left(1.0, 1.5) - 0.6).abs() < 1e-12);
        assert!((left(1.75, 2.25) - 0.8).abs() < 1e-12);
        assert!((left(3.0, 3.5) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn each_server_has_its_slices() {
        let steady = TwoServers {
            name: "steady",
            shared: CorrelatedNoise::NONE,
            own: CorrelatedNoise::NONE,
            independent: 0.0,
            drift_per_s: 0.01,
            has_neighbour: false,
        };
        let [a, b] = steady.slices(&mut Noise::new(1), 10, Order::OneAfterTheOther);
        assert_eq!([a.len(), b.len()], [10, 10]);
        assert!(a.iter().all(|of_a| b.iter().all(|of_b| of_a < of_b)));
        let [a, b] = steady.slices(&mut Noise::new(1), 10, Order::RandomInBlocks);
        assert_eq!([a.len(), b.len()], [10, 10]);
        let a_first = a.iter().zip(&b).filter(|(a, b)| a < b).count();
        assert!((1..10).contains(&a_first), "{a_first}");
    }
}
