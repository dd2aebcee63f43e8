//! The server's counters over time: its threads, the pages of the buffer pool, the redo log, the history list.

use std::collections::BTreeMap;

use samples::{InnodbStatus, Record, ServerStatus};

use super::data::{ChartData, Instants, lines_with_values};

/// The counters of log flushes, the specific one first: newer servers count them only together with those of the data
/// files.
const FSYNCS: [(&str, &str); 2] = [
    ("Innodb_os_log_fsyncs", "redo log fsyncs"),
    ("Innodb_data_fsyncs", "fsyncs"),
];
const MEGABYTE: f64 = 1e6;
/// The default page size of InnoDB, bytes.
const PAGE_BYTES: f64 = 16_384.0;

/// The server's counters in the warm-up and the measurement of one run.
pub(super) struct ServerSeries<'a> {
    samples: Vec<Sample<'a>>,
    page_bytes: f64,
}

struct Sample<'a> {
    status: &'a ServerStatus,
    /// All values, including those that did not change since the previous reading.
    values: BTreeMap<&'a str, f64>,
}

impl<'a> ServerSeries<'a> {
    pub(super) fn of(record: &'a Record, course: &super::RunSeries) -> Self {
        let mut values = BTreeMap::new();
        let mut samples = Vec::new();
        for status in &record.server_status {
            values.extend(status.values.iter().map(|(name, it)| (name.as_str(), *it)));
            if status.length_s > 0.0 && course.holds(status.t_s, status.length_s) {
                samples.push(Sample {
                    status,
                    values: values.clone(),
                });
            }
        }
        let variables = record.servers.first().map(|server| &server.variables);
        let page_bytes = variables.and_then(|it| it.get("innodb_page_size")?.parse().ok());
        Self {
            samples,
            page_bytes: page_bytes.unwrap_or(PAGE_BYTES),
        }
    }

    /// Number of threads that run, and that wait for a row.
    pub(super) fn threads(&self) -> Option<ChartData> {
        self.chart(
            "Threads of the server",
            "number",
            [
                ("running", 0, self.values("Threads_running")),
                (
                    "waiting for a row lock",
                    3,
                    self.values("Innodb_row_lock_current_waits"),
                ),
            ],
        )
    }

    /// Pages transferred between buffer pool and disk.
    pub(super) fn pages(&self) -> Option<ChartData> {
        let counted = |name: &str| {
            let mut samples = self.samples.iter();
            samples.any(|sample| sample.status.counters.contains_key(name))
        };
        let fsyncs = FSYNCS.into_iter().find(|(name, _)| counted(name));
        let (counter, name) = fsyncs.unwrap_or(FSYNCS[1]);
        self.chart(
            "InnoDB: pages and flushes",
            "per second",
            [
                ("pages read", 0, self.per_s("Innodb_buffer_pool_reads")),
                ("pages written", 1, self.per_s("Innodb_pages_written")),
                (name, 5, self.per_s(counter)),
                (
                    "waits for a free page",
                    3,
                    self.per_s("Innodb_buffer_pool_wait_free"),
                ),
            ],
        )
    }

    /// Redo log to be recovered after a crash, and pages still to be written.
    pub(super) fn redo_log(&self) -> Option<ChartData> {
        let megabytes = |value: &dyn Fn(&InnodbStatus) -> Option<f64>| {
            self.innodb(&|status| Some(value(status)? / MEGABYTE))
        };
        let dirty = |status: &InnodbStatus| Some(status.dirty_pages? as f64 * self.page_bytes);
        self.chart(
            "InnoDB: checkpoint age and dirty pages",
            "MB",
            [
                (
                    "checkpoint age",
                    0,
                    megabytes(&|status| status.checkpoint_age_bytes().map(|bytes| bytes as f64)),
                ),
                ("dirty pages", 1, megabytes(&dirty)),
            ],
        )
    }

