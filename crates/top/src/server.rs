//! The figures of one interval from a server's own counters.

use std::{
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

use samples::{
    ClientConnection, ServerMoment as Looked, ServerStatus, ServerTotals, TimesUpTo, rows_read,
};

use crate::timeline::Moment;

/// The kinds of statements counted per second, by name.
const CHANGES: [&str; 3] = [
    "Innodb_rows_inserted",
    "Innodb_rows_updated",
    "Innodb_rows_deleted",
];

/// The figures of the server in one interval; missing ones are `None`.
#[derive(Debug, Clone, Default)]
pub(crate) struct ServerMoment {
    start_s: f64,
    length_s: f64,
    /// The status variable `Questions`: statements that clients sent, including those of the observation.
    pub(crate) queries_per_s: Option<f64>,
    pub(crate) selects_per_s: Option<f64>,
    pub(crate) inserts_per_s: Option<f64>,
    pub(crate) updates_per_s: Option<f64>,
    pub(crate) deletes_per_s: Option<f64>,
    /// COMMIT and ROLLBACK; a statement with autocommit does not count.
    pub(crate) commits_per_s: Option<f64>,
    pub(crate) statement_ns: Option<f64>,
    pub(crate) p50_ns: Option<f64>,
    pub(crate) p95_ns: Option<f64>,
    pub(crate) p99_ns: Option<f64>,
    pub(crate) threads_running: Option<f64>,
    pub(crate) threads_connected: Option<f64>,
    pub(crate) connects_per_s: Option<f64>,
    pub(crate) aborted_per_s: Option<f64>,
    pub(crate) slow_per_s: Option<f64>,
    pub(crate) tmp_disk_tables_per_s: Option<f64>,
    pub(crate) full_scans_per_s: Option<f64>,
    pub(crate) sent_bytes_per_s: Option<f64>,
    pub(crate) received_bytes_per_s: Option<f64>,
    pub(crate) innodb: InnodbMoment,
    pub(crate) uptime_s: Option<f64>,
    /// Number of connections by state.
    pub(crate) processes: BTreeMap<String, u32>,
    /// Details of live observation; `None` in a record, and for old moments.
    pub(crate) details: Option<Rc<Details>>,
    /// Number of statements used for the observation.
    pub(crate) asked: Option<u64>,
}

/// The figures of InnoDB in one interval.
#[derive(Debug, Clone, Default)]
pub(crate) struct InnodbMoment {
    pub(crate) rows_read_per_s: Option<f64>,
    pub(crate) rows_changed_per_s: Option<f64>,
    /// Share of the page requests that did not need the disk, 0 to 1.
    pub(crate) hits: Option<f64>,
    pub(crate) misses_per_s: Option<f64>,
    /// Modified share of the buffer pool's pages, 0 to 1.
    pub(crate) dirty: Option<f64>,
    /// Free share, 0 to 1.
    pub(crate) free: Option<f64>,
    pub(crate) checkpoint_age_bytes: Option<f64>,
    /// The same as a share of the maximum that the redo log allows, 0 to 1.
    pub(crate) checkpoint_age: Option<f64>,
    pub(crate) history_list: Option<f64>,
    pub(crate) lock_waits_per_s: Option<f64>,
    /// Mean time of a wait for a row lock.
    pub(crate) lock_wait_ns: Option<f64>,
    pub(crate) lock_waits_now: Option<f64>,
    pub(crate) deadlocks_per_s: Option<f64>,
    pub(crate) redo_bytes_per_s: Option<f64>,
    pub(crate) fsyncs_per_s: Option<f64>,
    pub(crate) pages_read_per_s: Option<f64>,
    pub(crate) pages_flushed_per_s: Option<f64>,
    pub(crate) pending_reads: Option<f64>,
    pub(crate) pending_writes: Option<f64>,
    pub(crate) active_transactions: Option<f64>,
    pub(crate) oldest_transaction_s: Option<f64>,
    pub(crate) read_views: Option<f64>,
}

/// Details of live observation.
#[derive(Debug, Default)]
pub(crate) struct Details {
    pub(crate) totals: Vec<ServerTotals>,
    pub(crate) connections: Vec<ClientConnection>,
}

impl Moment for ServerMoment {
    fn start_s(&self) -> f64 {
        self.start_s
    }

    fn length_s(&self) -> f64 {
        self.length_s
    }
}

/// The values kept between two lines, because lines contain only changes.
#[derive(Debug, Default)]
pub(crate) struct ServerMemory {
    values: BTreeMap<String, f64>,
    /// Counters that this server has.
    counters: BTreeSet<String>,
    /// Maximum checkpoint age that the redo log allows, bytes.
    redo_capacity_bytes: Option<f64>,
}

impl ServerMemory {
    /// Reads the limits from the server's variables.
    pub(crate) fn learn(&mut self, variables: &BTreeMap<String, String>) {
        let number = |name: &str| variables.get(name)?.parse::<f64>().ok();
        // MySQL 8.0.30 and later report the total size; older versions and MariaDB the number of files and their size.
        let files = number("innodb_log_files_in_group").unwrap_or(1.0);
        let by_files = number("innodb_log_file_size").map(|size| size * files);
        self.redo_capacity_bytes = number("innodb_redo_log_capacity").or(by_files);
    }

    /// The figures of a live observation.
    pub(crate) fn looked(&mut self, looked: Looked) -> Option<ServerMoment> {
        let mut moment = self.moment(&looked.status)?;
        let quantile = |share| quantile_ns(&looked.statement_times, share);
        moment.p50_ns = quantile(0.5);
        moment.p95_ns = quantile(0.95);
        moment.p99_ns = quantile(0.99);
        moment.statement_ns = moment
            .statement_ns
            .or_else(|| mean_statement_ns(&looked.totals));
        moment.asked = Some(looked.asked);
        moment.details = Some(Rc::new(Details {
            totals: looked.totals,
            connections: looked.connections,
        }));
        Some(moment)
    }

    /// The figures of a line of a record; `None` for an interval without length.
    pub(crate) fn moment(&mut self, status: &ServerStatus) -> Option<ServerMoment> {
        let flushed = |values: &BTreeMap<String, f64>| {
            let since = values.get("Uptime_since_flush_status");
            since.or(values.get("Uptime")).copied()
        };
        let before = flushed(&self.values);
        self.counters.extend(status.counters.keys().cloned());
        let values = status.values.iter();
        self.values
            .extend(values.map(|(name, value)| (name.clone(), *value)));
        if status.length_s <= 0.0 {
            return None;
        }
        let interval = Interval {
            status,
            memory: self,
            // Counters that were reset in the interval are not usable for it.
            began_anew: flushed(&self.values) < before,
        };
        Some(interval.moment())
    }

    fn value(&self, name: &str) -> Option<f64> {
        self.values.get(name).copied()
    }
}

/// One line, and the values kept from the lines before.
struct Interval<'a> {
    status: &'a ServerStatus,
    memory: &'a ServerMemory,
    began_anew: bool,
}

