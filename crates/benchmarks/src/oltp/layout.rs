//! The output of sysbench 1.0.20: the header of a run, its intermediate lines, its final report.
//!
//! The layout equals the original's byte for byte, the numbers do not: percentiles are exact to 0.1 % and never exceed
//! the maximum, and nothing is cut off at 100 s.

use std::{fmt::Write, time::Duration};

mod distribution;
mod figures;
mod line_totals;

pub use distribution::histogram;
pub use figures::{ReportExtras, histogram_of};
pub use line_totals::LineTotals;

/// The version whose layout is reproduced.
pub const VERSION: &str = "1.0.20";

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Header {
    /// Number of connections.
    pub threads: u32,
    /// Requested events per second; `None` without a rate.
    pub rate_per_s: Option<f64>,
    /// Seconds between intermediate lines.
    pub report_interval_s: Option<u64>,
    /// The seed; `None` for one from the current time.
    pub seed: Option<u64>,
    /// Time after which the run ends without the unfinished events.
    pub forced_shutdown: Option<Duration>,
}

/// One intermediate line.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Intermediate {
    /// End of the interval, seconds since the start.
    pub t_s: f64,
    /// Number of connections.
    pub threads: u32,
    pub rates: Rates,
    /// The percentile of the response times, 0 for none.
    pub percentile: f64,
    /// Its value, milliseconds.
    pub latency_ms: f64,
    /// Waiting events and events in flight, in an open loop.
    pub queue: Option<(u64, u64)>,
}

/// Rates per second.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Rates {
    pub events: f64,
    /// Statements that returned rows.
    pub reads: f64,
    /// Statements that changed rows.
    pub writes: f64,
    /// Statements that did neither.
    pub others: f64,
    /// Errors after which an event was restarted.
    pub errors: f64,
    pub reconnects: f64,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct FinalReport {
    /// Statements that returned rows.
    pub reads: u64,
    /// Statements that changed rows.
    pub writes: u64,
    /// Statements that did neither.
    pub others: u64,
    pub events: u64,
    /// Errors after which an event was restarted.
    pub ignored_errors: u64,
    pub reconnects: u64,
    /// Events in flight at the end; `None` if there are none.
    pub unfinished: Option<u64>,
    /// From the first event to the end of the last.
    pub total_time: Duration,
    pub latency: Latency,
    /// Events of each connection: mean and standard deviation.
    pub events_per_thread: (f64, f64),
    /// Time that each connection spent in events, seconds: mean and standard deviation.
    pub busy_per_thread_s: (f64, f64),
}

/// Response times, milliseconds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Latency {
    pub min_ms: f64,
    pub avg_ms: f64,
    pub max_ms: f64,
    /// Requested percentiles with their values.
    pub percentiles: Vec<(f64, f64)>,
    pub sum_ms: f64,
}

/// The first line of every command's output.
pub fn title(program: &str) -> String {
    format!("sysbench {VERSION} ({program})\n\n")
}

/// The text between the title and the start of a run.
pub fn header(header: &Header) -> String {
    let mut out = String::from("Running the test with following options:\n");
    line(
        &mut out,
        format_args!("Number of threads: {}", header.threads),
    );
    if let Some(rate_per_s) = header.rate_per_s {
        line(
            &mut out,
            format_args!("Target transaction rate: {rate_per_s}/sec"),
        );
    }
    if let Some(seconds) = header.report_interval_s {
        line(
            &mut out,
            format_args!("Report intermediate results every {seconds} second(s)"),
        );
    }
    match header.seed {
        Some(seed) => line(
            &mut out,
            format_args!("Initializing random number generator from seed ({seed})."),
        ),
        None => out.push_str("Initializing random number generator from current time\n"),
    }
    out.push('\n');
    if let Some(time) = header.forced_shutdown {
        let seconds = time.as_secs_f64().ceil();
        line(
            &mut out,
            format_args!("Forcing shutdown in {seconds} seconds"),
        );
    }
    out.push_str("\nInitializing worker threads...\n\n");
    out
}

