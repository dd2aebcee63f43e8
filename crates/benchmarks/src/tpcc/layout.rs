//! The report of a TPC-C-like run.

use std::fmt::Write;

use samples::{Deliveries, Durations, ErrorCount, Interval, Totals};

/// The transactions that a terminal runs, which come first.
const TERMINAL_TRANSACTIONS: usize = 5;

/// The results of the five transactions in the measurement.
#[derive(Debug, Clone, Default)]
pub struct Transactions {
    pub measured_s: f64,
    /// By transaction, in the order of their first occurrence.
    pub rows: Vec<Transaction>,
}

/// The results of one transaction.
#[derive(Debug, Clone)]
pub struct Transaction {
    pub name: String,
    /// Response times of the completed ones, including rolled-back New-Orders.
    pub response: Durations,
    /// Those that failed after all attempts.
    pub errors: u64,
}

impl Transactions {
    /// Empty results for transactions with these names.
    pub fn new(names: &[String]) -> Self {
        let row = |name: &String| Transaction {
            name: name.clone(),
            response: Durations::default(),
            errors: 0,
        };
        Self {
            measured_s: 0.0,
            rows: names.iter().map(row).collect(),
        }
    }

    /// Adds the measurement of an interval; the warm-up and the drain are ignored.
    pub fn add(&mut self, interval: &Interval) {
        self.add_totals(&Totals::of([interval]));
    }

    pub fn add_totals(&mut self, totals: &Totals) {
        self.measured_s += totals.measured_s;
        for ((_, operation), total) in &totals.operations {
            let known = self.rows.iter_mut().find(|row| row.name == *operation);
            if let Some(row) = known {
                row.response.add(&total.response);
                row.errors += total.errors;
            }
        }
    }

    /// Time within which 90 % of a transaction's executions were completed, seconds; `None` when none were.
    pub fn p90_s(&self, name: &str) -> Option<f64> {
        let row = self.rows.iter().find(|row| row.name == name)?;
        let ns = row.response.histogram.quantile_ns(0.9)?;
        Some(ns.min(row.response.max_ns) as f64 / 1e9)
    }

    /// New-Orders per minute, including rolled-back ones according to clause 5.4.2; `None` when nothing was measured.
    fn new_orders_per_minute(&self) -> Option<f64> {
        let new_orders = self.rows.first()?;
        (self.measured_s > 0.0).then(|| new_orders.response.count as f64 * 60.0 / self.measured_s)
    }

    /// The answer on one line.
    ///
    /// ```text
    /// 2.10k New-Orders/min, 77.8 transactions/s (TPC-C-like: no TPC result); New-Order p50 2.50 ms, p95 4.10 ms, p99 5.00 ms
    /// ```
    pub fn answer(&self) -> String {
        let Some(per_minute) = self.new_orders_per_minute() else {
            return "nothing was measured".to_owned();
        };
        let all: u64 = self.terminals().map(|row| row.response.count).sum();
        let response = &self.rows[0].response;
        let times = [0.5, 0.95, 0.99].into_iter().filter_map(|quantile| {
            let ns = response.histogram.quantile_ns(quantile)?;
            let time = units::duration(ns.min(response.max_ns) as f64);
            Some(format!("p{:.0} {time}", quantile * 100.0))
        });
        format!(
            "{} New-Orders/min, {} transactions/s (TPC-C-like: no TPC result); {} {}",
            units::si(per_minute),
            units::si(all as f64 / self.measured_s),
            self.rows[0].name,
            times.collect::<Vec<_>>().join(", ")
        )
    }

    /// The transactions of the terminals: deferred deliveries are executed separately.
    fn terminals(&self) -> impl Iterator<Item = &Transaction> {
        self.rows.iter().take(TERMINAL_TRANSACTIONS)
    }
}

/// A share of inputs with the bounds of clause 5.5.1.5.
#[derive(Debug, Clone, PartialEq)]
pub struct InputShare {
    /// The name of the input.
    pub what: String,
    /// The share, 0 to 1, or lines per order.
    pub share: f64,
    /// The lowest and the highest allowed value.
    pub bounds: (f64, f64),
    /// True if it is out of bounds by more than chance explains.
    pub is_violated: bool,
}

pub fn text(transactions: &Transactions, errors: &[ErrorCount], inputs: &[InputShare]) -> String {
    let mut text = String::new();
    let measured_s = transactions.measured_s;
    writeln_to(
        &mut text,
        "transaction           count     per s   mean ms    p50 ms    p90 ms    p95 ms    p99 ms    max ms  failed",
    );
    for row in &transactions.rows {
        let response = &row.response;
        let ms = |ns: Option<f64>| match ns {
            Some(ns) => format!("{:>9.2}", ns / 1e6),
            None => format!("{:>9}", "-"),
        };
        let quantile = |q: f64| {
            let ns = response.histogram.quantile_ns(q);
            ms(ns.map(|ns| ns.clamp(response.min_ns.min(response.max_ns), response.max_ns) as f64))
        };
        let mean = (response.count > 0).then(|| response.sum_ns as f64 / response.count as f64);
        let max = (response.count > 0).then_some(response.max_ns as f64);
        writeln_to(
            &mut text,
            &format!(
                "{:<17} {:>9} {:>9.1} {} {} {} {} {} {} {:>7}",
                row.name,
                response.count,
                response.count as f64 / measured_s.max(f64::MIN_POSITIVE),
                ms(mean),
                quantile(0.5),
                quantile(0.9),
                quantile(0.95),
                quantile(0.99),
                ms(max),
                row.errors
            ),
        );
    }
    if let Some(per_minute) = transactions.new_orders_per_minute() {
        writeln_to(
            &mut text,
            &format!(
                "\n{per_minute:.0} New-Orders per minute over {measured_s:.1} s, rolled back ones included \
                 (TPC-C-like: no TPC result)"
            ),
        );
    }
    errors_to(&mut text, errors);
    inputs_to(&mut text, inputs);
    text
}

