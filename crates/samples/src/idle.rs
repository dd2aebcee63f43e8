//! Activity of a server between its slices, while the loads of other servers have their turns.

use crate::{reader::Record, server_activity::ServerStatus, telemetry::ProcessUse};

/// Rounding of times in a record, seconds.
const WITHIN_S: f64 = 1e-6;

/// Time after a slice in which no sample of the idle time begins if the turn was followed by a pause until the server was
/// quiet, seconds: the sample of the pause begins there, and pauses are longer. What a server does in the pause takes
/// nothing from the others.
const PAUSE_BEGINS_WITHIN_S: f64 = 0.05;

/// Time of samples below which nothing is known, seconds: the kernel counts the CPU time of a process in steps of 10 ms.
const LENGTH_AT_LEAST_S: f64 = 3.0;

/// Length of the history list, by the names that servers have for it.
const HISTORY_LIST: [&str; 2] = [
    "Innodb_history_list_length",
    "innodb_metrics.trx_rseg_history_len",
];
const CHECKPOINT_AGE: [&str; 1] = ["Innodb_checkpoint_age"];
const PAGES_FLUSHED: &str = "Innodb_buffer_pool_pages_flushed";

/// Activity of a server between its slices. What a slice leaves to its server at once is no part of it: a settling time after
/// each slice is left out, as is the one before the next slice. A sample that is only partly in the rest is left out, too.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IdleActivity {
    /// Time of the samples, seconds.
    pub length_s: f64,
    /// CPU time of the server's process, as a share of one core.
    pub cpu_share: f64,
    /// `None` if the bytes that a process writes are not known.
    pub written: Option<WrittenBytes>,
    /// Pages that InnoDB flushed between the slices, per second; `None` if not counted.
    pub pages_flushed_per_s: Option<f64>,
    /// Change of the length of the history list over all pauses; negative for purge. `None` if not counted.
    pub history_list_change: Option<f64>,
    /// Change of the checkpoint age over all pauses, bytes; `None` if the server does not report it.
    pub checkpoint_age_change_bytes: Option<f64>,
}

/// Bytes that the server's process wrote, per second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WrittenBytes {
    pub idle_per_s: f64,
    pub in_slices_per_s: f64,
}

impl WrittenBytes {
    /// The rate between the slices as a share of that in the slices; `None` if nothing was written in the slices.
    pub fn idle_share(&self) -> Option<f64> {
        (self.in_slices_per_s > 0.0).then(|| self.idle_per_s / self.in_slices_per_s)
    }
}

impl IdleActivity {
    /// Bytes per second below which the writes of an idle server do not matter: four pages of InnoDB.
    pub const WRITTEN_BYTES_PER_S: f64 = 65_536.0;

    /// Of the server of a run side by side; `None` for other runs, and without enough samples.
    pub fn of(record: &Record) -> Option<Self> {
        let turns = record.side_by_side.as_ref()?;
        let settle_s = turns.settle_s;
        let after_s = if turns.quiet {
            settle_s.max(PAUSE_BEGINS_WITHIN_S)
        } else {
            settle_s
        };
        let measured = record.measured()?;
        let slices = measured.parts_s();
        let pauses = slices.windows(2).map(|pair| Span {
            from_s: pair[0].1,
            to_s: pair[1].0 - settle_s,
        });
        let pauses: Vec<Span> = pauses.collect();
        let idle = pauses.iter().map(|pause| Span {
            from_s: pause.from_s + after_s,
            ..*pause
        });
        let idle: Vec<Span> = idle.collect();
        let samples = record.telemetry.iter();
        let samples = samples.filter(|it| hold(&idle, it.t_s, it.length_s));
        let samples: Vec<Sample> = samples
            .filter_map(|it| Some((it.length_s, it.server?)))
            .collect();
        let length_s: f64 = samples.iter().map(|it| it.0).sum();
        if length_s < LENGTH_AT_LEAST_S {
            return None;
        }
        let cpu_s = samples.iter().map(|(_, it)| it.user_s + it.system_s);
        let in_slices = measured.telemetry();
        let in_slices: Vec<Sample> = in_slices
            .filter_map(|it| Some((it.length_s, it.server?)))
            .collect();
        let written = written_per_s(&samples).zip(written_per_s(&in_slices));
        let readings = &record.server_status;
        Some(Self {
            length_s,
            cpu_share: cpu_s.sum::<f64>() / length_s,
            written: written.map(|(idle_per_s, in_slices_per_s)| WrittenBytes {
                idle_per_s,
                in_slices_per_s,
            }),
            pages_flushed_per_s: growth_per_s(readings, &pauses, PAGES_FLUSHED),
            history_list_change: change(readings, &pauses, &HISTORY_LIST),
            checkpoint_age_change_bytes: change(readings, &pauses, &CHECKPOINT_AGE),
        })
    }
}

