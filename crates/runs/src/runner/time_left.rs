//! How long the rest of a plan takes, from what is planned and what was seen so far.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use experiment::{Costs, DataStep, PlannedRun, RunTime, run_times};

/// An estimate ends at a hundred years.
const LEFT_S_AT_MOST: f64 = 100.0 * 365.25 * 24.0 * 3600.0;

/// How long the rest of a plan takes.
///
/// Each part of a run is planned, and corrected by the median of what the runs so far took for such a part over what was
/// planned for it: one slow run says little of the others, and loading data once does not count for every run.
#[derive(Debug, Default)]
pub(super) struct TimeLeft {
    /// What is planned, by the run's number.
    planned: BTreeMap<u32, RunTime>,
    /// Runs that are done; what they loaded is there.
    done: BTreeSet<u32>,
    /// Taken over planned: of preparations by what they do with the data, and of loads.
    preparations: BTreeMap<DataStep, Vec<f64>>,
    loads: Vec<f64>,
}

/// How long the rest of a plan takes from the begin of a run or a session, and from the begin of its load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RemainingTime {
    /// Its preparation included.
    pub(super) whole: Duration,
    /// When it is prepared.
    pub(super) prepared: Duration,
    /// Its load alone.
    pub(super) load: Duration,
}

impl TimeLeft {
    /// Nothing of these runs is done.
    pub(super) fn of(runs: &[&PlannedRun]) -> Self {
        let times = run_times(runs.iter().copied(), &Costs::default());
        let numbers = runs.iter().map(|run| run.run);
        Self::planned(numbers.zip(times).collect())
    }

    fn planned(planned: BTreeMap<u32, RunTime>) -> Self {
        Self {
            planned,
            ..Self::default()
        }
    }

    /// Records finished runs that were measured together, one or all of a session: the time of their loads, and their total
    /// time.
    pub(super) fn done(&mut self, runs: &[u32], load: Duration, all: Duration) {
        let planned = runs.iter().map(|run| self.time_of(*run));
        let Some(planned) = planned.collect::<Option<Vec<RunTime>>>() else {
            return;
        };
        let prepared_s = all.saturating_sub(load).as_secs_f64();
        let preparation_s: f64 = planned.iter().map(|it| it.preparation_s).sum();
        let load_s: f64 = planned.iter().map(|it| it.load_s).sum();
        for planned in &planned {
            let preparations = self.preparations.entry(planned.data).or_default();
            preparations.push(prepared_s / preparation_s);
        }
        if load_s > 0.0 {
            self.loads.push(load.as_secs_f64() / load_s);
        }
        self.done.extend(runs);
    }

