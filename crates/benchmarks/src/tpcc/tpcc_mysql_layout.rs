//! The output of tpcc-mysql's two programs, line by line, for existing scripts.

use std::fmt::Write;

use samples::{Durations, ErrorCount};

use super::layout::Transactions;

/// The text that scripts search for at the end of a load.
pub const LOADED: &str = "\n...DATA LOADING COMPLETED SUCCESSFULLY.\n";

/// The text between the ramp-up and the first periodic line.
pub const MEASURING: &str = "\nMEASURING START.\n\n";

/// Number of dots on one line; the next is the number of rows per dot.
const DOTS: u32 = 50;
const ROWS_PER_DOT: u32 = 100;

pub fn loader_banner() -> String {
    banner("*** TPCC-mysql Data Loader        ***")
}

/// The banner of the load generator.
pub fn generator_banner() -> String {
    banner("*** ###easy### TPC-C Load Generator ***")
}

fn banner(title: &str) -> String {
    let stars = "*".repeat(title.len());
    format!("{stars}\n{title}\n{stars}\n")
}

/// The echo of an option, such as `option h with value '127.0.0.1'`.
pub fn option_line(letter: char, value: &str) -> String {
    match letter {
        'm' => format!("option m (multiple schemas) with value '{value}'\n"),
        'o' => format!("option o (multiple schemas offset) with value '{value}'\n"),
        'S' => format!("option S (socket) with value '{value}'\n"),
        '0'..='4' => {
            format!("option {letter} (response time limit for transaction {letter}) '{value}'\n")
        }
        _ => format!("option {letter} with value '{value}'\n"),
    }
}

/// The list of parameters: names right-aligned to the bracket, such as `       [user]: bench`.
pub fn parameters(rows: &[(&str, String)]) -> String {
    let mut text = "<Parameters>\n".to_owned();
    for (name, value) in rows {
        // tpcc-mysql indents this one by five blanks.
        let width = if *name == "port" { 11 } else { 13 };
        line(
            &mut text,
            &format!("{:>width$}: {value}", format!("[{name}]")),
        );
    }
    text
}

/// Rows of a table as dots: 100 rows each, and the number of rows after every `per_line` rows.
fn dots(text: &mut String, rows: u32, per_line: u32) {
    let dots = ".".repeat((per_line / ROWS_PER_DOT).min(DOTS) as usize);
    for count in (per_line..=rows).step_by(per_line as usize) {
        line(text, &format!("{dots} {count}"));
    }
}

/// The loader's output for part 1, the items.
pub fn loaded_items() -> String {
    let mut text = "Loading Item \n".to_owned();
    dots(&mut text, 100_000, 5_000);
    text + "Item Done. \n"
}

/// The output for part 2 of these warehouses: warehouses, stocks and districts.
pub fn loaded_warehouses(first: u32, last: u32) -> String {
    let mut text = "Loading Warehouse \n".to_owned();
    for warehouse in first..=last {
        line(&mut text, &format!("Loading Stock Wid={warehouse}"));
        dots(&mut text, 100_000, 5_000);
        line(&mut text, " Stock Done.");
        line(&mut text, "Loading District");
    }
    text
}

/// The output for part 3 of these warehouses: customers with their history.
pub fn loaded_customers(first: u32, last: u32) -> String {
    let mut text = String::new();
    for (warehouse, district) in districts(first, last) {
        line(
            &mut text,
            &format!("Loading Customer for DID={district}, WID={warehouse}"),
        );
        dots(&mut text, 3_000, 1_000);
        line(&mut text, "Customer Done.");
    }
    text
}

/// The output for part 4 of these warehouses: orders with their lines.
pub fn loaded_orders(first: u32, last: u32) -> String {
    let mut text = String::new();
    for (warehouse, district) in districts(first, last) {
        line(
            &mut text,
            &format!("Loading Orders for D={district}, W= {warehouse}"),
        );
        dots(&mut text, 3_000, 1_000);
        line(&mut text, "Orders Done.");
    }
    text
}

fn districts(first: u32, last: u32) -> impl Iterator<Item = (u32, u32)> {
    (first..=last).flat_map(|warehouse| (1..=10).map(move |district| (warehouse, district)))
}

pub fn ramp_up(seconds: u32) -> String {
    format!("\nRAMP-UP TIME.({seconds} sec.)\n")
}

