//! The date on which the throughput of a target with growing data falls below a level.

use crate::{
    growth::{DAYS_OF_MONTH, Growth},
    memory_curve::{Crossing, MemoryCurve},
    moment,
    prediction::Prediction,
};

/// Dates farther away are not named: no growth stays the same for this time.
const MONTHS_AT_MOST: f64 = 1200.0;

/// The question for a date.
#[derive(Debug, Clone)]
pub struct GrowthRequest {
    pub growth: Growth,
    /// Throughput below which it must not fall, operations per second; `None` for half of that at the smallest measured
    /// data/memory.
    pub tps: Option<f64>,
    /// The day of the answer, counted from 1970-01-01.
    pub today: i64,
}

/// When the throughput falls below the level.
#[derive(Debug, Clone, PartialEq)]
pub struct GrowthAnswer {
    pub growth: Growth,
    pub tps: Option<f64>,
    /// The day of the answer: `2026-11-30`.
    pub today: String,
    /// The data/memory at the level; `None` without a curve.
    pub crossing: Option<Crossing>,
    pub outcome: GrowthOutcome,
}

/// Whether and when the data reaches the level.
#[derive(Debug, Clone, PartialEq)]
pub enum GrowthOutcome {
    Reached {
        estimate: GrowthDate,
        earliest: GrowthDate,
        /// `None` if it is beyond what was measured.
        latest: Option<GrowthDate>,
    },
    /// It is below the level today.
    Passed,
    /// It may be below the named throughput today: that lies within the interval.
    Undecided,
    /// Not within what was measured.
    NotReached {
        /// The largest measured data/memory.
        data_by_memory: f64,
        /// When the data reaches it.
        until: GrowthDate,
        /// The beginning of the date's interval; `None` if it is beyond what was measured.
        earliest: Option<GrowthDate>,
    },
    /// What was not measured, and how to measure it.
    NotMeasured(String),
}

/// A day in the future.
#[derive(Debug, Clone, PartialEq)]
pub struct GrowthDate {
    /// Months from the day of the answer.
    pub months: f64,
    /// `2028-03-14`; `None` if it is more than 100 years away.
    pub date: Option<String>,
}

impl GrowthAnswer {
    /// The answer from a prediction of the target and its curve, or the reason why there is none. The buffer pool stays as
    /// it is.
    pub fn of(
        prediction: &Prediction,
        curve: &Result<MemoryCurve, String>,
        request: &GrowthRequest,
    ) -> Self {
        let (crossing, outcome) = match curve {
            Err(why) => (None, GrowthOutcome::NotMeasured(why.clone())),
            Ok(curve) => {
                let below = request.tps.map(|tps| curve.below(tps));
                let crossing = below.unwrap_or(curve.cliff);
                let outcome = outcome(prediction, curve, crossing, request);
                (Some(crossing), outcome)
            }
        };
        Self {
            growth: request.growth.clone(),
            tps: request.tps,
            today: moment::date(request.today),
            crossing,
            outcome,
        }
    }

    /// Whether it is known when the level is reached.
    pub fn is_known(&self) -> bool {
        matches!(
            self.outcome,
            GrowthOutcome::Reached { .. } | GrowthOutcome::Passed
        )
    }

    /// Whether the target is below the named throughput today.
    pub fn is_too_low(&self) -> bool {
        self.tps.is_some() && self.outcome == GrowthOutcome::Passed
    }
}

fn outcome(
    prediction: &Prediction,
    curve: &MemoryCurve,
    crossing: Crossing,
    request: &GrowthRequest,
) -> GrowthOutcome {
    let throughput = prediction.throughput.as_ref();
    let throughput = throughput.filter(|_| prediction.is_known());
    let is_before_today = |place: Option<f64>| place.is_some_and(|it| it <= curve.today);
    let [is_passed, is_certain] = match (request.tps, throughput) {
        (Some(tps), Some(throughput)) => {
            let per_s = throughput.per_s;
            [per_s.estimate, per_s.high].map(|it| it < tps)
        }
        (Some(_), None) => [crossing.estimate, crossing.latest].map(is_before_today),
        // The answer has the interval of the cliff's place.
        (None, _) => [is_before_today(crossing.estimate), true],
    };
    if is_passed {
        return if is_certain {
            GrowthOutcome::Passed
        } else {
            GrowthOutcome::Undecided
        };
    }
    let [first, last] = curve.ends().map(|it| it.data_by_memory);
    if curve.is_beyond() {
        return GrowthOutcome::NotMeasured(format!(
            "data/memory is {} today, and was measured up to {}; measure a smaller buffer pool",
            units::si(curve.today),
            units::si(last)
        ));
    }
    // The level is reached before the first point, and nothing is known of that range.
    if throughput.is_none() && crossing.estimate.is_some_and(|it| it <= first) {
        return GrowthOutcome::NotMeasured(format!(
            "the throughput is below the level at data/memory {}, the smallest measured one; measure a larger buffer pool",
            units::si(first)
        ));
    }
    let date = |data_by_memory: f64| {
        let bytes = data_by_memory * curve.buffer_pool_bytes as f64;
        let days = request.growth.days(curve.data_bytes as f64, bytes);
        GrowthDate::after(days, request.today)
    };
    match crossing.estimate {
        Some(estimate) => GrowthOutcome::Reached {
            estimate: date(estimate),
            earliest: date(crossing.earliest.unwrap_or(estimate)),
            latest: crossing.latest.map(date),
        },
        None => GrowthOutcome::NotReached {
            data_by_memory: last,
            until: date(last),
            earliest: crossing.earliest.map(date),
        },
    }
}