/// The length of a sample in seconds, and the server's process in it.
type Sample = (f64, ProcessUse);

/// A time span of the load, seconds since its start.
#[derive(Debug, Clone, Copy)]
struct Span {
    from_s: f64,
    to_s: f64,
}

/// True if one of these spans, which are in order of time, contains all of this time.
fn hold(spans: &[Span], t_s: f64, length_s: f64) -> bool {
    let begun = spans.partition_point(|span| span.from_s <= t_s + WITHIN_S);
    let last = spans[..begun].last();
    length_s > 0.0 && last.is_some_and(|span| t_s + length_s <= span.to_s + WITHIN_S)
}

/// `None` without samples, and if the bytes are not known.
fn written_per_s(samples: &[Sample]) -> Option<f64> {
    let bytes: Option<u64> = samples.iter().map(|(_, it)| it.written_bytes).sum();
    let length_s: f64 = samples.iter().map(|it| it.0).sum();
    (length_s > 0.0).then_some(bytes? as f64 / length_s)
}

/// Growth of a counter per second of the readings in these pauses; `None` without one, and if the server does not have it.
fn growth_per_s(readings: &[ServerStatus], pauses: &[Span], name: &str) -> Option<f64> {
    let mut all = readings.iter();
    if !all.any(|it| it.counters.contains_key(name)) {
        return None;
    }
    let (mut growth, mut length_s) = (0.0, 0.0);
    for reading in readings {
        if hold(pauses, reading.t_s, reading.length_s) {
            growth += reading.counters.get(name).copied().unwrap_or(0.0);
            length_s += reading.length_s;
        }
    }
    (length_s > 0.0).then(|| growth / length_s)
}

