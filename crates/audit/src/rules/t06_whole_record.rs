//! Rule T06: a record is incomplete, contradicts itself, or equals another one.

use std::collections::BTreeMap;

use samples::{Interval, Phase, Record};
use units::{counted, moment, percent};

use crate::{
    finding::{Finding, Level, Outcome, missing},
    rule::{Judge, Rule},
    run::Run,
    set::Set,
};

/// Largest gap between one interval and the next, as a share of the interval's length.
const GAP: f64 = 0.01;
/// Largest gap in seconds, for very short intervals.
const GAP_S: f64 = 0.005;
/// Largest deviation of a histogram's mean from sum divided by count, as a share: its buckets are a thousandth wide.
const MEAN: f64 = 0.005;
/// Largest deviation of a histogram's ends from the exact minimum and maximum, as a share.
const ENDS: f64 = 0.01;

pub(super) const RULE: Rule = Rule {
    id: "T06",
    name: "the records are whole, and each is one",
    found: "a record is not whole, or not one run's",
    measures: "Whether intervals follow each other without a gap and fill the measured time, whether counts, sums, shortest and longest \
        times agree with the histograms, whether a record is there twice, and whether runs began in the order of the plan, but for those \
        that are known to have been done again.",
    threshold: "intervals that are missing, overlap or have no length, figures that contradict their histogram, the same record twice: \
        invalid; a run that began later than its place in the plan without a record of why: fail",
    source: "proposed here; the first-digit and duplicate checks of data audits (S. Al-Marzouki et al., BMJ 331, 2005) in spirit",
    consequence: "A person or a fault changed or left out what was measured: no figure of these records can be trusted.",
    remedy: "Take the records as dbdyno wrote them; runs that were deleted and done again belong beside them.",
    judge: Judge::Set(judge),
};

fn judge(set: &Set<'_>) -> Outcome {
    if set.runs.iter().all(|run| run.record.intervals.is_empty()) {
        return Err(missing("intervals"));
    }
    let broken = set.runs.iter().find_map(|run| {
        let why = contradiction(run.record)?;
        Some((run, why))
    });
    if let Some((run, why)) = broken {
        let mut finding = Finding::new(Level::Invalid, format!("{}: {why}", run.name()));
        finding.runs = vec![run.record.header.run];
        return Ok(finding);
    }
    if let Some((first, second)) = twice(&set.runs) {
        let evidence = format!("{} and {} are the same record", first.name(), second.name());
        return Ok(Finding::new(Level::Invalid, evidence));
    }
    let known = set.kept.disturbed + set.kept.replaced;
    let late = late(set);
    if set.declared.planned_runs.is_some() && late > known as usize {
        let evidence = format!(
            "{} began later than a run behind it in the plan, and {} known to have been done again",
            counted(late, "run"),
            match known {
                0 => "none is".to_owned(),
                1 => "one is".to_owned(),
                more => format!("{more} are"),
            }
        );
        return Ok(Finding::new(Level::Fail, evidence).with("late", late as f64));
    }
    let evidence = format!(
        "{}: intervals without a gap, figures as their histograms",
        counted(set.runs.len(), "record")
    );
    Ok(Finding::new(Level::Pass, evidence))
}

/// The first contradiction within a record, as text.
fn contradiction(record: &Record) -> Option<String> {
    intervals(record)
        .or_else(|| window(record))
        .or_else(|| record.intervals.iter().find_map(figures))
}

/// Checks that intervals have a length and follow each other.
fn intervals(record: &Record) -> Option<String> {
    let mut end_s: Option<f64> = None;
    for interval in &record.intervals {
        let (from_s, length_s) = (interval.t_s, interval.length_s);
        let is_sound = from_s.is_finite() && length_s.is_finite() && length_s >= 0.0;
        if !is_sound || length_s == 0.0 && interval.phase == Phase::Measurement {
            return Some(format!("an interval at {} has no length", moment(from_s)));
        }
        if let Some(end_s) = end_s {
            let apart_s = from_s - end_s;
            if apart_s.abs() > (GAP * length_s).max(GAP_S) {
                return Some(if apart_s > 0.0 {
                    format!(
                        "from {} to {} there is nothing",
                        moment(end_s),
                        moment(from_s)
                    )
                } else {
                    format!(
                        "the interval at {} begins before the last one ends",
                        moment(from_s)
                    )
                });
            }
        }
        end_s = Some(from_s + length_s);
    }
    let end_s = end_s?;
    let end = record.end.as_ref()?;
    let is_early = end.t_s < end_s - (GAP * end_s).max(1.0);
    is_early.then(|| {
        format!(
            "it ended at {}, and has intervals up to {}",
            moment(end.t_s),
            moment(end_s)
        )
    })
}

/// Checks that the intervals of the measurement fill the time between its phases.
fn window(record: &Record) -> Option<String> {
    let marks = &record.phases;
    let begin = marks
        .iter()
        .rev()
        .find(|it| it.phase == Phase::Measurement)?;
    let end = marks.iter().rev().find(|it| it.phase == Phase::Drain)?;
    let lasted_s = end.t_s - begin.t_s;
    let measured_s: f64 = record.measured_intervals().map(|it| it.length_s).sum();
    let longest_s = record
        .measured_intervals()
        .map(|it| it.length_s)
        .fold(0.0, f64::max);
    let is_apart = (lasted_s - measured_s).abs() > (GAP * lasted_s).max(GAP_S).max(longest_s / 2.0);
    is_apart.then(|| {
        format!(
            "the measurement lasted {} by its phases, and its intervals make {}",
            moment(lasted_s),
            moment(measured_s)
        )
    })
}