impl GrowthDate {
    fn after(days: f64, today: i64) -> Self {
        let months = days / DAYS_OF_MONTH;
        let is_near = months <= MONTHS_AT_MOST;
        Self {
            months,
            date: is_near.then(|| moment::date(today + days.floor() as i64)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::iter;

    use super::*;
    use crate::{
        execution::{Execution, Executions},
        growth::parse_growth,
        memory_curve::memory_curve,
        prediction::{PredictionRequest, predict},
        service_demand::{Demands, ServiceDemand},
        target::parse_target,
        testing::execution,
    };

    /// 2026-11-30.
    const TODAY: i64 = 20_787;

    /// Executions with these shares of the data in memory, which read 1 - share pages each: with 500 reads/s, 2500
    /// operations/s at data/memory 1.25, half of them at 1 / 0.6, and 625 at 5.
    fn answer(target: &str, growth: &str, tps: Option<f64>) -> GrowthAnswer {
        let shares = [0.2, 0.5, 0.8];
        let blocks = [1, 2].into_iter();
        let all = blocks.flat_map(|block| iter::repeat(block).zip(shares));
        let all = all.map(|(block, share)| Execution {
            demands: Demands::from_fn(|demand| {
                (demand == ServiceDemand::PageReads).then_some(1.0 - share)
            }),
            ..execution(share, 4, block)
        });
        let executions = Executions::of("made".to_owned(), all.collect());
        let request = PredictionRequest {
            target: parse_target(target).unwrap(),
            zipf: None,
            draws: 10,
        };
        let prediction = predict(&executions, &request).unwrap();
        let curve = memory_curve(&executions, &request).unwrap();
        let request = GrowthRequest {
            growth: parse_growth(growth).unwrap(),
            tps,
            today: TODAY,
        };
        GrowthAnswer::of(&prediction, &curve, &request)
    }

    /// Data/memory 1.25.
    const AT_THE_FIRST: &str = "read_iops=500,data=1000K,buffer_pool=800K";

    fn reached(answer: &GrowthAnswer) -> GrowthDate {
        match &answer.outcome {
            GrowthOutcome::Reached { estimate, .. } => estimate.clone(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_date_of_the_cliff_follows_from_the_growth() {
        // From 1.25 to 1 / 0.6: ln(4 / 3) / ln(1.04) = 7.335 months of 30.436875 days are 223.25 days.
        let answer = answer(AT_THE_FIRST, "4%/month", None);
        let date = reached(&answer);
        assert!((date.months - 7.335).abs() < 0.01, "{date:?}");
        assert_eq!(date.date.as_deref(), Some("2027-07-11"));
        assert_eq!(answer.today, "2026-11-30");
        assert!(answer.is_known());
        // 1000 KiB grow by a third with 10 KiB a week: 33.3 weeks are 233.3 days.
        let linear = reached(&self::answer(AT_THE_FIRST, "10K/week", None));
        assert!((linear.months * DAYS_OF_MONTH - 233.333).abs() < 0.5);
        assert_eq!(linear.date.as_deref(), Some("2027-07-21"));
    }

    #[test]
    fn a_throughput_is_the_level_if_it_is_named() {
        // 1000 operations/s at data/memory 2: ln(1.6) / ln(2) years are 247.66 days.
        let date = reached(&answer(AT_THE_FIRST, "100%/year", Some(1000.0)));
        assert_eq!(date.date.as_deref(), Some("2027-08-04"));
        // 2500 operations/s today.
        let passed = answer(AT_THE_FIRST, "100%/year", Some(2501.0));
        assert_eq!(passed.outcome, GrowthOutcome::Passed);
        assert!(passed.is_too_low());
        let slow = reached(&answer(AT_THE_FIRST, "1K/year", Some(1000.0)));
        assert_eq!(slow.date, None);
    }

    #[test]
    fn the_cliff_may_have_been_passed() {
        let target = "read_iops=500,data=2000K,buffer_pool=800K";
        let passed = answer(target, "4%/month", None);
        assert_eq!(passed.outcome, GrowthOutcome::Passed);
        assert!(passed.is_known() && !passed.is_too_low());
    }

    #[test]
    fn a_level_beyond_what_was_measured_has_no_date() {
        let found = answer(AT_THE_FIRST, "100%/year", Some(600.0));
        // 625 operations/s at data/memory 5: two years are 730.485 days.
        let until = match &found.outcome {
            GrowthOutcome::NotReached {
                until,
                earliest: None,
                ..
            } => until,
            other => panic!("{other:?}"),
        };
        assert_eq!(until.date.as_deref(), Some("2028-11-29"));
        assert!(!found.is_known());
        let beyond = answer(
            "read_iops=500,data=8000K,buffer_pool=800K",
            "1G/day",
            Some(100.0),
        );
        let GrowthOutcome::NotMeasured(why) = &beyond.outcome else {
            panic!("{beyond:?}");
        };
        assert!(why.starts_with("data/memory is 10.0 today"), "{why}");
        // With more memory than measured, the throughput of today is not known, and is below 3000 operations/s later.
        let before = answer(
            "read_iops=500,data=800K,buffer_pool=800K",
            "1G/day",
            Some(3000.0),
        );
        let GrowthOutcome::NotMeasured(why) = &before.outcome else {
            panic!("{before:?}");
        };
        assert!(why.contains("measure a larger buffer pool"), "{why}");
    }
}