impl Interval<'_> {
    fn moment(&self) -> ServerMoment {
        let value = |name| self.memory.value(name);
        let inserts = ["Com_insert", "Com_insert_select", "Com_replace", "Com_load"];
        ServerMoment {
            start_s: self.status.t_s,
            length_s: self.status.length_s,
            queries_per_s: self.per_s("Questions"),
            selects_per_s: self.per_s("Com_select"),
            inserts_per_s: self.sum_per_s(&inserts),
            updates_per_s: self.sum_per_s(&["Com_update", "Com_update_multi"]),
            deletes_per_s: self.sum_per_s(&["Com_delete", "Com_delete_multi"]),
            commits_per_s: self.sum_per_s(&["Com_commit", "Com_rollback"]),
            statement_ns: self.mean("Query_time", "Questions").map(|s| s * 1e9),
            threads_running: value("Threads_running"),
            threads_connected: value("Threads_connected"),
            connects_per_s: self.per_s("Connections"),
            aborted_per_s: self.sum_per_s(&["Aborted_clients", "Aborted_connects"]),
            slow_per_s: self.per_s("Slow_queries"),
            tmp_disk_tables_per_s: self.per_s("Created_tmp_disk_tables"),
            full_scans_per_s: self.sum_per_s(&["Select_scan", "Select_full_join"]),
            sent_bytes_per_s: self.per_s("Bytes_sent"),
            received_bytes_per_s: self.per_s("Bytes_received"),
            innodb: self.innodb(),
            uptime_s: value("Uptime"),
            processes: self.status.processes.clone(),
            ..ServerMoment::default()
        }
    }

    fn innodb(&self) -> InnodbMoment {
        let value = |name| self.memory.value(name);
        let innodb = self.status.innodb.clone().unwrap_or_default();
        let whole = |number: Option<u64>| number.map(|number| number as f64);
        let pages = value("Innodb_buffer_pool_pages_total").filter(|pages| *pages > 0.0);
        // A value that was always 0 is missing in the record.
        let share = |name| Some(value(name).unwrap_or(0.0) / pages?);
        let age = whole(innodb.checkpoint_age_bytes()).or(value("Innodb_checkpoint_age"));
        let capacity = value("Innodb_checkpoint_max_age").or(self.memory.redo_capacity_bytes);
        let requests = self.grown("Innodb_buffer_pool_read_requests");
        let hits = requests.filter(|requests| *requests > 0.0).and_then(|all| {
            let misses = self.grown("Innodb_buffer_pool_reads")?;
            Some((1.0 - misses / all).max(0.0))
        });
        let lock_wait = self.mean("Innodb_row_lock_time", "Innodb_row_lock_waits");
        InnodbMoment {
            rows_read_per_s: rows_read(|name| self.per_s(name)),
            rows_changed_per_s: self.sum_per_s(&CHANGES).or(self.sum_per_s(&[
                "Handler_write",
                "Handler_update",
                "Handler_delete",
            ])),
            hits,
            misses_per_s: self.per_s("Innodb_buffer_pool_reads"),
            dirty: share("Innodb_buffer_pool_pages_dirty"),
            free: share("Innodb_buffer_pool_pages_free"),
            checkpoint_age_bytes: age,
            checkpoint_age: age.zip(capacity).map(|(age, all)| age / all),
            history_list: whole(innodb.history_list_length)
                .or(value("Innodb_history_list_length"))
                .or(value("innodb_metrics.trx_rseg_history_len")),
            lock_waits_per_s: self.per_s("Innodb_row_lock_waits"),
            lock_wait_ns: lock_wait.map(|ms| ms * 1e6),
            lock_waits_now: value("Innodb_row_lock_current_waits")
                .or(self.has_none("Innodb_row_lock_waits")),
            deadlocks_per_s: self
                .per_s("Innodb_deadlocks")
                .or(self.per_s("innodb_metrics.lock_deadlocks")),
            redo_bytes_per_s: self.per_s("Innodb_os_log_written"),
            fsyncs_per_s: self.sum_per_s(&["Innodb_data_fsyncs", "Innodb_os_log_fsyncs"]),
            pages_read_per_s: self.per_s("Innodb_pages_read"),
            pages_flushed_per_s: self.per_s("Innodb_buffer_pool_pages_flushed"),
            pending_reads: whole(innodb.pending_reads),
            pending_writes: whole(innodb.pending_writes),
            active_transactions: whole(innodb.active_transactions),
            oldest_transaction_s: whole(innodb.longest_transaction_s),
            read_views: whole(innodb.read_views),
        }
    }

    /// The growth of a counter; `None` if this server does not have it, or it was reset.
    fn grown(&self, name: &str) -> Option<f64> {
        let grown = self.status.counters.get(name).copied();
        match grown {
            _ if self.began_anew => None,
            None if self.memory.counters.contains(name) => Some(0.0),
            grown => grown,
        }
    }

    fn per_s(&self, name: &str) -> Option<f64> {
        Some(self.grown(name)? / self.status.length_s)
    }

    /// The sum over those counters that this server has.
    fn sum_per_s(&self, names: &[&str]) -> Option<f64> {
        let all = names.iter().filter_map(|name| self.per_s(name));
        all.reduce(|sum, one| sum + one)
    }

    /// The growth of a sum divided by that of its count; `None` without events.
    fn mean(&self, sum: &str, count: &str) -> Option<f64> {
        let count = self.grown(count).filter(|count| *count > 0.0)?;
        Some(self.grown(sum)? / count)
    }

    /// 0 if the server has a counter: a value that was always 0 is missing in the record.
    fn has_none(&self, counter: &str) -> Option<f64> {
        self.memory.counters.contains(counter).then_some(0.0)
    }
}

