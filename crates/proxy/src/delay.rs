//! A delay with a jitter.

use std::{str::FromStr, time::Duration};

use settings::quantity;

/// A delay that varies evenly: `2ms`, or `2ms:500us` for 1.5 to 2.5 ms.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Delay {
    pub mean: Duration,
    /// The delay varies evenly by this much in both directions; at most the mean.
    pub jitter: Duration,
}

impl Delay {
    /// The delay for a number from 0 to below 1.
    pub(crate) fn drawn(self, even: f64) -> Duration {
        let most = self.mean + self.jitter;
        most.saturating_sub(self.jitter.mul_f64(2.0 * even))
    }
}

impl FromStr for Delay {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (mean, jitter) = quantity::varied(text).ok_or_else(|| {
            format!(
                "a time such as 2ms, or with a jitter that is no longer, 2ms:500us; {}",
                quantity::DURATION_LIMIT
            )
        })?;
        Ok(Self { mean, jitter })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_have_a_jitter_that_fits() {
        let delay_of = |mean, jitter| Delay {
            mean: Duration::from_micros(mean),
            jitter: Duration::from_micros(jitter),
        };
        assert_eq!("2ms".parse(), Ok(delay_of(2000, 0)));
        assert_eq!("2ms:500us".parse(), Ok(delay_of(2000, 500)));
        for wrong in ["2", "1ms:2ms", "-1ms", "1ms:"] {
            assert!(wrong.parse::<Delay>().is_err(), "{wrong}");
        }
        assert_eq!(delay_of(2, 1).drawn(0.0), Duration::from_micros(3));
        assert_eq!(delay_of(2, 1).drawn(0.5), Duration::from_micros(2));
    }
}