/// A periodic line: `  10, trx: 2730, 95%: 23.807, 99%: 37.167, max_rt: 163.385, 2728|63.654, ...`.
pub fn periodic(second: u32, period: &Transactions) -> String {
    let ms = |ns: u64| ns as f64 / 1e6;
    let mut parts = Vec::new();
    for (index, row) in period.rows.iter().enumerate() {
        let response = &row.response;
        parts.push(match index {
            0 => format!(
                "trx: {}, 95%: {:.3}, 99%: {:.3}, max_rt: {:.3}",
                response.count,
                ms(quantile(response, 0.95)),
                ms(quantile(response, 0.99)),
                ms(response.max_ns)
            ),
            _ => format!("{}|{:.3}", response.count, ms(response.max_ns)),
        });
    }
    format!("{second:>4}, {}\n", parts.join(", "))
}

fn quantile(response: &Durations, quantile: f64) -> u64 {
    let ns = response.histogram.quantile_ns(quantile).unwrap_or(0);
    ns.clamp(response.min_ns, response.max_ns.max(response.min_ns))
}

/// The results of a run, with the limits of the response times in seconds.
pub struct FinalReport<'a> {
    pub transactions: &'a Transactions,
    /// Errors by transaction.
    pub errors: &'a [ErrorCount],
    /// Limits of the five transactions, seconds.
    pub limits_s: [u32; 5],
    pub measured_s: u32,
    /// Connections that ended cleanly, one dot each.
    pub connections: u32,
}

/// The specification's minimum shares of the mix, in percent.
const MIX_AT_LEAST: [(usize, &str); 4] = [(1, "43.0"), (2, " 4.0"), (3, " 4.0"), (4, " 4.0")];

impl FinalReport<'_> {
    /// From STOPPING THREADS to TpmC.
    pub fn text(&self) -> String {
        let dots = ".".repeat(self.connections as usize);
        let mut text = format!("\nSTOPPING THREADS{dots}\n\n<Raw Results>\n");
        for (index, row) in self.transactions.rows.iter().enumerate() {
            let counts = self.counts(index);
            let mean_ms = match row.response.count {
                0 => 0.0,
                count => row.response.sum_ns as f64 / count as f64 / 1e6,
            };
            line(
                &mut text,
                &format!(
                    "  [{index}] sc:{} lt:{}  rt:{}  fl:{} avg_rt: {mean_ms:.1} ({})",
                    counts.success,
                    counts.late,
                    counts.retries,
                    counts.failures,
                    self.limits_s[index]
                ),
            );
        }
        line(&mut text, &format!(" in {} sec.", self.measured_s));
        line(&mut text, "\n<Raw Results2(sum ver.)>");
        for index in 0..self.transactions.rows.len() {
            let counts = self.counts(index);
            line(
                &mut text,
                &format!(
                    "  [{index}] sc:{}  lt:{}  rt:{}  fl:{} ",
                    counts.success, counts.late, counts.retries, counts.failures
                ),
            );
        }
        self.constraints(&mut text);
        let new_orders = self.transactions.rows.first();
        let count = new_orders.map_or(0, |row| row.response.count);
        let per_minute = count as f64 * 60.0 / f64::from(self.measured_s.max(1));
        line(
            &mut text,
            &format!("\n<TpmC>\n                 {per_minute:.3} TpmC"),
        );
        text
    }

    fn constraints(&self, text: &mut String) {
        line(
            text,
            "\n<Constraint Check> (all must be [OK])\n [transaction percentage]",
        );
        let rows = &self.transactions.rows;
        let total: u64 = rows.iter().map(|row| row.response.count).sum();
        for (index, at_least) in MIX_AT_LEAST {
            let share = percent(rows[index].response.count, total);
            let limit: f64 = at_least.trim().parse().unwrap_or_default();
            let verdict = verdict(share >= limit);
            line(
                text,
                &format!(
                    "{:>15}: {share:.2}% (>={at_least}%) {verdict}",
                    rows[index].name
                ),
            );
        }
        line(text, " [response time (at least 90% passed)]");
        for (index, row) in rows.iter().enumerate() {
            let counts = self.counts(index);
            let share = percent(counts.success, counts.success + counts.late);
            let verdict = verdict(share >= 90.0);
            line(text, &format!("{:>15}: {share:.2}%  {verdict}", row.name));
        }
    }

    fn counts(&self, index: usize) -> Counts {
        let row = &self.transactions.rows[index];
        let limit_ns = u64::from(self.limits_s[index]) * 1_000_000_000;
        let late = row.response.histogram.count_above(limit_ns);
        let of_row = self
            .errors
            .iter()
            .filter(|error| error.operation == row.name);
        Counts {
            success: row.response.count - late.min(row.response.count),
            late,
            // The last attempt of a transaction that failed for good is not followed by a retry.
            retries: of_row
                .map(|error| error.in_measurement)
                .sum::<u64>()
                .saturating_sub(row.errors),
            failures: row.errors,
        }
    }
}

struct Counts {
    success: u64,
    late: u64,
    retries: u64,
    failures: u64,
}