/// The time below which the share `quantile` of the statements lies, with the resolution of the server's histogram.
fn quantile_ns(times: &[TimesUpTo], quantile: f64) -> Option<f64> {
    let all: u64 = times.iter().map(|class| class.count).sum();
    let wanted = (all as f64 * quantile).ceil() as u64;
    let mut counted = 0;
    let class = times.iter().find(|class| {
        counted += class.count;
        counted >= wanted.max(1)
    })?;
    Some(class.up_to_ns as f64)
}

/// Mean time of all statements in the digests.
fn mean_statement_ns(totals: &[ServerTotals]) -> Option<f64> {
    let digests = totals.iter().find(|it| is_of_statements(it))?;
    let sum = |column: &str| -> f64 {
        let rows = digests.rows.iter();
        rows.filter_map(|row| row.counters.get(column)).sum()
    };
    // If some digests are left out, the mean would be that of the expensive ones only.
    let count = Some(sum("count")).filter(|count| *count > 0.0 && digests.left_out == 0)?;
    Some(sum("time_s") / count * 1e9)
}

pub(crate) fn is_of_statements(totals: &ServerTotals) -> bool {
    totals
        .source
        .ends_with("events_statements_summary_by_digest")
}

pub(crate) fn is_of_waits(totals: &ServerTotals) -> bool {
    totals
        .source
        .ends_with("events_waits_summary_global_by_event_name")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(t_s: f64, counters: &[(&str, f64)], values: &[(&str, f64)]) -> ServerStatus {
        let map = |pairs: &[(&str, f64)]| {
            let pairs = pairs
                .iter()
                .map(|(name, value)| ((*name).to_owned(), *value));
            pairs.collect::<BTreeMap<_, _>>()
        };
        ServerStatus {
            t_s,
            length_s: 2.0,
            counters: map(counters),
            values: map(values),
            ..ServerStatus::default()
        }
    }

    #[test]
    fn a_counter_that_stands_still_is_0_and_one_that_is_not_there_is_unknown() {
        let mut memory = ServerMemory::default();
        let first = status(0.0, &[("Questions", 10.0), ("Slow_queries", 0.0)], &[]);
        let first = memory.moment(&first).unwrap();
        assert_eq!(first.queries_per_s, Some(5.0));
        let second = memory.moment(&status(2.0, &[], &[])).unwrap();
        assert_eq!(second.queries_per_s, Some(0.0));
        assert_eq!(second.slow_per_s, Some(0.0));
        assert_eq!(second.commits_per_s, None);
        assert_eq!(second.innodb.hits, None);
    }

    #[test]
    fn values_are_remembered_and_counters_that_began_anew_are_not_told() {
        let mut memory = ServerMemory::default();
        let uptime = "Uptime_since_flush_status";
        let pool = [
            ("Innodb_buffer_pool_pages_total", 100.0),
            ("Innodb_buffer_pool_pages_dirty", 25.0),
            (uptime, 900.0),
        ];
        memory.moment(&status(0.0, &[("Questions", 10.0)], &pool));
        let later = memory
            .moment(&status(2.0, &[], &[(uptime, 902.0)]))
            .unwrap();
        assert_eq!(later.innodb.dirty, Some(0.25));
        // FLUSH STATUS: the present values are lower than before, so the growth is missing in the line.
        let flushed = memory.moment(&status(4.0, &[], &[(uptime, 1.0)])).unwrap();
        assert_eq!(flushed.queries_per_s, None);
        let after = status(6.0, &[("Questions", 8.0)], &[(uptime, 3.0)]);
        assert_eq!(memory.moment(&after).unwrap().queries_per_s, Some(4.0));
    }

    #[test]
    fn quantiles_are_the_upper_ends_of_the_servers_classes() {
        let times = [(1000, 90), (2000, 9), (9000, 1)];
        let times = times.map(|(up_to_ns, count)| TimesUpTo { up_to_ns, count });
        for (share, expected) in [(0.5, 1000.0), (0.9, 1000.0), (0.95, 2000.0), (1.0, 9000.0)] {
            assert_eq!(quantile_ns(&times, share), Some(expected), "{share}");
        }
        assert_eq!(quantile_ns(&[], 0.5), None);
    }
}