/// The text before the intermediate lines.
pub fn started() -> &'static str {
    "Threads started!\n\n"
}

/// One intermediate line; two in an open loop.
pub fn intermediate(now: &Intermediate) -> String {
    let rates = &now.rates;
    let mut out = format!(
        "[ {:.0}s ] thds: {} tps: {:.2} qps: {:.2} (r/w/o: {:.2}/{:.2}/{:.2}) lat (ms,{}%): {:.2} \
         err/s: {:.2} reconn/s: {:.2}\n",
        now.t_s,
        now.threads,
        rates.events,
        rates.reads + rates.writes + rates.others,
        rates.reads,
        rates.writes,
        rates.others,
        now.percentile,
        now.latency_ms,
        rates.errors,
        rates.reconnects,
    );
    if let Some((waiting, in_flight)) = now.queue {
        line(
            &mut out,
            format_args!(
                "[ {:.0}s ] queue length: {waiting}, concurrency: {in_flight}",
                now.t_s
            ),
        );
    }
    out
}

pub fn final_report(report: &FinalReport) -> String {
    let seconds = report.total_time.as_secs_f64();
    let queries = report.reads + report.writes + report.others;
    let mut out = String::from("SQL statistics:\n    queries performed:\n");
    for (label, count) in [
        ("read:", report.reads),
        ("write:", report.writes),
        ("other:", report.others),
        ("total:", queries),
    ] {
        line(&mut out, format_args!("        {label:<33}{count}"));
    }
    for (label, count) in [
        ("transactions:", report.events),
        ("queries:", queries),
        ("ignored errors:", report.ignored_errors),
        ("reconnects:", report.reconnects),
    ] {
        let per_s = if seconds > 0.0 {
            count as f64 / seconds
        } else {
            0.0
        };
        line(
            &mut out,
            format_args!("    {label:<37}{count:<6} ({per_s:.2} per sec.)"),
        );
    }
    if let Some(unfinished) = report.unfinished {
        line(
            &mut out,
            format_args!("\nNumber of unfinished transactions on forced shutdown: {unfinished}"),
        );
    }
    out.push_str("\nGeneral statistics:\n");
    line(
        &mut out,
        format_args!("    total time:                          {seconds:.4}s"),
    );
    line(
        &mut out,
        format_args!("    total number of events:              {}", report.events),
    );
    out.push_str("\nLatency (ms):\n");
    latency(&report.latency, &mut out);
    out.push_str("\nThreads fairness:\n");
    let (mean, deviation) = report.events_per_thread;
    line(
        &mut out,
        format_args!("    events (avg/stddev):           {mean:.4}/{deviation:.2}"),
    );
    let (mean, deviation) = report.busy_per_thread_s;
    line(
        &mut out,
        format_args!("    execution time (avg/stddev):   {mean:.4}/{deviation:.2}"),
    );
    out.push('\n');
    out
}

fn latency(latency: &Latency, out: &mut String) {
    /// Width of a line: values end in the same column.
    const WIDTH: usize = 53;
    let mut row = |label: &str, value_ms: f64| {
        let width = WIDTH.saturating_sub(label.len());
        line(out, format_args!("{label}{value_ms:>width$.2}"));
    };
    row("         min:", latency.min_ms);
    row("         avg:", latency.avg_ms);
    row("         max:", latency.max_ms);
    for (percentile, value_ms) in &latency.percentiles {
        let label = format!("        {percentile:>3}th percentile:");
        row(&label, *value_ms);
    }
    if latency.percentiles.is_empty() {
        out.push_str("         percentile stats:               disabled\n");
    }
    let width = WIDTH - "         sum:".len();
    line(
        out,
        format_args!("         sum:{:>width$.2}", latency.sum_ms),
    );
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    writeln!(out, "{text}").expect("writing to a string does not fail");
}

#[cfg(test)]
mod tests;
