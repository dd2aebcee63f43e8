//! Simulated queues whose response times have a known distribution: Poisson arrivals at one server, in their order.

use super::stage::RateStage;
use crate::noise::Noise;

/// Time of a stage before its measurement, in which the queue forgets that it began empty.
const SETTLE_S: f64 = 1.0;

#[derive(Debug, Clone, Copy)]
pub(super) enum Service {
    /// M/M/1: exponential service times with this mean, seconds.
    Exponential(f64),
    /// M/D/1: this constant service time, seconds.
    Constant(f64),
}

/// A queue with a limit on the response time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Queue {
    pub(super) service: Service,
    pub(super) limit_s: f64,
}

impl Queue {
    /// A stage of this length in seconds.
    pub(super) fn stage(&self, rate_per_s: f64, length_s: f64, noise: &mut Noise) -> RateStage {
        let (mut arrival_s, mut free_s) = (0.0_f64, 0.0_f64);
        let (mut operations, mut over) = (0, 0);
        loop {
            arrival_s -= noise.uniform().ln() / rate_per_s;
            if arrival_s > SETTLE_S + length_s {
                break;
            }
            let service_s = match self.service {
                Service::Exponential(mean_s) => -noise.uniform().ln() * mean_s,
                Service::Constant(service_s) => service_s,
            };
            free_s = arrival_s.max(free_s) + service_s;
            if arrival_s > SETTLE_S {
                operations += 1;
                over += u64::from(free_s - arrival_s > self.limit_s);
            }
        }
        RateStage {
            rate_per_s,
            operations,
            over,
            is_offered: true,
        }
    }

    /// The share of operations over the limit in the steady state.
    ///
    /// Source: the response time of M/M/1 is exponential with the rate 1 / mean - arrivals: L. Kleinrock, "Queueing
    /// Systems" 1 (1975), section 5.12; the waiting time of M/D/1: A. K. Erlang (1909), as in D. Gross and C. M. Harris,
    /// "Fundamentals of Queueing Theory" (1998), section 5.1.
    pub(super) fn over(&self, rate_per_s: f64) -> f64 {
        match self.service {
            Service::Exponential(mean_s) => (-(1.0 / mean_s - rate_per_s) * self.limit_s).exp(),
            Service::Constant(service_s) => {
                let waiting_s = self.limit_s - service_s;
                let terms = (0_i32..).map_while(|number| {
                    let before_s = f64::from(number) * service_s - waiting_s;
                    (before_s <= 0.0).then_some((number, rate_per_s * before_s))
                });
                let terms = terms.map(|(number, exponent)| {
                    let factorial: f64 = (1..=number).map(f64::from).product();
                    exponent.powi(number) / factorial * (-exponent).exp()
                });
                1.0 - (1.0 - rate_per_s * service_s) * terms.sum::<f64>()
            }
        }
    }

    /// The rate at which this share of operations is over the limit.
    pub(super) fn truth(&self, allowed: f64) -> f64 {
        let (Service::Exponential(mean_s) | Service::Constant(mean_s)) = self.service;
        let (mut low, mut high) = (0.0, 1.0 / mean_s);
        for _ in 0..100 {
            let middle = f64::midpoint(low, high);
            if self.over(middle) > allowed {
                high = middle;
            } else {
                low = middle;
            }
        }
        low
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARKOV: Queue = Queue {
        service: Service::Exponential(0.001),
        limit_s: 0.02,
    };
    const CONSTANT: Queue = Queue {
        service: Service::Constant(0.001),
        limit_s: 0.003,
    };

    #[test]
    fn known_distributions() {
        // 1,000/s - ln(100) / 20 ms.
        assert!((MARKOV.truth(0.01) - 769.741).abs() < 0.001);
        // At half load, P(W <= 2 ms) = 0.5 (e - e^0.5 / 2 + 0).
        let expected = 1.0 - 0.5 * (1_f64.exp() - 0.5 * 0.5_f64.exp());
        assert!((CONSTANT.over(500.0) - expected).abs() < 1e-9);
    }

    #[test]
    fn simulated_shares_are_the_known_ones() {
        let mut noise = Noise::new(171);
        for (queue, rate_per_s) in [(MARKOV, 800.0), (CONSTANT, 600.0)] {
            let stage = queue.stage(rate_per_s, 2_000.0, &mut noise);
            let share = stage.over as f64 / stage.operations as f64;
            let known = queue.over(rate_per_s);
            assert!((share / known - 1.0).abs() < 0.15, "{share} {known}");
        }
    }
}
