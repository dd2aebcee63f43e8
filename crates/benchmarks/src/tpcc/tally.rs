//! Counts of the terminals' inputs, and the audit of clause 5.5.1.5 over them.

use std::sync::{Mutex, PoisonError};

use super::input::{Delivery, Line, NewOrder, OrderStatus, Payment};

/// Counts of the inputs of all terminals of a run; each terminal adds its own when it ends.
#[derive(Debug, Default)]
pub struct SharedTally(Mutex<Tally>);

impl SharedTally {
    pub fn total(&self) -> Tally {
        *self.lock()
    }

    pub(super) fn add(&self, tally: &Tally) {
        let mut total = self.lock();
        total.orders += tally.orders;
        total.rolled_back += tally.rolled_back;
        total.lines += tally.lines;
        total.remote_lines += tally.remote_lines;
        total.payments += tally.payments;
        total.remote_payments += tally.remote_payments;
        total.payments_by_name += tally.payments_by_name;
        total.order_statuses += tally.order_statuses;
        total.order_statuses_by_name += tally.order_statuses_by_name;
        total.deliveries += tally.deliveries;
        total.skipped_districts += tally.skipped_districts;
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Tally> {
        // No code panics while it holds the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts of inputs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// New-Order transactions.
    pub orders: u64,
    /// Number of these that were rolled back because of an unused item.
    pub rolled_back: u64,
    /// Lines of all orders.
    pub lines: u64,
    /// Number of these supplied by another warehouse.
    pub remote_lines: u64,
    /// Payment transactions.
    pub payments: u64,
    /// Number of these by a customer of another warehouse.
    pub remote_payments: u64,
    /// Number of these by last name.
    pub payments_by_name: u64,
    /// Order-Status transactions.
    pub order_statuses: u64,
    /// Number of these by last name.
    pub order_statuses_by_name: u64,
    pub deliveries: u64,
    /// Districts, ten per delivery, that had no order to deliver.
    pub skipped_districts: u64,
}

/// A share of inputs and its bounds in the specification.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share {
    /// Name of the counted input.
    pub what: &'static str,
    /// The share, from 0 to 1; for lines, their number per order.
    pub share: f64,
    pub low: f64,
    pub high: f64,
    /// Tolerance beyond the bounds for this number of transactions: chance exceeds it in fewer than 1 of 100,000 runs.
    pub margin: f64,
}

impl Share {
    /// Whether the share is outside its bounds by more than the margin.
    pub fn is_violated(&self) -> bool {
        self.share < self.low - self.margin || self.share > self.high + self.margin
    }
}

/// Variance of the number of lines, which is uniform over 5 to 15.
const LINES_VARIANCE: f64 = 10.0;
/// Maximum distance of one order's lines from their mean.
const LINES_DEVIATION_MAX: f64 = 5.0;

/// Negative logarithm of the probability that a mean exceeds its margin by chance.
const SELDOM_LN: f64 = 11.5;

/// The distance from its expectation that the mean of `n` values exceeds once in 100,000 times. The values have this
/// variance and lie within `deviation_max` of the expectation. A normal approximation is far too narrow for a share of
/// 1 % in few transactions.
///
/// Source: Bernstein's inequality, solved for the deviation.
fn margin(variance: f64, deviation_max: f64, n: u64) -> f64 {
    let n = n as f64;
    let linear = deviation_max * SELDOM_LN / (3.0 * n);
    linear + (linear * linear + 2.0 * variance * SELDOM_LN / n).sqrt()
}

impl Tally {
    pub(super) fn new_order(&mut self, order: &NewOrder) {
        self.orders += 1;
        self.rolled_back += u64::from(order.is_rolled_back);
        self.lines += order.lines.len() as u64;
        let is_remote = |line: &&Line| line.supply_warehouse != order.warehouse;
        self.remote_lines += order.lines.iter().filter(is_remote).count() as u64;
    }

    pub(super) fn payment(&mut self, payment: &Payment) {
        self.payments += 1;
        self.remote_payments += u64::from(payment.customer_warehouse != payment.warehouse);
        self.payments_by_name += u64::from(payment.customer.is_name());
    }

