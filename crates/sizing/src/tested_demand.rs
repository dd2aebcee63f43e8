//! A demand of one operation on an emulated target, against the predicted one.

use stats::Interval;

use crate::service_demand::ServiceDemand;

/// Difference as a share of the prediction that is rounding: operations and counters are read at slightly different
/// times.
const ROUNDING: f64 = 0.001;

/// A demand with its test.
#[derive(Debug, Clone, PartialEq)]
pub struct TestedDemand {
    pub demand: ServiceDemand,
    /// The mean of the tested executions, in the unit of the demand.
    pub measured: f64,
    /// The prediction for the emulated target.
    pub predicted: Interval,
}

impl TestedDemand {
    /// Whether the interval of the prediction contains the measured demand.
    pub fn is_in_interval(&self) -> bool {
        let rounding = ROUNDING * self.predicted.estimate;
        let (low, high) = (self.predicted.low, self.predicted.high);
        (low - rounding..=high + rounding).contains(&self.measured)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_more_than_rounding_is_outside_of_an_interval() {
        let is_in_interval = |measured| {
            let tested = TestedDemand {
                demand: ServiceDemand::Cpu,
                measured,
                predicted: Interval {
                    estimate: 145e-6,
                    low: 121e-6,
                    high: 172e-6,
                },
            };
            tested.is_in_interval()
        };
        // A thousandth of 145 µs is 0.145 µs.
        let found = [120.8e-6, 120.9e-6, 160e-6, 172.1e-6, 172.2e-6, 214e-6].map(is_in_interval);
        assert_eq!(found, [false, true, true, true, false, false]);
    }
}
