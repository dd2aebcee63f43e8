//! The server's own figures for the rules: the states of its threads in the measured phase, and its counters.

use std::collections::BTreeMap;

use samples::{Measured, Record, ServerStatus};
use units::percent;

/// Maximum of InnoDB's checkpoint age as a share of its log files, if the server does not report the limit.
///
/// Source: `log_calc_max_ages` of MySQL 5.5 to 8.0: nine tenths of the files, less a margin of a tenth.
const USABLE_LOG: f64 = 0.81;

/// Means over the measured phase. A share is one of the load's connections, so that 1 is all of their time.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct ServerSignals {
    /// Connections on which the server was working, as a share.
    pub(super) running: Option<f64>,
    /// Connections by the state of their threads, as shares; empty if not observed.
    pub(super) states: BTreeMap<String, f64>,
    /// Time that statements waited for row locks, as a share.
    pub(super) row_locks: f64,
    /// Connections that queued for InnoDB, as a share.
    pub(super) queued: f64,
    /// Redo log since the last checkpoint, as a share of InnoDB's maximum; the median.
    pub(super) checkpoint_age: Option<f64>,
    /// The options that make a commit wait for its log to be on disk; empty if none does.
    pub(super) synced_by: Vec<&'static str>,
    pub(super) statements_per_s: f64,
    /// Syncs per second: of the redo log if the server counts these separately, else of all InnoDB files.
    pub(super) syncs_per_s: f64,
    /// Bytes transferred between the server and its clients, per second.
    pub(super) bytes_per_s: f64,
    /// Pages that InnoDB read because they were not in its buffer pool, per second.
    pub(super) page_reads_per_s: f64,
    /// Connections that the server refused because of `max_connections`.
    pub(super) refused: f64,
}

impl ServerSignals {
    /// The figures of the measured phase; `None` if the server was not observed.
    pub(super) fn of(record: &Record, measured: &Measured<'_>) -> Option<Self> {
        let counters = measured.counters();
        counters.growth_per_s("")?;
        let per_s = |name: &str| counters.growth_per_s(name).unwrap_or(0.0);
        let looks = StatusReadings::of(record, measured);
        let connections = f64::from(record.connections().max(1));
        let share = |value: f64| value / connections;
        // A wait is added to the sum when it ends, and is among the current ones until then.
        let waited = per_s("Innodb_row_lock_time") / 1000.0;
        let waiting = looks.mean_of("Innodb_row_lock_current_waits");
        let log_syncs = per_s("Innodb_os_log_fsyncs");
        Some(Self {
            // One of them is the query itself.
            running: looks.mean_of("Threads_running").map(|it| share(it - 1.0)),
            states: looks.states(connections),
            row_locks: share(waiting.unwrap_or(0.0).max(waited)),
            queued: share(looks.queued()),
            checkpoint_age: looks.checkpoint_age(log_bytes(record)),
            synced_by: synced_by(record),
            statements_per_s: per_s("Questions"),
            syncs_per_s: if log_syncs > 0.0 {
                log_syncs
            } else {
                per_s("Innodb_data_fsyncs")
            },
            bytes_per_s: per_s("Bytes_sent") + per_s("Bytes_received"),
            page_reads_per_s: per_s("Innodb_buffer_pool_reads"),
            refused: counters.growth("Connection_errors_max_connections"),
        })
    }

    /// Share of the connections' time in which their threads were in one of these states.
    pub(super) fn in_states(&self, is_one: impl Fn(&str) -> bool) -> f64 {
        let states = self.states.iter().filter(|(state, _)| is_one(state));
        states.map(|(_, share)| share).sum()
    }

    /// The most frequent states of the threads, the most frequent first.
    ///
    /// ```text
    /// User sleep 97 %, Sleep 3 %
    /// ```
    pub(super) fn in_words(&self) -> Option<String> {
        let mut states: Vec<_> = self.states.iter().collect();
        states.sort_by(|one, other| other.1.total_cmp(one.1));
        let words = states.iter().take(3).filter(|(_, share)| **share >= 0.05);
        let words: Vec<_> = words
            .map(|(state, share)| format!("{state} {}", percent(**share)))
            .collect();
        (!words.is_empty()).then(|| words.join(", "))
    }
}

