//! The reports of mysqlslap and mariadb-slap: text and CSV, one for each engine and number of clients.
//!
//! ```text
//! Benchmark
//!         Running for engine innodb
//!         Average number of seconds to run all queries: 6.449 seconds
//!         Minimum number of seconds to run all queries: 6.449 seconds
//!         Maximum number of seconds to run all queries: 6.449 seconds
//!         Number of clients running queries: 50
//!         Average number of queries per client: 4000
//!
//! innodb,read,0.009,0.009,0.009,2,50
//! ```
//!
//! Lines begin with a tab. The layouts equal the originals' byte for byte; additions follow after them, and only if
//! they were requested or something failed.

use std::{fmt::Write, time::Duration};

/// The results of one test over its rounds.
#[derive(Debug, Clone, PartialEq)]
pub struct TestReport {
    /// Storage engine, if one was named.
    pub engine: Option<String>,
    /// The workload as requested: `mixed`, `key` ...
    pub load_type: String,
    /// Duration of each round, without connecting; at least one.
    pub rounds: Vec<Duration>,
    pub clients: u64,
    /// Successful statements per client and round, rounded down.
    pub queries_per_client: u64,
    /// Statements that failed after all attempts, in all rounds.
    pub failed: u64,
    /// Figures that the originals do not have; `None` if they were not requested.
    pub more: Option<ExtraFigures>,
}

/// Figures that the originals do not have.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ExtraFigures {
    pub label: Option<String>,
    /// Successful statements per second over all rounds.
    pub queries_per_s: f64,
    /// Connection times: mean and longest.
    pub connect: (Duration, Duration),
    /// Percentiles of the response times of all statements.
    pub all: Percentiles,
    /// The same by kind of operation, if there are several.
    pub kinds: Vec<(String, Percentiles)>,
}

/// Percentiles (0 to 100) with their response times; `None` without operations.
pub type Percentiles = Vec<(f64, Option<Duration>)>;

pub fn text(report: &TestReport) -> String {
    let Seconds {
        average,
        minimum,
        maximum,
    } = Seconds::of(&report.rounds);
    let mut out = "Benchmark\n".to_owned();
    let mut line = |text: String| {
        writeln!(out, "\t{text}").expect("writing to a string does not fail");
    };
    if let Some(engine) = &report.engine {
        line(format!("Running for engine {engine}"));
    }
    line(format!(
        "Average number of seconds to run all queries: {average} seconds"
    ));
    line(format!(
        "Minimum number of seconds to run all queries: {minimum} seconds"
    ));
    line(format!(
        "Maximum number of seconds to run all queries: {maximum} seconds"
    ));
    line(format!(
        "Number of clients running queries: {}",
        report.clients
    ));
    line(format!(
        "Average number of queries per client: {}",
        report.queries_per_client
    ));
    if report.failed > 0 {
        line(format!("Number of failed queries: {}", report.failed));
    }
    if let Some(more) = &report.more {
        if let Some(label) = &more.label {
            line(format!("Label: {label}"));
        }
        line(format!("Queries per second: {:.1}", more.queries_per_s));
        let (mean, longest) = more.connect;
        line(format!(
            "Connecting, outside of the seconds above: {} ms on average, {} ms at most",
            ms(mean),
            ms(longest)
        ));
        if !more.all.is_empty() {
            line(format!("Response times: {}", in_words(&more.all)));
        }
        for (kind, percentiles) in &more.kinds {
            line(format!(
                "Response times of {kind}: {}",
                in_words(percentiles)
            ));
        }
    }
    out.push('\n');
    out
}

/// The report as one line of CSV. With [`TestReport::more`], further columns: label, failed statements, statements per
/// second, milliseconds of the percentiles in their order.
pub fn csv(report: &TestReport) -> String {
    let Seconds {
        average,
        minimum,
        maximum,
    } = Seconds::of(&report.rounds);
    let mut out = format!(
        "{},{},{average},{minimum},{maximum},{},{}",
        report.engine.as_deref().unwrap_or_default(),
        report.load_type,
        report.clients,
        report.queries_per_client
    );
    if let Some(more) = &report.more {
        let label = more.label.as_deref().unwrap_or_default();
        let quoted = if label.contains([',', '"', '\n']) {
            format!("\"{}\"", label.replace('"', "\"\""))
        } else {
            label.to_owned()
        };
        write!(out, ",{quoted},{},{:.1}", report.failed, more.queries_per_s)
            .expect("writing to a string does not fail");
        for (_, time) in &more.all {
            out.push(',');
            out.push_str(&time.map(ms).unwrap_or_default());
        }
    }
    out.push('\n');
    out
}

