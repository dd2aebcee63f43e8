//! What a run did over its measurement: steady, warming, slowing, swinging or never steady; and its stalls.

use samples::{InnodbStatus, Interval, Phase, Record, ServerStatus};
use stats::{Evidence, RunState, Unjudged, judge_run, stalls};

/// Operations per interval without which an interval of nothing is chance.
const OPERATIONS_AT_LEAST: f64 = 10.0;

/// Stalled time that is worth a word, as a share of the run.
const STALLED_AT_LEAST: f64 = 0.01;

/// Silence that is worth a word, seconds.
const GAP_AT_LEAST_S: f64 = 1.0;

/// What the mean of a run hides.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunStalls {
    /// Measured time, seconds.
    pub measured_s: f64,
    /// Time with less than half of the median throughput, seconds.
    pub stalled_s: f64,
    /// Most of it in a row, seconds.
    pub longest_s: f64,
    /// Longest time in which no operation came back, seconds; 0 where there was none.
    pub longest_gap_s: f64,
}

/// What the run did over its measurement, from its throughput and from what InnoDB said meanwhile.
///
/// # Errors
/// As [`stats::judge_run`]; the load of a table is measured from its start to its end, and has no steady state.
pub fn run_state(record: &Record) -> Result<RunState, Unjudged> {
    if record.loaded.is_some() {
        return Err(Unjudged::Undefined);
    }
    let during = |status: &&ServerStatus| {
        let mut measured = measured(record);
        let begin = measured.next().map_or(f64::INFINITY, |first| first.t_s);
        let end = measured
            .last()
            .map_or(begin, |last| last.t_s + last.length_s);
        status.length_s > 0.0 && status.t_s >= begin && status.t_s < end
    };
    let statuses: Vec<&ServerStatus> = record.server_status.iter().filter(during).collect();
    let reads = "Innodb_buffer_pool_reads";
    let has_reads = (record.server_status.iter()).any(|it| it.counters.contains_key(reads));
    let misses_per_s: Vec<f64> = match has_reads {
        true => (statuses.iter())
            .map(|it| it.counters.get(reads).unwrap_or(&0.0) / it.length_s)
            .collect(),
        false => Vec::new(),
    };
    // A series with holes covers another time than it seems to.
    let innodb = |value: &dyn Fn(&InnodbStatus) -> Option<u64>| -> Vec<f64> {
        let values = statuses
            .iter()
            .map(|it| Some(value(it.innodb.as_ref()?)? as f64));
        values.collect::<Option<_>>().unwrap_or_default()
    };
    judge_run(
        &course(record),
        &Evidence {
            misses_per_s: &misses_per_s,
            checkpoint_age_bytes: &innodb(&InnodbStatus::checkpoint_age_bytes),
            dirty_pages: &innodb(&|it| it.dirty_pages),
        },
    )
}

/// The stalls of a run that are worth a word: a second in which nothing came back, or more than a hundredth of the time
/// below half of the median. `None` also where so few operations come back that an interval of nothing is chance.
pub fn run_stalls(record: &Record) -> Option<RunStalls> {
    let interval_s = measured(record).next()?.length_s;
    let found = stalls(&course(record))?;
    let longest_gap_s = found.longest_gap as f64 * interval_s;
    let is_worth_it = found.stalled_share() > STALLED_AT_LEAST || longest_gap_s >= GAP_AT_LEAST_S;
    let is_busy = found.median * interval_s >= OPERATIONS_AT_LEAST;
    (is_busy && is_worth_it && record.loaded.is_none()).then_some(RunStalls {
        measured_s: found.intervals as f64 * interval_s,
        stalled_s: found.stalled as f64 * interval_s,
        longest_s: found.longest_stalled as f64 * interval_s,
        longest_gap_s,
    })
}

/// Operations per second in each interval of the measurement; its last one is left out where it was cut short.
fn course(record: &Record) -> Vec<f64> {
    let whole_s = measured(record).next().map_or(0.0, |first| first.length_s);
    measured(record)
        .filter(|it| it.length_s > whole_s / 2.0)
        .map(|it| it.succeeded() as f64 / it.length_s)
        .collect()
}

fn measured(record: &Record) -> impl Iterator<Item = &Interval> {
    (record.intervals.iter()).filter(|it| it.phase == Phase::Measurement)
}

#[cfg(test)]
mod tests;