/// Values at the times of the readings. A reading contains only the changes since the previous one.
struct StatusReadings<'a> {
    readings: Vec<(&'a ServerStatus, BTreeMap<&'a str, f64>)>,
}

impl<'a> StatusReadings<'a> {
    /// Those of the measured phase.
    fn of(record: &'a Record, measured: &Measured<'_>) -> Self {
        let mut values = BTreeMap::new();
        let mut readings = Vec::new();
        for status in &record.server_status {
            values.extend(status.values.iter().map(|(name, it)| (name.as_str(), *it)));
            // The values are those at the end of the interval; readings at or after the last answer are not part of the
            // load.
            let at_s = status.t_s + status.length_s;
            if measured.has_moment(at_s) {
                readings.push((status, values.clone()));
            }
        }
        Self { readings }
    }

    /// The mean of a value, which is 0 if no reading contained it; `None` without readings.
    fn mean_of(&self, name: &str) -> Option<f64> {
        let values = self.readings.iter().map(|(_, values)| values);
        mean(values.map(|values| values.get(name).copied().unwrap_or(0.0)))
    }

    fn states(&self, connections: f64) -> BTreeMap<String, f64> {
        let lists = self.readings.iter().map(|(status, _)| &status.processes);
        let lists: Vec<_> = lists.filter(|list| !list.is_empty()).collect();
        let mut states = BTreeMap::new();
        for (what, count) in lists.iter().copied().flatten() {
            let state = what
                .split_once(": ")
                .map_or(what.as_str(), |(_, state)| state);
            let share = f64::from(*count) / connections / lists.len() as f64;
            *states.entry(state.to_owned()).or_insert(0.0) += share;
        }
        states
    }

    fn queued(&self) -> f64 {
        let innodb = self
            .readings
            .iter()
            .filter_map(|(status, _)| status.innodb.as_ref());
        let queued = innodb.filter_map(|innodb| innodb.queries_queued);
        mean(queued.map(|queued| queued as f64)).unwrap_or(0.0)
    }

    /// The median: the log has to fill first, and that is not a stall.
    fn checkpoint_age(&self, log_bytes: Option<f64>) -> Option<f64> {
        let shares = self.readings.iter().filter_map(|(status, values)| {
            let told = |name: &str| values.get(name).copied().filter(|value| *value > 0.0);
            let limit = told("Innodb_checkpoint_max_age").or(log_bytes.map(|it| it * USABLE_LOG))?;
            let age = || Some(status.innodb.as_ref()?.checkpoint_age_bytes()? as f64);
            Some(told("Innodb_checkpoint_age").or_else(age)? / limit)
        });
        let mut shares: Vec<f64> = shares.collect();
        shares.sort_by(f64::total_cmp);
        shares.get(shares.len() / 2).copied()
    }
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let values: Vec<f64> = values.collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn variable<'a>(record: &'a Record, name: &str) -> Option<&'a str> {
    let value = record.servers.first()?.variables.get(name)?;
    Some(value.as_str())
}

fn number(record: &Record, name: &str) -> Option<f64> {
    variable(record, name)?.parse().ok()
}

/// The total size of the log files, bytes.
fn log_bytes(record: &Record) -> Option<f64> {
    let capacity = number(record, "innodb_redo_log_capacity");
    let files = number(record, "innodb_log_files_in_group").unwrap_or(1.0);
    capacity.or_else(|| Some(number(record, "innodb_log_file_size")? * files))
}

fn synced_by(record: &Record) -> Vec<&'static str> {
    let mut options = Vec::new();
    if number(record, "innodb_flush_log_at_trx_commit") == Some(1.0) {
        options.push("innodb_flush_log_at_trx_commit = 1");
    }
    if variable(record, "log_bin") == Some("ON") && number(record, "sync_binlog") == Some(1.0) {
        options.push("sync_binlog = 1");
    }
    options
}