/// The inputs that violate the specification, one line each; empty if none does.
pub fn violated_inputs_text(inputs: &[InputShare]) -> String {
    let mut text = String::new();
    let violated = inputs.iter().filter(|input| input.is_violated);
    inputs_to(&mut text, violated);
    text
}

/// The results of the deliveries in the background.
pub fn deliveries_text(deliveries: &Deliveries) -> String {
    let list = |counts: &[u64]| {
        let texts: Vec<String> = counts.iter().map(u64::to_string).collect();
        texts.join(" ")
    };
    format!(
        "deferred deliveries: {} queued, {} executed ({} of them after the stop), {} with unknown outcome, {} left\n\
         delivered orders by district: {}; skipped: {}\n",
        deliveries.queued,
        deliveries.executed,
        deliveries.after_stop,
        deliveries.outcome_unknown,
        deliveries.left,
        list(&deliveries.delivered),
        list(&deliveries.skipped)
    )
}

fn errors_to(text: &mut String, errors: &[ErrorCount]) {
    for error in errors {
        let what = error.in_words();
        let unknown = match error.outcome_unknown {
            0 => String::new(),
            count => format!(", {count} at the commit with unknown outcome, and not run again"),
        };
        writeln_to(
            text,
            &format!(
                "{}: {} times {what}, of these {} succeeded after a retry{unknown}: {}",
                error.operation, error.count, error.retried, error.message
            ),
        );
    }
}

fn inputs_to<'a>(text: &mut String, inputs: impl IntoIterator<Item = &'a InputShare>) {
    for input in inputs {
        let (low, high) = input.bounds;
        // All values but the number of lines are shares.
        let (factor, unit) = if high > 1.0 { (1.0, "") } else { (100.0, " %") };
        let is_within = low <= input.share && input.share <= high;
        let verdict = match (input.is_violated, is_within) {
            (true, _) => "NOT ALLOWED",
            (false, true) => "ok",
            (false, false) => "too few to judge",
        };
        writeln_to(
            text,
            &format!(
                "{}: {:.2}{unit} (allowed {:.2} to {:.2}{unit}): {verdict}",
                input.what,
                input.share * factor,
                low * factor,
                high * factor
            ),
        );
    }
}

fn writeln_to(text: &mut String, line: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transactions() -> Transactions {
        let mut transactions = Transactions::new(&["New-Order".to_owned(), "Payment".to_owned()]);
        transactions.measured_s = 30.0;
        let mut response = Durations::default();
        for ms in [1_u64, 2, 3, 4] {
            response.record(ms * 1_000_000);
        }
        transactions.rows[0].response = response;
        transactions.rows[1].errors = 1;
        transactions
    }

    #[test]
    fn the_report_in_its_lines() {
        let errors = [ErrorCount {
            load: "tpcc".to_owned(),
            operation: "New-Order".to_owned(),
            number: 1213,
            sqlstate: "40001".to_owned(),
            message: "Deadlock found".to_owned(),
            count: 3,
            retried: 2,
            ..ErrorCount::default()
        }];
        let lost = ErrorCount {
            number: 0,
            sqlstate: String::new(),
            message: "connection lost while waiting for the answer: end of file".to_owned(),
            count: 2,
            retried: 1,
            outcome_unknown: 1,
            ..errors[0].clone()
        };
        let errors = [&errors[..], &[lost]].concat();
        let inputs = [
            InputShare {
                what: "remote lines".to_owned(),
                share: 0.0,
                bounds: (0.0095, 0.0105),
                is_violated: true,
            },
            InputShare {
                what: "lines per order".to_owned(),
                share: 10.02,
                bounds: (9.5, 10.5),
                is_violated: false,
            },
        ];
        let lines = text(&transactions(), &errors, &inputs);
        let expected = "\
transaction           count     per s   mean ms    p50 ms    p90 ms    p95 ms    p99 ms    max ms  failed
New-Order                 4       0.1      2.50      2.00      4.00      4.00      4.00      4.00       0
Payment                   0       0.0         -         -         -         -         -         -       1

8 New-Orders per minute over 30.0 s, rolled back ones included (TPC-C-like: no TPC result)
New-Order: 3 times error 1213 (40001), of these 2 succeeded after a retry: Deadlock found
New-Order: 2 times client error, of these 1 succeeded after a retry, 1 at the commit with unknown outcome, and not run again: connection lost while waiting for the answer: end of file
remote lines: 0.00 % (allowed 0.95 to 1.05 %): NOT ALLOWED
lines per order: 10.02 (allowed 9.50 to 10.50): ok
";
        assert_eq!(lines, expected);
    }

    #[test]
    fn deliveries_in_the_background() {
        let deliveries = Deliveries {
            queued: 5,
            executed: 3,
            after_stop: 1,
            outcome_unknown: 1,
            left: 1,
            delivered: vec![3, 2],
            skipped: vec![0, 1],
        };
        let expected = "\
deferred deliveries: 5 queued, 3 executed (1 of them after the stop), 1 with unknown outcome, 1 left
delivered orders by district: 3 2; skipped: 0 1
";
        assert_eq!(deliveries_text(&deliveries), expected);
        assert_eq!(transactions().p90_s("New-Order"), Some(0.004));
        assert_eq!(transactions().p90_s("Payment"), None);
    }

    #[test]
    fn nothing_measured_gives_no_rate() {
        assert_eq!(Transactions::new(&[]).new_orders_per_minute(), None);
        let none = Transactions::new(&["New-Order".to_owned()]);
        assert_eq!(none.new_orders_per_minute(), None);
    }
}
