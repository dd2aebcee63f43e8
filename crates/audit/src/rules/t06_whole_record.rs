//! Rule T06: a record is incomplete, contradicts itself, or equals another one.

use units::counted;

use crate::{
    contradictions::{OF_RECORD, OF_SET},
    finding::{Finding, Level, Outcome, missing},
    rule::{Judge, Rule},
    session::one_of_each,
    set::Set,
};

pub(super) const RULE: Rule = Rule {
    id: "T06",
    name: "each record is complete and comes from a single run",
    found: "a record is incomplete or altered, or mixes several runs",
    measures: "In each record, the rule looks for the following problems. Gaps between intervals, or missing time. Counts, sums or extreme times that contradict the histograms. Scheduled operations with no recorded outcome. Operations that contradict the rate or the client's ceiling. A server, buffer pool size or data size that differs between lines of the record. CPUs, processes or memory that do not fit the machine. An incomplete last line. In an experiment, it also looks for the following problems. Records or intervals that occur twice. Runs that overlap in time. Labels that contradict the server's variables. Runs that began out of order without being recorded as repeated.",
    threshold: "invalid if any of these problems is found, except runs that began out of order. Fail if a run began out of order without a recorded reason",
    source: "proposed here, in the spirit of the first-digit and duplicate checks of data audits (S. Al-Marzouki et al., BMJ 331, 2005)",
    consequence: "Measurements were changed or removed, on purpose or by an error. Do not trust any figure of these records.",
    remedy: "Use the records exactly as dbdyno wrote them, and keep the replaced and repeated runs alongside them.",
    judge: Judge::Set(judge),
};

fn judge(set: &Set<'_>) -> Outcome {
    if set.runs.iter().all(|run| run.record.intervals.is_empty()) {
        return Err(missing("intervals"));
    }
    let broken = set.runs.iter().find_map(|run| {
        let why = OF_RECORD.iter().find_map(|check| check(run.record))?;
        Some((run, why))
    });
    if let Some((run, why)) = broken {
        let mut finding = Finding::new(Level::Invalid, format!("{}: {why}", run.name()));
        finding.runs = vec![run.record.header.run];
        return Ok(finding);
    }
    if let Some(why) = OF_SET.iter().find_map(|check| check(set)) {
        return Ok(Finding::new(Level::Invalid, why));
    }
    let known = set.kept.disturbed + set.kept.replaced;
    let late = late(set);
    if set.declared.planned_runs.is_some() && late > known as usize {
        let evidence = format!(
            "{} began after a run that is later in the plan, and {} recorded as repeated",
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
        "{}: no gap between intervals, and the figures agree with the histograms",
        counted(set.runs.len(), "record")
    );
    Ok(Finding::new(Level::Pass, evidence))
}

/// The number of runs that began after a run that is later in the plan.
fn late(set: &Set<'_>) -> usize {
    let runs = one_of_each(set.first_loads()).into_iter();
    let mut runs: Vec<_> = runs.map(|run| &run.record.header).collect();
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
    use samples::Record;

    use super::*;
    use crate::{fixture::*, subject::BesideRecords};

    type Change = fn(&mut Record);

    #[test]
    fn found() {
        let cases: [(Change, &str); 8] = [
            (
                |record| drop(record.intervals.remove(40)),
                "no interval covers",
            ),
            (
                |record| record.intervals[40].t_s -= 0.5,
                "begins before the previous one ends",
            ),
            (
                |record| record.intervals[40].length_s = 0.0,
                "has no length",
            ),
            (
                |record| record.intervals[40].operations[0].count += 50,
                "the histogram contains",
            ),
            (
                |record| record.intervals[40].operations[0].sum_ns /= 2,
                "from the histogram's mean",
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
                "the run ended at",
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
    fn runs_that_took_turns_overlap_and_have_no_order() {
        let run = |number: u32, level: &str| {
            let mut record = run_of(number, 1, &[("flush", level)]);
            in_turns(&mut record);
            record.header.started_at = format!("2026-11-21T10:00:0{}Z", 3 - number);
            record
        };
        let mut runs = [run(1, "1"), run(2, "2")];
        let mut declared = over(&["flush"]);
        declared.planned_runs = Some(2);
        let outcome = judged_together(&RULE, &runs, declared.clone());
        assert_eq!(level(&outcome), Level::Pass, "{outcome:?}");
        runs[1].header.block = 2;
        let outcome = judged_together(&RULE, &runs, declared);
        assert_found(&outcome, Level::Invalid, "overlapped by");
    }

    #[test]
    fn a_run_that_was_done_again_unsaid_is_found() {
        let mut runs = blocks_over("flush", &["1", "2"]);
        runs[3].header.started_at = "2026-11-21T23:00:00Z".to_owned();
        let mut declared = over(&["flush"]);
        declared.planned_runs = Some(10);
        let outcome = judged_together(&RULE, &runs, declared.clone());
        assert_found(&outcome, Level::Fail, "1 run began after a run");
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