/// Change of a value over the readings in these pauses together, by the first of these names that the server has; `None`
/// without one.
fn change(readings: &[ServerStatus], pauses: &[Span], names: &[&str]) -> Option<f64> {
    let (mut last, mut change): (Option<f64>, Option<f64>) = (None, None);
    for reading in readings {
        let before = last;
        // A reading has only what changed.
        let changed = names.iter().find_map(|name| reading.values.get(*name));
        last = changed.copied().or(before);
        if let (Some(before), Some(now)) = (before, last)
            && hold(pauses, reading.t_s, reading.length_s)
        {
            change = Some(change.unwrap_or(0.0) + now - before);
        }
    }
    change
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::{side_by_side::SideBySide, telemetry::Telemetry};

    /// A run with four slices of a second, a settling time of 0.5 s and 2 s between a slice and the next turn.
    fn run() -> Record {
        let header = r#"{"line":"run","format":1,"dbdyno_version":"0.1.0","experiment":"x","experiment_sha256":"","seed":1,"run":1,"block":1,"combination":{},"started_at":"","connections":4,"loops":1,"io":"epoll","transport":"unix socket"}"#;
        let mut lines = vec![header.to_owned()];
        for number in 1..=4 {
            let from_s = begin_s(number);
            lines.push(format!(
                r#"{{"line":"interval","t_s":{from_s:?},"length_s":1.0,"phase":"measurement","slice":{number},"operations":[]}}"#
            ));
        }
        let mut record = Record::read(lines.join("\n").as_bytes()).unwrap();
        record.side_by_side = Some(SideBySide {
            slice_s: 1.0,
            settle_s: 0.5,
            slices_per_batch: 5,
            slices_at_most: 5,
            ..SideBySide::default()
        });
        for number in 1..=4 {
            let from_s = begin_s(number);
            record.telemetry.extend([
                // The slice; what it leaves; the idle time; the settling time of the next one.
                sample(from_s, 1.0, 0.9, 1000),
                sample(from_s + 1.0, 0.5, 0.4, 400),
                sample(from_s + 1.5, 1.5, 0.03, 150),
                sample(from_s + 3.0, 0.5, 0.4, 400),
            ]);
        }
        record
    }

    /// Begin of a slice, seconds.
    fn begin_s(number: u32) -> f64 {
        3.5 * f64::from(number)
    }

    fn sample(t_s: f64, length_s: f64, user_s: f64, written_bytes: u64) -> Telemetry {
        Telemetry {
            t_s,
            length_s,
            server: Some(ProcessUse {
                user_s,
                written_bytes: Some(written_bytes),
                ..ProcessUse::default()
            }),
            ..Telemetry::default()
        }
    }

    fn reading(t_s: f64, length_s: f64, flushed: f64, values: &[(&str, f64)]) -> ServerStatus {
        let values = values
            .iter()
            .map(|(name, value)| ((*name).to_owned(), *value));
        ServerStatus {
            t_s,
            length_s,
            counters: BTreeMap::from([(PAGES_FLUSHED.to_owned(), flushed)]),
            values: values.collect(),
            ..ServerStatus::default()
        }
    }

    #[test]
    fn only_what_is_between_settling_times_is_idle() {
        let idle = IdleActivity::of(&run()).unwrap();
        assert_eq!(idle.length_s, 4.5);
        assert!((idle.cpu_share - 0.02).abs() < 1e-9, "{idle:?}");
        let written = idle.written.unwrap();
        assert_eq!(
            (written.idle_per_s, written.in_slices_per_s),
            (100.0, 1000.0)
        );
        assert_eq!(written.idle_share(), Some(0.1));
        assert_eq!(idle.pages_flushed_per_s, None);
        assert_eq!(idle.history_list_change, None);
    }

    #[test]
    fn a_sample_that_reaches_into_a_turn_is_left_out() {
        let mut late = run();
        for sample in &mut late.telemetry {
            if sample.length_s == 1.5 {
                sample.length_s = 1.51;
            }
        }
        assert_eq!(IdleActivity::of(&late), None);
        let mut classical = run();
        classical.side_by_side = None;
        assert_eq!(IdleActivity::of(&classical), None);
    }

    #[test]
    fn the_pause_until_a_server_is_quiet_is_no_idle_time() {
        let mut run = run();
        let turns = run.side_by_side.as_mut().unwrap();
        (turns.settle_s, turns.quiet) = (0.0, true);
        // The flushing after the slice is in the second sample, which begins a little late.
        for sample in &mut run.telemetry {
            if sample.length_s == 0.5 {
                (sample.t_s, sample.length_s) = (sample.t_s + 0.01, 0.49);
            }
        }
        let idle = IdleActivity::of(&run).unwrap();
        assert!(idle.cpu_share < 0.4, "{idle:?}");
        run.side_by_side.as_mut().unwrap().quiet = false;
        assert!(IdleActivity::of(&run).unwrap().cpu_share > idle.cpu_share);
    }

    #[test]
    fn bytes_that_are_not_known_of_one_sample_are_not_compared() {
        let mut run = run();
        run.telemetry[2].server.as_mut().unwrap().written_bytes = None;
        assert_eq!(IdleActivity::of(&run).unwrap().written, None);
        let nothing = WrittenBytes {
            idle_per_s: 1.0,
            in_slices_per_s: 0.0,
        };
        assert_eq!(nothing.idle_share(), None);
    }

    #[test]
    fn the_counters_of_the_pauses_are_those_of_an_idle_server() {
        let mut run = run();
        let [first, second] = [1, 2].map(begin_s);
        run.server_status = vec![
            reading(
                first,
                1.0,
                500.0,
                &[(HISTORY_LIST[0], 90.0), (CHECKPOINT_AGE[0], 7e6)],
            ),
            reading(first + 1.0, 2.0, 40.0, &[(HISTORY_LIST[0], 50.0)]),
            reading(first + 3.0, 0.5, 300.0, &[(HISTORY_LIST[0], 80.0)]),
            reading(second, 1.0, 500.0, &[]),
            reading(
                second + 1.0,
                2.0,
                0.0,
                &[(HISTORY_LIST[0], 79.0), (CHECKPOINT_AGE[0], 6e6)],
            ),
        ];
        let idle = IdleActivity::of(&run).unwrap();
        assert_eq!(idle.pages_flushed_per_s, Some(10.0));
        assert_eq!(idle.history_list_change, Some(-41.0));
        assert_eq!(idle.checkpoint_age_change_bytes, Some(-1e6));
    }
}
