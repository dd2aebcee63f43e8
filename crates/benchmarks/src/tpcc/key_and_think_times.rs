//! Keying and think times of a terminal, as durations that the driver waits for.

use std::time::Duration;

use super::{deck::Transaction, random::Draw};

/// Whether terminals pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pacing {
    /// No pauses: each transaction follows the previous one.
    None,
    /// Keying and think times of clause 5.2.5.
    Specification,
}

impl Pacing {
    /// Time before a transaction in which its input is typed.
    pub(super) fn key_time(self, transaction: Transaction) -> Duration {
        let seconds = match (self, transaction) {
            (Self::None, _) => 0,
            (_, Transaction::NewOrder) => 18,
            (_, Transaction::Payment) => 3,
            _ => 2,
        };
        Duration::from_secs(seconds)
    }

    /// Think time after a transaction: negative exponential, at most ten times the mean.
    ///
    /// Source: TPC-C 5.11, clause 5.2.5.4.
    pub(super) fn think_time(self, transaction: Transaction, draw: &mut Draw) -> Duration {
        let mean_s = match (self, transaction) {
            (Self::None, _) => return Duration::ZERO,
            (_, Transaction::NewOrder | Transaction::Payment) => 12.0,
            (_, Transaction::OrderStatus) => 10.0,
            (_, Transaction::Delivery | Transaction::StockLevel) => 5.0,
        };
        let thinking_s: f64 = -draw.unit().ln() * mean_s;
        Duration::from_secs_f64(thinking_s.min(10.0 * mean_s))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tpcc::random::Purpose;

    #[test]
    fn think_times_are_exponential_and_bounded() {
        let mut draw = Draw::new(1, Purpose::Terminal, 0);
        let times: Vec<f64> = (0..50_000)
            .map(|_| Pacing::Specification.think_time(Transaction::OrderStatus, &mut draw))
            .map(|time| time.as_secs_f64())
            .collect();
        let mean = times.iter().sum::<f64>() / times.len() as f64;
        // The standard error is 0.045 s.
        assert!((9.8..10.2).contains(&mean), "{mean}");
        assert!(times.iter().all(|time| (0.0..=100.0).contains(time)));
        let beyond_mean = times.iter().filter(|time| **time > 10.0).count() as f64;
        // e^-1 of them, with a standard error of 0.002.
        assert!((beyond_mean / times.len() as f64 - 0.3679).abs() < 0.01);
    }

    #[test]
    fn without_pacing_nobody_pauses() {
        let mut draw = Draw::new(1, Purpose::Terminal, 0);
        for transaction in Transaction::ALL {
            assert_eq!(Pacing::None.key_time(transaction), Duration::ZERO);
            assert_eq!(
                Pacing::None.think_time(transaction, &mut draw),
                Duration::ZERO
            );
        }
        assert_eq!(
            Pacing::Specification
                .key_time(Transaction::NewOrder)
                .as_secs(),
            18
        );
    }
}