    /// The history that purge has not processed yet.
    pub(super) fn history(&self) -> Option<ChartData> {
        self.chart(
            "InnoDB: history list",
            "undo logs",
            [(
                "length",
                0,
                self.innodb(&|status| status.history_list_length.map(|it| it as f64)),
            )],
        )
    }

    /// The chart of these values; `None` if the server reported none of them.
    fn chart<const N: usize>(
        &self,
        title: &'static str,
        unit: &'static str,
        mut lines: [(&'static str, usize, Vec<Option<f64>>); N],
    ) -> Option<ChartData> {
        // Expensive values are not read every time.
        let told = |at: usize| lines.iter().any(|(_, _, values)| values[at].is_some());
        let told: Vec<bool> = (0..self.samples.len()).map(told).collect();
        for (_, _, values) in &mut lines {
            let mut at = told.iter();
            values.retain(|_| at.next() == Some(&true));
        }
        let lines = lines_with_values(lines);
        let samples = self.samples.iter().zip(&told).filter(|(_, told)| **told);
        let t = samples.map(|(sample, _)| sample.status.t_s);
        (!lines.is_empty()).then(|| ChartData {
            title,
            unit,
            logarithmic: false,
            t: Instants(t.collect()),
            bands: Vec::new(),
            lines,
        })
    }

    /// A value at the end of each interval; all gaps if the server does not have it or it was always 0.
    fn values(&self, name: &str) -> Vec<Option<f64>> {
        let values = self.samples.iter().map(|it| it.values.get(name).copied());
        let values: Vec<_> = values.collect();
        if values.iter().any(Option::is_some) {
            // A value missing at first is 0.
            values.into_iter().map(|it| it.or(Some(0.0))).collect()
        } else {
            values
        }
    }

    /// Growth of a counter per second; all gaps if it never grew.
    fn per_s(&self, name: &str) -> Vec<Option<f64>> {
        let grown = |sample: &Sample| sample.status.counters.get(name).copied();
        if !self.samples.iter().any(|sample| grown(sample).is_some()) {
            return vec![None; self.samples.len()];
        }
        let rate = |sample: &Sample| grown(sample).unwrap_or(0.0) / sample.status.length_s;
        self.samples
            .iter()
            .map(|sample| Some(rate(sample)))
            .collect()
    }

    fn innodb(&self, value: &dyn Fn(&InnodbStatus) -> Option<f64>) -> Vec<Option<f64>> {
        let samples = self.samples.iter();
        samples
            .map(|sample| value(sample.status.innodb.as_ref()?))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{super::tests::record, *};

    fn status(t_s: f64, counters: &[(&str, f64)], values: &[(&str, f64)]) -> ServerStatus {
        let map = |pairs: &[(&str, f64)]| {
            let pairs = pairs
                .iter()
                .map(|(name, value)| ((*name).to_owned(), *value));
            pairs.collect()
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
    fn values_hold_until_they_change_and_counters_are_per_second() {
        let mut record = record(&[]);
        record.server_status = vec![
            status(
                0.0,
                &[("Innodb_data_fsyncs", 20.0)],
                &[("Threads_running", 3.0)],
            ),
            status(2.0, &[], &[]),
            status(
                4.0,
                &[("Innodb_data_fsyncs", 8.0)],
                &[("Threads_running", 5.0)],
            ),
        ];
        let course = ServerSeries::of(&record, &super::super::RunSeries::of(&record));
        assert_eq!(course.values("Threads_running"), [3.0, 3.0, 5.0].map(Some));
        assert_eq!(course.values("Innodb_row_lock_current_waits"), [None; 3]);
        assert_eq!(
            course.per_s("Innodb_data_fsyncs"),
            [10.0, 0.0, 4.0].map(Some)
        );
        let pages = course.pages().unwrap();
        assert_eq!(pages.lines.len(), 1);
        assert_eq!(pages.lines[0].name, "fsyncs");
        assert!(course.redo_log().is_none() && course.history().is_none());
    }
}
