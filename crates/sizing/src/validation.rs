//! The test of a prediction: the throughput that was measured on an emulated target, against the predicted one.

use stats::Interval;

use crate::{cells::mean, target::Target, tested_demand::TestedDemand};

/// A prediction tested on a target that limits of the kernel emulate.
#[derive(Debug, Clone, PartialEq)]
pub struct Validation {
    /// What was emulated: the limits, the CPUs of the machine if they were not limited, the buffer pool and the data.
    pub emulated: Target,
    /// Names in `--target` whose values were not emulated.
    pub not_emulated: Vec<&'static str>,
    /// Number of connections with the highest measured throughput.
    pub connections: u32,
    /// Number of executions with them.
    pub executions: usize,
    /// Operations per second of the emulated target.
    pub measured_per_s: Interval,
    /// The prediction for the emulated target, which no execution of it influences.
    pub predicted_per_s: Interval,
    /// Whether the prediction is an upper bound.
    pub is_at_most: bool,
    /// The demands behind the limits, as far as they are known.
    pub demands: Vec<TestedDemand>,
    /// What limited most of the executions, if the emulated target has no such limit.
    pub limited_by: Option<&'static str>,
}

impl Validation {
    /// The error of the prediction as a share of the measured throughput: predicted / measured - 1, above 0 if the
    /// prediction is too high.
    ///
    /// The executions of both are different ones, so that the variances of the logarithms add up. The half widths of
    /// the intervals are multiples of the standard errors: h = √(h₁² + h₂²).
    ///
    /// Source: the delta method for a ratio, G. Casella and R. L. Berger, "Statistical Inference" (2002), section
    /// 5.5.4.
    pub fn error(&self) -> Interval {
        let ratio = self.predicted_per_s.estimate / self.measured_per_s.estimate;
        let half = half_width(&self.predicted_per_s).hypot(half_width(&self.measured_per_s));
        Interval {
            estimate: ratio - 1.0,
            low: ratio / half.exp() - 1.0,
            high: ratio * half.exp() - 1.0,
        }
    }

    /// Whether the interval of the prediction contains the measured throughput.
    pub fn is_in_interval(&self) -> bool {
        let measured = self.measured_per_s.estimate;
        (self.predicted_per_s.low..=self.predicted_per_s.high).contains(&measured)
    }
}

/// Half of the width of an interval in logarithms; of one without an upper end, the part below the estimate.
fn half_width(per_s: &Interval) -> f64 {
    if per_s.high.is_finite() {
        (per_s.high / per_s.low).ln() / 2.0
    } else {
        (per_s.estimate / per_s.low).ln()
    }
}

/// The mean throughput of executions with its interval: that of the logarithms by Student's t
/// ([`stats::mean_interval`]), around the mean; `None` for fewer than two, and for one of 0.
pub(crate) fn mean_throughput(per_s: &[f64], confidence: f64) -> Option<Interval> {
    let estimate = mean(per_s.iter().copied())?;
    let logs: Vec<f64> = per_s.iter().map(|it| it.ln()).collect();
    let of_logs = stats::mean_interval(&logs, confidence)?;
    let factor = (of_logs.high - of_logs.estimate).exp();
    Some(Interval {
        estimate,
        low: estimate / factor,
        high: estimate * factor,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(estimate: f64, factor: f64) -> Interval {
        Interval {
            estimate,
            low: estimate / factor,
            high: estimate * factor,
        }
    }

    fn validation(predicted: f64, measured: f64) -> Validation {
        Validation {
            emulated: Target::default(),
            not_emulated: Vec::new(),
            connections: 32,
            executions: 3,
            // Half widths of 0.03 and 0.04 in logarithms.
            measured_per_s: interval(measured, 0.03_f64.exp()),
            predicted_per_s: interval(predicted, 0.04_f64.exp()),
            is_at_most: false,
            demands: Vec::new(),
            limited_by: None,
        }
    }

    #[test]
    fn the_error_has_the_interval_of_both() {
        let error = validation(1020.0, 1000.0).error();
        // √(0.03² + 0.04²) = 0.05; 1.02 / e^0.05 = 0.970254, 1.02 · e^0.05 = 1.072297.
        for (found, expected) in [
            (error.estimate, 0.02),
            (error.low, -0.029_746),
            (error.high, 0.072_297),
        ] {
            assert!((found - expected).abs() < 1e-6, "{error:?}");
        }
        let mut unbounded = validation(1020.0, 1000.0);
        unbounded.predicted_per_s.high = f64::INFINITY;
        assert!((unbounded.error().high - error.high).abs() < 1e-9);
    }

    #[test]
    fn the_interval_of_the_prediction_contains_the_measured_throughput_or_not() {
        // 1000 · e^0.04 = 1040.8.
        assert!(validation(1000.0, 1040.0).is_in_interval());
        assert!(!validation(1000.0, 1042.0).is_in_interval());
        assert!(validation(1000.0, 961.0).is_in_interval());
        assert!(!validation(1000.0, 960.0).is_in_interval());
    }

    #[test]
    fn the_mean_of_executions_has_an_interval_of_their_logarithms() {
        // Logarithms 4.499810, 4.605170 and 4.700480: a standard deviation of 0.100377, and of their mean 0.057953.
        // Times Student's t for two degrees of freedom and 90 %, 2.919986: 0.169221; e^0.169221 = 1.184382.
        let found = mean_throughput(&[90.0, 100.0, 110.0], 0.9).unwrap();
        assert!((found.estimate - 100.0).abs() < 1e-9);
        assert!((found.high - 118.438).abs() < 1e-2, "{found:?}");
        assert!((found.low - 84.432).abs() < 1e-2, "{found:?}");
        assert_eq!(mean_throughput(&[90.0], 0.9), None);
        assert_eq!(mean_throughput(&[0.0, 90.0], 0.9), None);
    }
}