/// Times of the rounds in seconds with three decimals, in the originals' format: milliseconds, rounded down.
struct Seconds {
    average: String,
    minimum: String,
    maximum: String,
}

impl Seconds {
    fn of(rounds: &[Duration]) -> Self {
        let ms: Vec<u128> = rounds.iter().map(Duration::as_millis).collect();
        let average = ms.iter().sum::<u128>() / (ms.len() as u128).max(1);
        let show = |ms: u128| format!("{}.{:03}", ms / 1000, ms % 1000);
        Self {
            average: show(average),
            minimum: show(ms.iter().copied().min().unwrap_or_default()),
            maximum: show(ms.iter().copied().max().unwrap_or_default()),
        }
    }
}

fn ms(time: Duration) -> String {
    format!("{:.3}", time.as_secs_f64() * 1e3)
}

fn in_words(percentiles: &Percentiles) -> String {
    let words = percentiles.iter().map(|(percentile, time)| match time {
        Some(time) => format!("p{percentile} {} ms", ms(*time)),
        None => format!("p{percentile} unknown"),
    });
    words.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> TestReport {
        TestReport {
            engine: Some("innodb".to_owned()),
            load_type: "mixed".to_owned(),
            rounds: vec![Duration::from_micros(6_999), Duration::from_micros(11_000)],
            clients: 2,
            queries_per_client: 50,
            failed: 0,
            more: None,
        }
    }

    #[test]
    fn the_originals_bytes() {
        assert_eq!(
            text(&report()),
            "Benchmark\n\tRunning for engine innodb\n\
             \tAverage number of seconds to run all queries: 0.008 seconds\n\
             \tMinimum number of seconds to run all queries: 0.006 seconds\n\
             \tMaximum number of seconds to run all queries: 0.011 seconds\n\
             \tNumber of clients running queries: 2\n\
             \tAverage number of queries per client: 50\n\n"
        );
        let without_engine = TestReport {
            engine: None,
            rounds: vec![Duration::from_millis(61_002)],
            ..report()
        };
        assert_eq!(
            text(&without_engine),
            "Benchmark\n\
             \tAverage number of seconds to run all queries: 61.002 seconds\n\
             \tMinimum number of seconds to run all queries: 61.002 seconds\n\
             \tMaximum number of seconds to run all queries: 61.002 seconds\n\
             \tNumber of clients running queries: 2\n\
             \tAverage number of queries per client: 50\n\n"
        );
        assert_eq!(csv(&report()), "innodb,mixed,0.008,0.006,0.011,2,50\n");
        assert_eq!(csv(&without_engine), ",mixed,61.002,61.002,61.002,2,50\n");
    }

    #[test]
    fn more_stands_behind_it() {
        let percentiles = vec![(50.0, Some(Duration::from_micros(120))), (99.9, None)];
        let more = TestReport {
            failed: 3,
            more: Some(ExtraFigures {
                label: Some("a, b".to_owned()),
                queries_per_s: 1234.56,
                connect: (Duration::from_micros(1_500), Duration::from_millis(3)),
                all: percentiles.clone(),
                kinds: vec![("select".to_owned(), percentiles)],
            }),
            ..report()
        };
        assert!(text(&more).ends_with(
            "\tAverage number of queries per client: 50\n\
             \tNumber of failed queries: 3\n\
             \tLabel: a, b\n\
             \tQueries per second: 1234.6\n\
             \tConnecting, outside of the seconds above: 1.500 ms on average, 3.000 ms at most\n\
             \tResponse times: p50 0.120 ms, p99.9 unknown\n\
             \tResponse times of select: p50 0.120 ms, p99.9 unknown\n\n"
        ));
        assert_eq!(
            csv(&more),
            "innodb,mixed,0.008,0.006,0.011,2,50,\"a, b\",3,1234.6,0.120,\n"
        );
    }
}
