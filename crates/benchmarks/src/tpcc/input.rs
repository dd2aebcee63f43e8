//! The inputs of the transactions, as an operator would type them at a terminal.

use super::{
    nurand::Constants,
    population::{DISTRICTS, ITEMS},
    random::Draw,
};

/// The home of a terminal, and the parameters of its operator's inputs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Home {
    /// The home warehouse, the same for the life of the terminal (clause 2.4.1.1).
    pub(super) warehouse: u32,
    /// The district of its Stock-Level transactions (clause 2.8.1.1).
    pub(super) district: u32,
    /// Warehouses of the database.
    pub(super) warehouses: u32,
    pub(super) constants: Constants,
}

/// A customer, by number or by last name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CustomerKey {
    Number(u32),
    /// The number of the last name.
    LastName(u32),
}

impl CustomerKey {
    pub(super) fn is_name(self) -> bool {
        matches!(self, Self::LastName(_))
    }
}

/// One line of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Line {
    pub(super) number: u32,
    pub(super) item: u32,
    pub(super) supply_warehouse: u32,
    pub(super) quantity: u32,
}

/// Input of New-Order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct NewOrder {
    pub(super) warehouse: u32,
    pub(super) district: u32,
    pub(super) customer: u32,
    /// In the order in which the stock rows are locked, so that two orders do not deadlock.
    pub(super) lines: Vec<Line>,
    /// The last line's item does not exist: the order will be rolled back.
    pub(super) is_rolled_back: bool,
}

/// Input of Payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Payment {
    pub(super) warehouse: u32,
    pub(super) district: u32,
    pub(super) customer_warehouse: u32,
    pub(super) customer_district: u32,
    pub(super) customer: CustomerKey,
    /// Amount in hundredths.
    pub(super) amount: u32,
}

/// Input of Order-Status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OrderStatus {
    pub(super) warehouse: u32,
    pub(super) district: u32,
    pub(super) customer: CustomerKey,
}

/// Input of Delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Delivery {
    pub(super) warehouse: u32,
    pub(super) carrier: u32,
    /// The next district to deliver; those before it are done, also for a retry.
    pub(super) next_district: u32,
    /// A bit for each district whose order was delivered; the others had none.
    pub(super) delivered: u32,
}

impl Delivery {
    /// Districts that had no order to deliver, once the delivery is over.
    pub(super) fn skipped(&self) -> u32 {
        DISTRICTS - self.delivered.count_ones()
    }
}

/// Input of Stock-Level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StockLevel {
    pub(super) warehouse: u32,
    pub(super) district: u32,
    pub(super) threshold: u32,
}

impl Home {
    /// Source: TPC-C 5.11, clause 2.4.1. The memory of the lines is reused.
    pub(super) fn new_order(&self, draw: &mut Draw, order: &mut NewOrder) {
        order.warehouse = self.warehouse;
        order.district = draw.uniform(1..=DISTRICTS);
        order.customer = self.constants.customer(draw);
        order.is_rolled_back = draw.percent(1);
        order.lines.clear();
        for number in 1..=draw.uniform(5..=15) {
            let is_remote = draw.percent(1);
            order.lines.push(Line {
                number,
                item: self.constants.item(draw),
                supply_warehouse: if is_remote {
                    self.other_warehouse(draw)
                } else {
                    self.warehouse
                },
                quantity: draw.uniform(1..=10),
            });
        }
        let key = |line: &Line| (line.supply_warehouse, line.item, line.number);
        if let Some((last, others)) = order.lines.split_last_mut()
            && order.is_rolled_back
        {
            last.item = ITEMS + 1;
            others.sort_unstable_by_key(key);
        } else {
            order.lines.sort_unstable_by_key(key);
        }
    }

    /// Source: TPC-C 5.11, clause 2.5.1.
    pub(super) fn payment(&self, draw: &mut Draw) -> Payment {
        let district = draw.uniform(1..=DISTRICTS);
        let is_home = draw.percent(85);
        let (customer_warehouse, customer_district) = if is_home {
            (self.warehouse, district)
        } else {
            (self.other_warehouse(draw), draw.uniform(1..=DISTRICTS))
        };
        Payment {
            warehouse: self.warehouse,
            district,
            customer_warehouse,
            customer_district,
            customer: self.customer(draw),
            amount: draw.uniform(100..=500_000),
        }
    }

    /// Source: TPC-C 5.11, clause 2.6.1.
    pub(super) fn order_status(&self, draw: &mut Draw) -> OrderStatus {
        OrderStatus {
            warehouse: self.warehouse,
            district: draw.uniform(1..=DISTRICTS),
            customer: self.customer(draw),
        }
    }

