//! The report of Super Smack 1.3.
//!
//! ```text
//! Query Barrel Report for client smacker1
//! connect: max=3ms  min=1ms avg= 1ms from 10 clients
//! Query_type  num_queries  max_time  min_time  q_per_s
//! select_index  20000  0  0  16409.14
//! ```
//!
//! The columns are separated by a tab, the connect line ends with a blank. The layout equals the original's byte for
//! byte, the numbers do not: its minimum and maximum were those of the last query, and its rate included connecting and
//! sleeping.

use std::{fmt::Write, time::Duration};

/// The results of one client's workers.
#[derive(Debug, Clone, PartialEq)]
pub struct BarrelReport {
    pub client: String,
    pub workers: u64,
    /// Their times to connect.
    pub connect: Spread,
    /// By query type, in any order.
    pub query_types: Vec<QueryType>,
}

/// Longest, shortest and mean time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spread {
    pub max: Duration,
    pub min: Duration,
    pub avg: Duration,
}

/// One row of the report.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryType {
    /// Its name; empty for queries without a type.
    pub name: String,
    /// Successful queries.
    pub num_queries: u64,
    /// Longest response time.
    pub max_time: Duration,
    /// Shortest response time.
    pub min_time: Duration,
    /// Queries per second of the time in which queries ran; 0 without queries.
    pub q_per_s: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TimeUnit {
    /// Milliseconds, as in the original.
    #[default]
    Milliseconds,
    /// Microseconds, as with the patch of HP's sizing paper.
    Microseconds,
}

impl TimeUnit {
    /// A time in whole units, rounded down.
    pub fn whole(self, time: Duration) -> u128 {
        match self {
            Self::Milliseconds => time.as_millis(),
            Self::Microseconds => time.as_micros(),
        }
    }

    pub fn sign(self) -> &'static str {
        match self {
            Self::Milliseconds => "ms",
            Self::Microseconds => "us",
        }
    }
}

pub fn render(report: &BarrelReport, unit: TimeUnit) -> String {
    let mut query_types: Vec<&QueryType> = report.query_types.iter().collect();
    query_types.sort_by(|left, right| left.name.cmp(&right.name));
    let Spread { max, min, avg } = report.connect;
    let sign = unit.sign();
    let mut out = format!(
        "Query Barrel Report for client {}\n\
         connect: max={}{sign}  min={}{sign} avg= {}{sign} from {} clients \n\
         Query_type\tnum_queries\tmax_time\tmin_time\tq_per_s\n",
        report.client,
        unit.whole(max),
        unit.whole(min),
        unit.whole(avg),
        report.workers,
    );
    for row in query_types {
        let rate = if row.q_per_s > 0.0 {
            format!("{:.2}", row.q_per_s)
        } else {
            "n/a".to_owned()
        };
        writeln!(
            out,
            "{}\t{}\t{}\t{}\t{rate}",
            row.name,
            row.num_queries,
            unit.whole(row.max_time),
            unit.whole(row.min_time),
        )
        .expect("writing to a string does not fail");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> BarrelReport {
        let row = |name: &str, num_queries, max_us, min_us, q_per_s| QueryType {
            name: name.to_owned(),
            num_queries,
            max_time: Duration::from_micros(max_us),
            min_time: Duration::from_micros(min_us),
            q_per_s,
        };
        BarrelReport {
            client: "smacker1".to_owned(),
            workers: 10,
            connect: Spread {
                max: Duration::from_micros(3_999),
                min: Duration::from_micros(1_200),
                avg: Duration::from_micros(1_900),
            },
            query_types: vec![
                row("update_index", 0, 0, 0, 0.0),
                row("select_index", 20_000, 300_900, 10_001, 16_409.138),
            ],
        }
    }

    #[test]
    fn the_originals_bytes() {
        assert_eq!(
            render(&report(), TimeUnit::Milliseconds),
            "Query Barrel Report for client smacker1\n\
             connect: max=3ms  min=1ms avg= 1ms from 10 clients \n\
             Query_type\tnum_queries\tmax_time\tmin_time\tq_per_s\n\
             select_index\t20000\t300\t10\t16409.14\n\
             update_index\t0\t0\t0\tn/a\n"
        );
    }

    #[test]
    fn microseconds_keep_the_layout() {
        assert_eq!(
            render(&report(), TimeUnit::Microseconds),
            "Query Barrel Report for client smacker1\n\
             connect: max=3999us  min=1200us avg= 1900us from 10 clients \n\
             Query_type\tnum_queries\tmax_time\tmin_time\tq_per_s\n\
             select_index\t20000\t300900\t10001\t16409.14\n\
             update_index\t0\t0\t0\tn/a\n"
        );
    }
}
