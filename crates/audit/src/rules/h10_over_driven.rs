//! Rule H10: throughput collapses at the highest number of connections.

use samples::STAGE;
use stats::execution_mean;
use units::{count, percent};

use crate::{
    finding::{Finding, Level, Outcome, no_subject},
    rule::{Judge, Rule},
    run::Run,
    set::{Set, in_words},
};

/// Share of the peak below which the server is overloaded.
const SHARE: f64 = 0.9;
/// Number of measured connection counts below which the rule is not evaluated.
const POINTS_AT_LEAST: usize = 3;
const CONFIDENCE: f64 = 0.95;

pub(super) const RULE: Rule = Rule {
    id: "H10",
    name: "throughput does not collapse at the highest number of connections",
    found: "throughput collapses at the highest number of connections",
    measures: "Throughput at the highest number of connections compared with the peak throughput, for each combination of the factors other than the number of connections. A stage without a rate is treated as a run with its number of connections. Stages with a rate and ramps are left out.",
    threshold: "warn if the throughput at the highest number of connections is below 0.9 of the peak and the two confidence intervals do not overlap. With a single execution there are no intervals, and only the first condition counts",
    source: "Matsunobu, Ten points for correct benchmarks (2009), point 3",
    consequence: "Beyond the peak, connections wait for each other: the figures there describe a queue, not the server.",
    remedy: "Limit the connection pool to the number of connections at the peak, and compare at that number.",
    judge: Judge::Set(judge),
};

fn judge(set: &Set<'_>) -> Outcome {
    let mut left_out = vec!["connections".to_owned()];
    if set.has_stages() {
        // Stages of a run are points of one curve.
        left_out.push(STAGE.to_owned());
    }
    let mut curves = 0;
    let mut worst: Option<(f64, String)> = None;
    for (levels, runs) in set.without(&left_out) {
        let mut points: Vec<(u32, Vec<f64>)> = Vec::new();
        for run in runs.into_iter().filter(|run| is_at_full_load(run)) {
            let Ok(per_s) = run.throughput() else {
                continue;
            };
            let connections = run.record.connections();
            match points.iter_mut().find(|(known, _)| *known == connections) {
                Some((_, values)) => values.push(per_s),
                None => points.push((connections, vec![per_s])),
            }
        }
        points.sort_by_key(|(connections, _)| *connections);
        if points.len() < POINTS_AT_LEAST {
            continue;
        }
        curves += 1;
        let mean = |values: &[f64]| execution_mean(values, CONFIDENCE).map_or(0.0, |it| it.mean);
        let Some(peak) = points
            .iter()
            .max_by(|a, b| mean(&a.1).total_cmp(&mean(&b.1)))
        else {
            continue;
        };
        let last = &points[points.len() - 1];
        let share = mean(&last.1) / mean(&peak.1);
        if share >= SHARE
            || meet(&last.1, &peak.1)
            || worst.as_ref().is_some_and(|(known, _)| *known <= share)
        {
            continue;
        }
        let words = format!(
            "{}/s at {} connections, which is {} of the {}/s at {} connections ({})",
            count(mean(&last.1)),
            last.0,
            percent(share),
            count(mean(&peak.1)),
            peak.0,
            in_words(&levels)
        );
        worst = Some((share, words));
    }
    match (curves, worst) {
        (0, _) => Err(no_subject(
            "fewer than three numbers of connections were measured",
        )),
        (_, Some((share, words))) => {
            Ok(Finding::new(Level::Warn, words).with("share_of_peak", share))
        }
        _ => Ok(Finding::new(
            Level::Pass,
            format!(
                "within the noise, the throughput at the highest number of connections equals the peak throughput (combinations of the other factors: {curves})"
            ),
        )),
    }
}

/// True unless it is a ramp of connections, or a stage whose rate is limited.
fn is_at_full_load(run: &Run<'_>) -> bool {
    let is_limited = run.stage.is_some_and(|it| it.rate_from_per_s.is_some());
    !run.is_ramp() && !is_limited
}

/// True if the confidence intervals of two means overlap.
fn meet(a: &[f64], b: &[f64]) -> bool {
    let bounds = |values: &[f64]| execution_mean(values, CONFIDENCE)?.bounds;
    match (bounds(a), bounds(b)) {
        (Some(a), Some(b)) => a.0 <= b.1 && b.0 <= a.1,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use samples::Record;

    use super::*;
    use crate::fixture::*;

    fn curve(throughputs: &[(u32, f64)]) -> Vec<Record> {
        let mut runs = Vec::new();
        for block in 1..=3 {
            for (connections, per_s) in throughputs {
                let level = connections.to_string();
                let number = runs.len() as u32 + 1;
                let mut run = run_of(number, block, &[("connections", level.as_str())]);
                run.header.connections = *connections;
                set_throughput(&mut run, per_s + f64::from(block));
                runs.push(run);
            }
        }
        runs
    }

    #[test]
    fn found() {
        let runs = curve(&[(8, 1000.0), (32, 1200.0), (128, 600.0)]);
        let outcome = judged_together(&RULE, &runs, over(&["connections"]));
        assert_found(
            &outcome,
            Level::Warn,
            "602/s at 128 connections, which is 50 % of the 1.20k/s at 32",
        );
    }

    #[test]
    fn stages_are_points_of_one_curve() {
        let two = |from: u32, to: u32, per_s: [u64; 2]| {
            let mut run = healthy();
            in_stages(&mut run, [(from, from), (to, to)]);
            for interval in &mut run.intervals {
                let second = usize::from(interval.stage == Some(2));
                interval.operations[0].count = per_s[second];
            }
            run
        };
        let runs = [two(8, 32, [1000, 1200]), two(64, 128, [1200, 600])];
        let outcome = judged_stages(&RULE, &runs, over(&[]));
        assert_found(
            &outcome,
            Level::Warn,
            "at 128 connections, which is 50 % of",
        );
        let mut ramp = two(8, 32, [1000, 1200]);
        in_stages(&mut ramp, [(8, 8), (8, 128)]);
        assert_no_subject(&judged_stages(&RULE, &[ramp], over(&[])));
    }

    #[test]
    fn passes() {
        let runs = curve(&[(8, 1000.0), (32, 1200.0), (128, 1190.0)]);
        let outcome = judged_together(&RULE, &runs, over(&["connections"]));
        assert_eq!(level(&outcome), Level::Pass);
        assert_no_subject(&judged(&RULE, |_| {}));
    }
}