/// A percentage; 0 without transactions, so that no check passes.
fn percent(part: u64, of: u64) -> f64 {
    match of {
        0 => 0.0,
        of => part as f64 * 100.0 / of as f64,
    }
}

fn verdict(is_ok: bool) -> &'static str {
    if is_ok { "[OK]" } else { "[NG] *" }
}

fn line(text: &mut String, line: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transactions(counts: [u64; 5], ms: u64) -> Transactions {
        let names = [
            "New-Order",
            "Payment",
            "Order-Status",
            "Delivery",
            "Stock-Level",
        ];
        let mut transactions = Transactions::new(&names.map(str::to_owned));
        for (row, count) in transactions.rows.iter_mut().zip(counts) {
            for _ in 0..count {
                row.response.record(ms * 1_000_000);
            }
        }
        transactions
    }

    #[test]
    fn periodic_lines() {
        assert_eq!(
            periodic(10, &transactions([230, 228, 23, 23, 0], 20)),
            "  10, trx: 230, 95%: 20.000, 99%: 20.000, max_rt: 20.000, 228|20.000, 23|20.000, 23|20.000, 0|0.000\n"
        );
    }

    #[test]
    fn the_final_report() {
        let errors = [ErrorCount {
            load: "tpcc".to_owned(),
            operation: "Payment".to_owned(),
            number: 1213,
            sqlstate: "40001".to_owned(),
            message: "Deadlock".to_owned(),
            count: 2,
            retried: 2,
            in_measurement: 2,
            ..ErrorCount::default()
        }];
        let report = FinalReport {
            transactions: &transactions([100, 101, 10, 10, 10], 6_000),
            errors: &errors,
            limits_s: [5, 5, 7, 80, 20],
            measured_s: 60,
            connections: 3,
        };
        let expected = "
STOPPING THREADS...

<Raw Results>
  [0] sc:0 lt:100  rt:0  fl:0 avg_rt: 6000.0 (5)
  [1] sc:0 lt:101  rt:2  fl:0 avg_rt: 6000.0 (5)
  [2] sc:10 lt:0  rt:0  fl:0 avg_rt: 6000.0 (7)
  [3] sc:10 lt:0  rt:0  fl:0 avg_rt: 6000.0 (80)
  [4] sc:10 lt:0  rt:0  fl:0 avg_rt: 6000.0 (20)
 in 60 sec.

<Raw Results2(sum ver.)>
  [0] sc:0  lt:100  rt:0  fl:0 
  [1] sc:0  lt:101  rt:2  fl:0 
  [2] sc:10  lt:0  rt:0  fl:0 
  [3] sc:10  lt:0  rt:0  fl:0 
  [4] sc:10  lt:0  rt:0  fl:0 

<Constraint Check> (all must be [OK])
 [transaction percentage]
        Payment: 43.72% (>=43.0%) [OK]
   Order-Status: 4.33% (>= 4.0%) [OK]
       Delivery: 4.33% (>= 4.0%) [OK]
    Stock-Level: 4.33% (>= 4.0%) [OK]
 [response time (at least 90% passed)]
      New-Order: 0.00%  [NG] *
        Payment: 0.00%  [NG] *
   Order-Status: 100.00%  [OK]
       Delivery: 100.00%  [OK]
    Stock-Level: 100.00%  [OK]

<TpmC>
                 100.000 TpmC
";
        assert_eq!(report.text(), expected);
    }

    #[test]
    fn what_the_loader_says() {
        assert_eq!(
            loader_banner(),
            "*************************************\n*** TPCC-mysql Data Loader        ***\n\
             *************************************\n"
        );
        let items = loaded_items();
        assert!(items.starts_with(
            "Loading Item \n.................................................. 5000\n"
        ));
        assert!(
            items.ends_with(
                ".................................................. 100000\nItem Done. \n"
            )
        );
        assert_eq!(
            loaded_warehouses(1, 2)
                .matches(" Stock Done.\nLoading District\n")
                .count(),
            2
        );
        let customers = loaded_customers(1, 1);
        assert!(customers.starts_with(
            "Loading Customer for DID=1, WID=1\n.......... 1000\n.......... 2000\n.......... 3000\nCustomer Done.\n"
        ));
        assert!(loaded_orders(2, 2).starts_with("Loading Orders for D=1, W= 2\n"));
        assert_eq!(
            parameters(&[
                ("server", "127.0.0.1".to_owned()),
                ("part(1-4)", "2".to_owned())
            ]),
            "<Parameters>\n     [server]: 127.0.0.1\n  [part(1-4)]: 2\n"
        );
        assert_eq!(
            option_line('0', "10"),
            "option 0 (response time limit for transaction 0) '10'\n"
        );
    }
}