    /// An estimate for runs that are measured together and those behind them, which end within the time that is left of the
    /// limit.
    pub(super) fn until_end(
        &self,
        runs: &[u32],
        others: impl Iterator<Item = u32>,
        limit: Duration,
    ) -> RemainingTime {
        let expected = runs.iter().map(|run| self.expected(*run));
        let (preparation_s, load_s) =
            expected.fold((0.0, 0.0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
        let behind_s = (limit.as_secs_f64() - preparation_s - load_s).max(0.0);
        let others_s: f64 = others
            .map(|run| self.expected(run))
            .map(|(preparation_s, load_s)| preparation_s + load_s)
            .sum();
        let others_s = others_s.min(behind_s);
        let span = |seconds: f64| Duration::from_secs_f64(seconds.min(LEFT_S_AT_MOST));
        RemainingTime {
            whole: span(preparation_s + load_s + others_s),
            prepared: span(load_s + others_s),
            load: span(load_s),
        }
    }

    /// Seconds of preparation and of load of a run.
    fn expected(&self, run: u32) -> (f64, f64) {
        let Some(planned) = self.time_of(run) else {
            return (Costs::default().around_s, 0.0);
        };
        let of_preparation = self.preparations.get(&planned.data);
        let of_preparation = of_preparation.and_then(|ratios| median(ratios));
        let of_load = median(&self.loads);
        (
            planned.preparation_s * of_preparation.unwrap_or(1.0),
            planned.load_s * of_load.unwrap_or(1.0),
        )
    }

    /// What is planned for a run, done for the first time or again.
    fn time_of(&self, run: u32) -> Option<RunTime> {
        let planned = *self.planned.get(&run)?;
        let is_there = planned.data == DataStep::Loaded && self.done.contains(&run);
        Some(if is_there {
            RunTime {
                preparation_s: Costs::default().around_s,
                data: DataStep::Kept,
                ..planned
            }
        } else {
            planned
        })
    }
}

/// The lower median; `None` of nothing.
fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.get(sorted.len().saturating_sub(1) / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run as it is planned: 2 s of preparation, 10 s of load.
    const RUN: RunTime = RunTime {
        preparation_s: 2.0,
        load_s: 10.0,
        data: DataStep::Kept,
    };

    /// The first of `count` runs loads data, for 20 s as planned.
    fn plan(count: u32) -> TimeLeft {
        let time = |run| match run {
            1 => RunTime {
                preparation_s: 20.0,
                data: DataStep::Loaded,
                ..RUN
            },
            _ => RUN,
        };
        TimeLeft::planned((1..=count).map(|run| (run, time(run))).collect())
    }

    /// Does runs one after the other, each with its preparation and its load in seconds. After the first tenth of the time,
    /// and a run of each kind (with and without a load of data), the estimate is within 30 % of what is still to come.
    #[track_caller]
    fn is_learned(runs: &[(u32, f64, f64)]) {
        let mut left = plan(runs.iter().map(|run| run.0).max().unwrap_or(0));
        let all_s: f64 = runs.iter().map(|(_, prepared, load)| prepared + load).sum();
        let mut gone_s = 0.0;
        for (place, (run, prepared_s, load_s)) in runs.iter().enumerate() {
            let others = runs[place + 1..].iter().map(|run| run.0);
            let said = left.until_end(&[*run], others, Duration::MAX);
            let said_s = said.whole.as_secs_f64();
            let true_s = all_s - gone_s;
            if place >= 2 && gone_s >= 0.1 * all_s {
                let off = (said_s - true_s).abs() / true_s;
                assert!(
                    off <= 0.3,
                    "at {gone_s} s: {said_s} s said, {true_s} s left"
                );
            }
            let seconds = Duration::from_secs_f64;
            left.done(&[*run], seconds(*load_s), seconds(prepared_s + load_s));
            gone_s += prepared_s + load_s;
        }
    }

    #[test]
    fn before_any_run_the_plan_counts() {
        let left = plan(3);
        let expected = RemainingTime {
            whole: Duration::from_secs(30 + 12 + 12),
            prepared: Duration::from_secs(10 + 12 + 12),
            load: Duration::from_secs(10),
        };
        let unlimited = Duration::MAX;
        assert_eq!(
            left.until_end(&[1], [2, 3].into_iter(), unlimited),
            expected
        );
        let unknown = plan(0).until_end(&[7], [].into_iter(), unlimited);
        assert_eq!(unknown.load, Duration::ZERO);
    }

    #[test]
    fn the_runs_of_a_session_are_estimated_and_learned_from_together() {
        let mut left = plan(4);
        let seconds = Duration::from_secs;
        let first = left.until_end(&[1, 2], [3, 4].into_iter(), Duration::MAX);
        assert_eq!(first.whole, seconds(42 + 24));
        assert_eq!(first.prepared, seconds(20 + 24));
        assert_eq!(first.load, seconds(20));
        // Twice as long as planned, in all parts.
        left.done(&[1, 2], seconds(40), seconds(84));
        let second = left.until_end(&[3, 4], [].into_iter(), Duration::MAX);
        assert_eq!((second.whole, second.load), (seconds(48), seconds(40)));
    }

    #[test]
    fn no_more_time_is_left_than_the_limit_allows() {
        let left = plan(24);
        // The first run takes 30 s, of which the load takes 10 s; the first run of all is done in any case.
        for (limit_s, whole_s, prepared_s) in [(1000, 306, 286), (100, 100, 80), (20, 30, 10)] {
            let limit = Duration::from_secs(limit_s);
            let found = left.until_end(&[1], 2..=24, limit);
            assert_eq!(found.whole, Duration::from_secs(whole_s), "{limit_s} s");
            let prepared = Duration::from_secs(prepared_s);
            assert_eq!(found.prepared, prepared, "{limit_s} s");
        }
    }

    #[test]
    fn runs_that_are_slower_or_faster_than_planned_are_learned_from() {
        let runs = |prepared_s: f64, load_s: f64| -> Vec<(u32, f64, f64)> {
            let first = (1, 20.0, load_s);
            let others = (2..=24).map(|run| (run, prepared_s, load_s));
            [first].into_iter().chain(others).collect()
        };
        is_learned(&runs(2.0, 10.0));
        is_learned(&runs(6.0, 13.0));
        // The warm-up was steady long before its limit.
        is_learned(&runs(0.5, 3.0));
    }

    #[test]
    fn loading_once_does_not_count_for_every_run() {
        let slow_load = (1, 90.0, 10.0);
        let others = (2..=40).map(|run| (run, 2.0, 10.0));
        is_learned(&[slow_load].into_iter().chain(others).collect::<Vec<_>>());
    }

    #[test]
    fn runs_that_are_done_again_load_nothing() {
        let once = |run| (run, if run == 1 { 20.0 } else { 2.0 }, 10.0);
        let again = |run| (run, 2.0, 10.0);
        let first: Vec<_> = (1..=6).map(once).collect();
        let second: Vec<_> = (7..=24).map(once).collect();
        is_learned(&[first, vec![again(1), again(4)], second].concat());
    }

    #[test]
    fn one_run_that_hung_says_little_of_the_others() {
        let runs = (1..=30).map(|run| match run {
            1 => (1, 20.0, 10.0),
            2 => (2, 2.0, 10.0),
            3 => (3, 2.0, 100.0),
            run => (run, 2.0, 10.0),
        });
        is_learned(&runs.collect::<Vec<_>>());
    }
}