    pub(super) fn order_status(&mut self, status: &OrderStatus) {
        self.order_statuses += 1;
        self.order_statuses_by_name += u64::from(status.customer.is_name());
    }

    pub(super) fn delivery(&mut self, delivery: &Delivery) {
        self.deliveries += 1;
        self.skipped_districts += u64::from(delivery.skipped());
    }

    /// The shares of clause 5.5.1.5, without those of transactions that never ran.
    ///
    /// The remote shares are omitted if there is only one warehouse.
    pub fn audit(&self, warehouses: u32) -> Vec<Share> {
        let mut shares = vec![
            share(
                "rolled back New-Orders",
                self.rolled_back,
                self.orders,
                0.009,
                0.011,
            ),
            share(
                "Payments by last name",
                self.payments_by_name,
                self.payments,
                0.57,
                0.63,
            ),
            share(
                "Order-Statuses by last name",
                self.order_statuses_by_name,
                self.order_statuses,
                0.57,
                0.63,
            ),
            share(
                "districts skipped by Delivery",
                self.skipped_districts,
                self.deliveries * 10,
                0.0,
                0.01,
            ),
        ];
        if warehouses > 1 {
            shares.push(share(
                "remote lines",
                self.remote_lines,
                self.lines,
                0.0095,
                0.0105,
            ));
            let payments = (self.remote_payments, self.payments);
            shares.push(share("remote Payments", payments.0, payments.1, 0.14, 0.16));
        }
        if self.orders > 0 {
            shares.push(Some(Share {
                what: "lines per order",
                share: self.lines as f64 / self.orders as f64,
                low: 9.5,
                high: 10.5,
                margin: margin(LINES_VARIANCE, LINES_DEVIATION_MAX, self.orders),
            }));
        }
        shares.into_iter().flatten().collect()
    }
}

fn share(what: &'static str, count: u64, of: u64, low: f64, high: f64) -> Option<Share> {
    let middle = (low + high) / 2.0;
    (of > 0).then(|| Share {
        what,
        share: count as f64 / of as f64,
        low,
        high,
        margin: margin(middle * (1.0 - middle), 1.0, of),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_judged_with_what_chance_does() {
        let tally = Tally {
            orders: 100_000,
            rolled_back: 1_000,
            lines: 1_000_000,
            remote_lines: 0,
            payments: 100,
            remote_payments: 19,
            payments_by_name: 60,
            ..Tally::default()
        };
        let verdict = |warehouses| -> Vec<(&str, bool)> {
            let shares = tally.audit(warehouses);
            shares
                .iter()
                .map(|share| (share.what, share.is_violated()))
                .collect()
        };
        assert_eq!(
            verdict(4),
            [
                ("rolled back New-Orders", false),
                ("Payments by last name", false),
                // None of a million: a load program that never uses another warehouse.
                ("remote lines", true),
                // 19 of 100: within chance.
                ("remote Payments", false),
                ("lines per order", false),
            ]
        );
        assert_eq!(verdict(1).len(), 3);
        assert_eq!(Tally::default().audit(4), []);
    }

    #[test]
    fn a_short_run_is_not_judged_by_its_bad_luck() {
        // Three of forty were rolled back, which happens once in 120 runs.
        let tally = Tally {
            orders: 40,
            rolled_back: 3,
            lines: 400,
            ..Tally::default()
        };
        assert!(!tally.audit(1).iter().any(Share::is_violated));
        let tally = Tally {
            orders: 4_000,
            rolled_back: 300,
            lines: 40_000,
            ..Tally::default()
        };
        assert!(tally.audit(1)[0].is_violated());
    }

    #[test]
    fn terminals_add_up() {
        let shared = SharedTally::default();
        for _ in 0..2 {
            shared.add(&Tally {
                deliveries: 3,
                skipped_districts: 1,
                ..Tally::default()
            });
        }
        assert_eq!(shared.total().deliveries, 6);
        let skipped = shared.total().audit(1)[0];
        assert_eq!((skipped.share, skipped.is_violated()), (2.0 / 60.0, false));
    }
}
