//! The report of one run for a terminal.
//!
//! ```text
//! oltp point_select on 10.11.19-MariaDB, unix socket /run/mysqld/mysqld.sock
//! rand-type uniform, statements prepared, table-size 10000, tables 1
//! 8 connections, 4 event loops (epoll), closed loop, seed 1, measured 10 s
//!
//! throughput    52.4k/s, statements 52.4k/s (read 52.4k, write 0, other 0)
//! CPU           client 0.41, server 1.32; client 7.80 µs per statement
//! limited by    CPU: 97 % busy (server 66 %, client 21 %, others 10 %), and tasks waited for a CPU 80 % of the time
//!
//!                     count   per s   mean    p50    p95    p99    max
//! response time      524000   52.4k  0.15   0.13   0.24   0.41    12.1 ms
//! ```

use std::fmt::Write;

use comfy_table::{CellAlignment, Table};
use samples::{ErrorCount, JudgedSteadiness};

use super::{RunReport, Times};
use crate::{
    grid::percentiles::{MARKED, marked},
    terminal::RULED,
};

impl RunReport {
    /// The report as text of a few lines and a table.
    pub fn text(&self) -> String {
        let mut out = String::new();
        let mut line = |text: std::fmt::Arguments<'_>| {
            writeln!(out, "{text}").expect("writing to a string does not fail");
        };
        line(format_args!(
            "{} on {}, {} {}",
            self.name, self.server, self.transport, self.address
        ));
        line(format_args!("{}", self.settings_in_words()));
        line(format_args!(
            "{}, {} ({}), {}, seed {}, measured {}",
            self.connections_in_words(),
            units::counted(self.loops as usize, "event loop"),
            self.io,
            self.arrivals_in_words(),
            self.seed,
            units::moment(self.measured_s)
        ));
        let per_s = self.statements_per_s;
        line(format_args!(
            "\nthroughput  {} operations/s, {} statements/s (read {}, write {}, other {})",
            units::si(self.throughput_per_s.unwrap_or(0.0)),
            units::si(per_s.read + per_s.write + per_s.other),
            units::si(per_s.read),
            units::si(per_s.write),
            units::si(per_s.other)
        ));
        line(format_args!("CPUs        {}", self.cpu_in_words()));
        if let Some(host) = &self.server_host {
            line(format_args!("server host {host}"));
        }
        if let Some(limit) = &self.limited_by {
            line(format_args!("limited by  {limit}"));
        }
        if let Some(limit) = &self.limit_set {
            line(format_args!("limit set   {limit}"));
        }
        if let Some(proxy) = &self.proxy {
            line(format_args!("proxy       {proxy}"));
        }
        if let Some(steadiness) = &self.steadiness {
            line(format_args!("steadiness  {}", in_words(steadiness)));
        }
        if let Some(rate) = self.rate_in_words() {
            line(format_args!("rate        {rate}"));
        }
        for error in &self.errors {
            line(format_args!("error       {}", error_in_words(error)));
        }
        if self.failed > 0 {
            line(format_args!("failed      {} operations", self.failed));
        }
        line(format_args!(""));
        for row in self.table().lines() {
            line(format_args!("{}", row.trim_end()));
        }
        let times = [
            Some(&self.response),
            self.service.as_ref(),
            self.send_lag.as_ref(),
        ];
        let statements = self.statements.iter().map(|it| &it.times);
        if times
            .into_iter()
            .flatten()
            .chain(statements)
            .any(Times::is_thin)
        {
            line(format_args!("{MARKED}"));
        }
        out
    }

    /// The settings in words: `tables 1, table-size 10000`.
    pub(super) fn settings_in_words(&self) -> String {
        let settings = self.settings.iter();
        let settings = settings.map(|(name, value)| format!("{name} {value}"));
        settings.collect::<Vec<_>>().join(", ")
    }

    /// The arrivals in words: `closed loop`, or `5000 operations/s asked for (poisson)`.
    pub(super) fn arrivals_in_words(&self) -> String {
        match self.offered_per_s {
            Some(rate) => format!("{rate} operations/s requested ({})", self.arrivals),
            None => "closed loop".to_owned(),
        }
    }

    /// The reason why the rate was not reached.
    pub(super) fn rate_in_words(&self) -> Option<String> {
        let shortfall = self.shortfall.as_ref()?;
        let from = units::moment(shortfall.from_s);
        Some(format!("not reached after {from}: {}", shortfall.why))
    }

    /// The connections in words: `8 connections`, or `8 of 16 connections` if the server refused the others.
    pub(super) fn connections_in_words(&self) -> String {
        let asked = u64::from(self.connections) + self.connections_refused;
        let counted = units::counted(asked as usize, "connection");
        match self.connections_refused {
            0 => counted,
            _ => format!("{} of {counted}", self.connections),
        }
    }

    fn cpu_in_words(&self) -> String {
        let used =
            |cpus: Option<f64>| cpus.map_or("not observed".to_owned(), |cpus| format!("{cpus:.2}"));
        let per_statement = self
            .client_us_per_statement
            .map(|us| format!(", {} per statement", units::duration(us * 1e3)))
            .unwrap_or_default();
        format!(
            "client {}{per_statement}; server {}",
            used(self.client_cpus),
            used(self.server_cpus)
        )
    }

    fn table(&self) -> Table {
        let mut table = Table::new();
        table.load_style(RULED);
        let mut header: Vec<String> = ["times in ms", "count", "per s", "mean"]
            .map(str::to_owned)
            .into();
        for value in &self.response.percentiles {
            header.push(format!("p{}", value.percentile));
        }
        header.push("max".to_owned());
        table.set_header(header);
        table.add_row(self.row("response time", &self.response));
        if let Some(service) = &self.service {
            table.add_row(self.row("service time", service));
        }
        if let Some(lag) = &self.send_lag {
            table.add_row(self.row("send lag", lag));
        }
        for statement in &self.statements {
            table.add_row(self.row(&format!("  {}", statement.name), &statement.times));
        }
        for (index, column) in table.column_iter_mut().enumerate() {
            column.set_padding((0, 1));
            if index > 0 {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        table
    }

    fn row(&self, label: &str, times: &Times) -> Vec<String> {
        let mut row = vec![
            label.to_owned(),
            times.count.to_string(),
            units::si(times.per_s),
            format!("{:.3}", times.mean_ms),
        ];
        row.extend(times.percentiles.iter().map(|value| {
            let in_words = |ms| marked(format!("{ms:.3}"), value.thin);
            value.ms.map_or("–".to_owned(), in_words)
        }));
        row.push(format!("{:.3}", times.max_ms));
        row
    }
}

/// An error in words: `1213 (40001) x 5, 5 of them successful after a retry: Deadlock found`.
pub(super) fn error_in_words(error: &ErrorCount) -> String {
    format!(
        "{} x {}, {} of them successful after a retry: {}",
        error.code(),
        error.count,
        error.retried,
        error.message
    )
}

/// The steadiness in words:
/// `warming: throughput changed by +12 %; 3 s below half of the median throughput, 2 s of it in a row`.
fn in_words(steadiness: &JudgedSteadiness) -> String {
    let class = steadiness.class.as_deref().unwrap_or("undecided");
    let reasons = steadiness.reasons.join(", ");
    let mut words = if reasons.is_empty() {
        class.to_owned()
    } else {
        format!("{class}: {reasons}")
    };
    if let Some(stalls) = &steadiness.stalls {
        words.push_str(&format!(
            "; {} below half of the median throughput, {} of it in a row",
            units::moment(stalls.stalled_s),
            units::moment(stalls.longest_s)
        ));
    }
    words
}
