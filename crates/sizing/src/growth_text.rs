//! The date on which the throughput of growing data falls, for people: at most twelve lines on a wide terminal.

use crate::{
    answer_line::AnswerLine,
    growth_answer::{GrowthAnswer, GrowthDate, GrowthOutcome},
    memory_curve::{Crossing, MemoryCurve},
    prediction::Prediction,
    prediction_text::{bounds_in_words, prediction_lines, rate},
};

/// The answer, without the remarks of the prediction.
pub fn growth_lines(
    prediction: &Prediction,
    curve: &Result<MemoryCurve, String>,
    answer: &GrowthAnswer,
) -> Vec<AnswerLine> {
    let mut lines = vec![AnswerLine::new("", growth_sentence(answer))];
    let mut of_prediction = prediction_lines(prediction).into_iter();
    if let Some(first) = of_prediction.next() {
        let today = today_in_words(prediction, first.text);
        lines.push(AnswerLine::new("today", today));
    }
    if let Ok(curve) = curve {
        let growth = growth_in_words(prediction, curve, answer);
        lines.push(AnswerLine::new("growth", growth));
        lines.push(AnswerLine::new("data/memory", range_in_words(curve)));
        lines.push(AnswerLine::new("cliff", cliff_in_words(curve)));
    }
    let is_of_records =
        |it: &AnswerLine| matches!(it.label, "drift" | "problems" | "measured" | "validated");
    lines.extend(of_prediction.filter(is_of_records));
    lines
}

/// The date in a sentence or two.
pub fn growth_sentence(answer: &GrowthAnswer) -> String {
    let level = match answer.tps {
        Some(tps) => format!("below {} operations/s", units::si(tps)),
        None => "to half".to_owned(),
    };
    let crossing = answer.crossing.and_then(crossing_in_words);
    let crossing = crossing.map(|it| format!(", at data/memory {it}"));
    let crossing = crossing.unwrap_or_default();
    match &answer.outcome {
        GrowthOutcome::Reached {
            estimate,
            earliest,
            latest,
        } => {
            let interval = match latest {
                Some(latest) => format!("{} to {}", day(earliest), day(latest)),
                None => format!("{} or later", day(earliest)),
            };
            format!(
                "The throughput falls {level} on {} ({interval}), in {} months{crossing}.",
                day(estimate),
                units::si(estimate.months)
            )
        }
        GrowthOutcome::Passed => match answer.tps {
            Some(_) => format!("The throughput of the target is {level} today."),
            None => format!("The throughput has already fallen {level}{crossing}."),
        },
        GrowthOutcome::Undecided => format!(
            "Undecided whether the throughput of the target is {level} today: today's interval contains this level."
        ),
        GrowthOutcome::NotReached {
            data_by_memory,
            until,
            earliest,
        } => {
            let earliest = earliest.as_ref();
            let earliest =
                earliest.map(|it| format!(" The interval of the date begins on {}.", day(it)));
            format!(
                "The throughput does not fall {level} by {}, when the data reaches the largest measured data/memory \
                 ({}).{} For a later date, measure a smaller buffer pool.",
                day(until),
                units::si(*data_by_memory),
                earliest.unwrap_or_default()
            )
        }
        GrowthOutcome::NotMeasured(why) => format!("The date is not known: {why}."),
    }
}

fn day(date: &GrowthDate) -> &str {
    let named = date.date.as_deref();
    named.unwrap_or("a day more than 100 years from now")
}

/// The prediction for the data of today.
fn today_in_words(prediction: &Prediction, mut answer: String) -> String {
    if prediction.is_extrapolated() {
        let measured = prediction.measured_cpus;
        let measured = measured.map(|it| units::counted_amount(it, "CPU"));
        let measured = measured.unwrap_or_default();
        answer.push_str(&format!(" Not validated here ({measured} measured)."));
    }
    if let Some(bounds) = bounds_in_words(prediction) {
        answer.push_str(&format!(" Not certain: {bounds}."));
    }
    answer
}

/// `4%/month from 96.0 GiB of data on 2026-11-30; the buffer pool stays at 24.0 GiB (assumed)`
fn growth_in_words(prediction: &Prediction, curve: &MemoryCurve, answer: &GrowthAnswer) -> String {
    let pool = prediction.memory.as_ref().and_then(|it| it.buffer_pool);
    let is_assumed = pool.is_some_and(|it| it.is_assumed);
    let assumed = if is_assumed { " (assumed)" } else { "" };
    format!(
        "{} from {} of data on {}; the buffer pool stays at {}{assumed}",
        answer.growth.text(),
        units::bytes(curve.data_bytes),
        answer.today,
        units::bytes(curve.buffer_pool_bytes)
    )
}