/// Checks that count, sum, minimum and maximum of an interval agree with its histogram.
fn figures(interval: &Interval) -> Option<String> {
    let carried = interval.carried.iter().flat_map(|it| &it.operations);
    interval.operations.iter().chain(carried).find_map(|it| {
        let at = moment(interval.t_s);
        let counted_in = it.histogram.count();
        if counted_in != it.count {
            return Some(format!(
                "at {at} {} operations came back, and the histogram has {counted_in}",
                it.count
            ));
        }
        if it.count == 0 {
            return None;
        }
        if it.min_ns > it.max_ns {
            return Some(format!(
                "at {at} the shortest time is longer than the longest"
            ));
        }
        let mean = it.sum_ns as f64 / it.count as f64;
        let of_histogram = it.histogram.mean_ns().unwrap_or(mean);
        let apart = (of_histogram - mean).abs() / mean.max(1.0);
        if apart > MEAN {
            return Some(format!(
                "at {at} the mean time is {} off that of the histogram",
                percent(apart)
            ));
        }
        let ends = [(0.0, it.min_ns), (1.0, it.max_ns)];
        let is_off = |(quantile, exact): (f64, u64)| {
            let found = it.histogram.quantile_ns(quantile).unwrap_or(exact) as f64;
            (found - exact as f64).abs() > ENDS * (exact as f64).max(1_000.0)
        };
        ends.into_iter()
            .any(is_off)
            .then(|| format!("at {at} the shortest or the longest time is not in the histogram"))
    })
}

/// Two runs with the same measurements: independent runs never agree to the nanosecond.
fn twice<'r, 's>(runs: &'s [Run<'r>]) -> Option<(&'s Run<'r>, &'s Run<'r>)> {
    let mut known: BTreeMap<Vec<(u64, u64)>, &Run<'_>> = BTreeMap::new();
    for run in runs {
        let operations = run.measured().flat_map(|it| &it.operations);
        let figures: Vec<(u64, u64)> = operations.map(|it| (it.count, it.sum_ns)).collect();
        // A small number of operations may agree by chance.
        let says_something = figures.iter().map(|(count, _)| count).sum::<u64>() >= 100;
        if says_something && let Some(first) = known.insert(figures, run) {
            return Some((first, run));
        }
    }
    None
}

/// The number of runs that began after a run that is later in the plan.
fn late(set: &Set<'_>) -> usize {
    let mut runs: Vec<_> = set.first_loads().map(|run| &run.record.header).collect();
    runs.sort_by_key(|header| header.run);
    let mut earliest_behind: Option<&str> = None;
    let mut late = 0;
    for header in runs.iter().rev() {
        // RFC 3339 times in UTC sort as text.
        let began = header.started_at.as_str();
        late += usize::from(earliest_behind.is_some_and(|behind| began > behind));
        if earliest_behind.is_none_or(|behind| began < behind) {
            earliest_behind = Some(began);
        }
    }
    late
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{fixture::*, subject::BesideRecords};

    type Change = fn(&mut Record);

    #[test]
    fn found() {
        let cases: [(Change, &str); 8] = [
            (
                |record| drop(record.intervals.remove(40)),
                "there is nothing",
            ),
            (
                |record| record.intervals[40].t_s -= 0.5,
                "begins before the last one ends",
            ),
            (
                |record| record.intervals[40].length_s = 0.0,
                "has no length",
            ),
            (
                |record| record.intervals[40].operations[0].count += 50,
                "the histogram has",
            ),
            (
                |record| record.intervals[40].operations[0].sum_ns /= 2,
                "off that of the histogram",
            ),
            (
                |record| {
                    let operation = &mut record.intervals[40].operations[0];
                    std::mem::swap(&mut operation.min_ns, &mut operation.max_ns);
                },
                "the shortest time is longer",
            ),
            (
                |record| record.intervals[40].operations[0].max_ns *= 3,
                "is not in the histogram",
            ),
            (
                |record| record.end.as_mut().unwrap().t_s = 60.0,
                "it ended at",
            ),
        ];
        for (change, words) in cases {
            assert_found(&judged(&RULE, change), Level::Invalid, words);
        }
    }

    #[test]
    fn a_record_that_is_there_twice_is_found() {
        let mut runs = blocks_over("flush", &["1", "2"]);
        let outcome = judged_together(&RULE, &runs, over(&["flush"]));
        assert_eq!(level(&outcome), Level::Pass, "{outcome:?}");
        let header = runs[5].header.clone();
        runs[5] = runs[2].clone();
        runs[5].header = header;
        let outcome = judged_together(&RULE, &runs, over(&["flush"]));
        assert_found(
            &outcome,
            Level::Invalid,
            "run 3 and run 6 are the same record",
        );
    }

    #[test]
    fn a_run_that_was_done_again_unsaid_is_found() {
        let mut runs = blocks_over("flush", &["1", "2"]);
        runs[3].header.started_at = "2026-11-21T23:00:00Z".to_owned();
        let mut declared = over(&["flush"]);
        declared.planned_runs = Some(10);
        let outcome = judged_together(&RULE, &runs, declared.clone());
        assert_found(&outcome, Level::Fail, "1 run began later");
        let known = BesideRecords {
            disturbed: 1,
            ..BesideRecords::default()
        };
        let outcome = judged_with_kept(&RULE, &runs, declared, known);
        assert_eq!(level(&outcome), Level::Pass, "{outcome:?}");
    }

    #[test]
    fn passes() {
        assert_found(&judged(&RULE, |_| {}), Level::Pass, "1 record");
    }

    #[test]
    fn nothing_is_not_evaluated() {
        assert_missing(&judged_together(&RULE, &[], over(&[])), "intervals");
    }
}
