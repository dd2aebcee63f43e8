//! Searches for the highest rate that keeps a limit: a question for each combination, and the rates as a factor.

use std::collections::BTreeMap;

use audit::SearchLimit;
use experiment::{Experiment, PlannedRun};
use report::Factor;
use samples::{RATE, Record};
use verdict::RateQuestion;

/// True if the runs of each combination are a search.
pub(crate) fn is_search(experiment: &Experiment) -> bool {
    let mut loads = experiment.plan().runs.iter().flat_map(|run| &run.loads);
    loads.any(|load| load.spec.find.is_some())
}

/// The question of each combination, in the order of the factors' levels; none if the experiment does not search.
pub(crate) fn rate_questions(experiment: &Experiment, time_is_spent: bool) -> Vec<RateQuestion> {
    let runs = experiment.plan().runs.iter();
    let mut runs: Vec<&PlannedRun> = runs.filter(|run| run.block == 1).collect();
    runs.sort_by_key(|run| {
        let places = experiment.factors().iter().map(|factor| {
            let level = run.combination.get(&factor.name)?;
            factor.levels.iter().position(|it| it == level)
        });
        places.collect::<Vec<Option<usize>>>()
    });
    let questions = runs.into_iter();
    let questions = questions.filter_map(|run| rate_question(experiment, run));
    questions
        .map(|question| RateQuestion {
            time_is_spent,
            ..question
        })
        .collect()
}

/// The question of the combination of a run, while time is left; `None` if it does not search.
pub(crate) fn rate_question(experiment: &Experiment, run: &PlannedRun) -> Option<RateQuestion> {
    let load = &run.loads.first()?.spec;
    let find = load.find.as_ref()?;
    Some(RateQuestion {
        combination: run.combination.clone(),
        limit: find.in_words(),
        quantile: find.quantile,
        limit_ns: find.limit.as_nanos() as u64,
        from_per_s: find.from_per_s,
        to_per_s: find.to_per_s,
        precision: find.precision,
        measured_s: load.duration.as_secs_f64(),
        runs_at_most: experiment.plan().repeats.blocks() as usize,
        time_is_spent: false,
    })
}

/// The limits that the runs have to keep, for the audit; none if the experiment does not search.
pub(crate) fn search_limits(experiment: &Experiment) -> Vec<SearchLimit> {
    let questions = rate_questions(experiment, false).into_iter();
    let limits = questions.map(|question| SearchLimit {
        combination: question.combination,
        text: question.limit,
        quantile: question.quantile,
        limit_ns: question.limit_ns,
    });
    limits.collect()
}

/// The combinations whose searches have an answer in these runs.
pub(crate) fn answered(
    questions: &[RateQuestion],
    runs: &[Record],
) -> Vec<BTreeMap<String, String>> {
    let answered = questions.iter().filter(|it| it.next_rate(runs).is_none());
    answered.map(|it| it.combination.clone()).collect()
}

/// The rates of these runs as a factor, its levels in ascending order.
pub(crate) fn rates(runs: &[Record]) -> Factor {
    let rates = runs.iter().filter_map(|it| it.header.combination.get(RATE));
    let mut levels: Vec<String> = rates.cloned().collect();
    let number = |level: &String| level.parse::<f64>().unwrap_or_default();
    levels.sort_by(|a, b| number(a).total_cmp(&number(b)));
    levels.dedup();
    Factor {
        name: RATE.to_owned(),
        levels,
    }
}

#[cfg(test)]
mod tests {
    use std::{cmp::Ordering, path::Path};

    use benchmarks::oltp::{OltpData, OltpLoad};
    use experiment::Overrides;
    use settings::Vocabulary;

    use super::*;

    fn experiment(find: &str) -> Experiment {
        let text = format!(
            "format = 1\nseed = 1\nrepeats = \"until decided\"\nat_most = 12\n\
             [matrix]\nlimit = [\"20ms\", \"5ms\"]\nconnections = [8, 4]\n[server]\nrun = \"mariadb-10.11\"\n\
             [data]\noltp = {{ tables = 1, table_size = 10 }}\n\
             [load]\noltp = {{ script = \"point_select\" }}\nconnections = \"{{connections}}\"\nduration = \"10s\"\n\
             warmup = \"1s\"\n{find}\n"
        );
        let vocabulary = Vocabulary {
            data: vec![&OltpData],
            loads: vec![&OltpLoad],
        };
        let path = Path::new("trial.toml");
        Experiment::parse(path, &text, &Overrides::default(), &vocabulary).unwrap()
    }

    #[test]
    fn each_combination_has_a_question_in_the_order_of_the_file() {
        let experiment = experiment("find = { p99 = \"{limit}\", from = 400 }");
        assert!(is_search(&experiment));
        let questions = rate_questions(&experiment, true);
        let places = questions.iter().map(|it| {
            let level = |factor: &str| it.combination[factor].as_str();
            (level("limit"), level("connections"))
        });
        assert_eq!(
            places.collect::<Vec<_>>(),
            [("20ms", "8"), ("20ms", "4"), ("5ms", "8"), ("5ms", "4")]
        );
        let last = &questions[3];
        assert_eq!(
            (last.limit.as_str(), last.limit_ns),
            ("p99 < 5 ms", 5_000_000)
        );
        assert_eq!((last.from_per_s, last.to_per_s), (Some(400.0), None));
        assert_eq!((last.measured_s, last.runs_at_most), (10.0, 12));
        assert!(last.time_is_spent);
        assert_eq!(last.next_rate(&[]), Some(400.0));
        assert!(answered(&questions, &[]).is_empty());
        let limits = search_limits(&experiment);
        assert_eq!(limits.len(), 4);
        assert_eq!(limits[3].combination, last.combination);
        assert_eq!(
            (limits[3].text.as_str(), limits[3].limit_ns),
            ("p99 < 5 ms", 5_000_000)
        );
        assert_eq!(limits[3].quantile.total_cmp(&0.99), Ordering::Equal);
    }
}