/// `4.00 today; measured from 1.33 to 8.00: the target can do 8.20k to 2.05k operations/s`
fn range_in_words(curve: &MemoryCurve) -> String {
    let [first, last] = curve.ends();
    format!(
        "{} today; measured from {} to {}: the target can do {} to {} operations/s",
        units::si(curve.today),
        units::si(first.data_by_memory),
        units::si(last.data_by_memory),
        units::si(first.per_s.estimate),
        units::si(last.per_s.estimate)
    )
}

/// `at data/memory 6.10 (5.80 to 6.50): half of the 8.20k (7.90k to 8.51k) operations/s at data/memory 1.33`
pub fn cliff_in_words(curve: &MemoryCurve) -> String {
    let [first, last] = curve.ends();
    let of = format!(
        "half of the {} operations/s at data/memory {}",
        rate(&first.per_s),
        units::si(first.data_by_memory)
    );
    match crossing_in_words(curve.cliff) {
        Some(crossing) => format!("at data/memory {crossing}: {of}"),
        None => {
            let from = curve.cliff.earliest.map(|it| {
                let from = units::si(it);
                format!("; its interval begins at {from}")
            });
            format!(
                "not reached up to data/memory {} ({of}){}; measure a smaller buffer pool",
                units::si(last.data_by_memory),
                from.unwrap_or_default()
            )
        }
    }
}

/// `6.10 (5.80 to 6.50)`; `None` if it is beyond what was measured.
fn crossing_in_words(crossing: Crossing) -> Option<String> {
    let estimate = crossing.estimate?;
    let earliest = crossing.earliest.unwrap_or(estimate);
    Some(match crossing.latest {
        Some(latest) => units::si_with_interval(estimate, (earliest, latest)),
        None => format!("{} ({} or more)", units::si(estimate), units::si(earliest)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn date(months: f64, date: &str) -> GrowthDate {
        GrowthDate {
            months,
            date: Some(date.to_owned()),
        }
    }

    fn sentence(tps: Option<f64>, latest: Option<f64>, outcome: GrowthOutcome) -> String {
        growth_sentence(&GrowthAnswer {
            growth: crate::parse_growth("4%/month").unwrap(),
            tps,
            today: "2026-11-30".to_owned(),
            crossing: Some(Crossing {
                estimate: latest.map(|_| 6.1),
                earliest: Some(5.8),
                latest,
            }),
            outcome,
        })
    }

    #[test]
    fn a_date_has_its_interval_and_its_place() {
        let reached = |latest: Option<GrowthDate>| GrowthOutcome::Reached {
            estimate: date(10.8, "2027-10-24"),
            earliest: date(9.5, "2027-09-14"),
            latest,
        };
        let found = sentence(None, Some(6.5), reached(Some(date(12.4, "2027-12-12"))));
        assert_eq!(
            found,
            "The throughput falls to half on 2027-10-24 (2027-09-14 to 2027-12-12), in 10.8 months, at data/memory 6.10 (5.80 \
             to 6.50)."
        );
        let found = sentence(Some(3000.0), Some(6.5), reached(None));
        let expected =
            "falls below 3.00k operations/s on 2027-10-24 (2027-09-14 or later), in 10.8 months";
        assert!(found.contains(expected), "{found}");
    }

    #[test]
    fn an_answer_without_a_date_says_what_is_known() {
        let not_reached = GrowthOutcome::NotReached {
            data_by_memory: 8.0,
            until: date(17.7, "2028-05-21"),
            earliest: Some(date(15.0, "2028-03-01")),
        };
        for (tps, latest, outcome, expected) in [
            (
                None,
                None,
                not_reached,
                "The throughput does not fall to half by 2028-05-21, when the data reaches the largest measured \
                 data/memory (8.00). The interval of the date begins on 2028-03-01. For a later date, measure a smaller \
                 buffer pool.",
            ),
            (
                Some(3000.0),
                Some(6.5),
                GrowthOutcome::Passed,
                "The throughput of the target is below 3.00k operations/s today.",
            ),
            (
                None,
                Some(6.5),
                GrowthOutcome::Passed,
                "The throughput has already fallen to half, at data/memory 6.10 (5.80 to 6.50).",
            ),
            (
                None,
                None,
                GrowthOutcome::NotMeasured("it takes more".to_owned()),
                "The date is not known: it takes more.",
            ),
        ] {
            assert_eq!(sentence(tps, latest, outcome), expected);
        }
    }
}