    /// Source: TPC-C 5.11, clause 2.7.1.
    pub(super) fn delivery(&self, draw: &mut Draw) -> Delivery {
        Delivery {
            warehouse: self.warehouse,
            carrier: draw.uniform(1..=10),
            next_district: 1,
            delivered: 0,
        }
    }

    /// Source: TPC-C 5.11, clause 2.8.1.
    pub(super) fn stock_level(&self, draw: &mut Draw) -> StockLevel {
        StockLevel {
            warehouse: self.warehouse,
            district: self.district,
            threshold: draw.uniform(10..=20),
        }
    }

    /// A customer, selected by last name in 60 % of cases.
    fn customer(&self, draw: &mut Draw) -> CustomerKey {
        if draw.percent(60) {
            CustomerKey::LastName(self.constants.last_name(draw))
        } else {
            CustomerKey::Number(self.constants.customer(draw))
        }
    }

    /// Any warehouse other than the home warehouse; the home warehouse if it is the only one.
    fn other_warehouse(&self, draw: &mut Draw) -> u32 {
        if self.warehouses < 2 {
            return self.warehouse;
        }
        let other = draw.uniform(1..=self.warehouses - 1);
        other + u32::from(other >= self.warehouse)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tpcc::random::Purpose;

    fn place(warehouse: u32, warehouses: u32) -> Home {
        Home {
            warehouse,
            district: 4,
            warehouses,
            constants: Constants::of_run(1, None),
        }
    }

    /// Asserts that a share is within the bounds of clause 5.5.1.5 after a sufficient number of draws.
    fn assert_share(count: u32, of: u32, low: f64, high: f64, what: &str) {
        let share = f64::from(count) / f64::from(of);
        assert!((low..=high).contains(&share), "{what}: {share}");
    }

    #[test]
    fn orders_lie_within_the_bounds_of_the_clause() {
        let mut draw = Draw::new(1, Purpose::Terminal, 0);
        let mut order = NewOrder::default();
        let (mut lines, mut remote, mut rolled_back) = (0, 0, 0);
        let orders = 200_000;
        for _ in 0..orders {
            place(3, 5).new_order(&mut draw, &mut order);
            assert!((5..=15).contains(&order.lines.len()));
            assert!((1..=3_000).contains(&order.customer) && (1..=10).contains(&order.district));
            lines += order.lines.len() as u32;
            remote += order
                .lines
                .iter()
                .filter(|line| line.supply_warehouse != 3)
                .count() as u32;
            rolled_back += u32::from(order.is_rolled_back);
            let unused = order.lines.iter().filter(|line| line.item > ITEMS).count();
            assert_eq!(unused, usize::from(order.is_rolled_back));
            if order.is_rolled_back {
                let last = order.lines[order.lines.len() - 1];
                assert_eq!(
                    (last.item, last.number as usize),
                    (ITEMS + 1, order.lines.len())
                );
            }
            let mut numbers: Vec<u32> = order.lines.iter().map(|line| line.number).collect();
            numbers.sort_unstable();
            assert_eq!(numbers, (1..=order.lines.len() as u32).collect::<Vec<_>>());
        }
        assert_share(rolled_back, orders, 0.009, 0.011, "rollbacks");
        assert_share(remote, lines, 0.0095, 0.0105, "remote lines");
        assert_share(lines, orders, 9.5, 10.5, "lines");
    }

    #[test]
    fn payments_lie_within_the_bounds_of_the_clause() {
        let mut draw = Draw::new(1, Purpose::Terminal, 0);
        let (mut remote, mut by_name) = (0, 0);
        for _ in 0..100_000 {
            let payment = place(1, 2).payment(&mut draw);
            match payment.customer_warehouse {
                1 => assert_eq!(payment.customer_district, payment.district),
                _ => remote += 1,
            }
            by_name += u32::from(payment.customer.is_name());
            assert!((100..=500_000).contains(&payment.amount));
        }
        assert_share(remote, 100_000, 0.14, 0.16, "remote payments");
        assert_share(by_name, 100_000, 0.57, 0.63, "by name");
    }

    #[test]
    fn one_warehouse_has_no_other() {
        let mut draw = Draw::new(1, Purpose::Terminal, 0);
        let mut order = NewOrder::default();
        for _ in 0..1_000 {
            place(1, 1).new_order(&mut draw, &mut order);
            assert!(order.lines.iter().all(|line| line.supply_warehouse == 1));
            assert_eq!(place(1, 1).payment(&mut draw).customer_warehouse, 1);
        }
        let others: std::collections::BTreeSet<u32> = (0..1_000)
            .map(|_| place(2, 4).other_warehouse(&mut draw))
            .collect();
        assert_eq!(others.into_iter().collect::<Vec<_>>(), [1, 3, 4]);
    }
}
