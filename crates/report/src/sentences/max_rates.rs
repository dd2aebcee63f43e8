//! The answers of searches for the highest rate that keeps a limit, one for each combination.
//!
//! ```text
//! flush 1: p99 < 20 ms up to 4.12k/s (3.98k/s to 4.20k/s); limit: CPU, 98 % busy (server 55 %, client 38 %, rest 5 %)
//! ```

use std::collections::{BTreeMap, BTreeSet};

use audit::Rule;
use verdict::{MaxRate, Outcome};

use super::doubt::{appended, mostly_shared, reason};
use crate::{grid::in_words, results::Results};

/// The answer of one search.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchAnswer {
    /// The answer in a sentence, with the combination and what limits it.
    pub sentence: String,
    /// Whether the limit is kept at a rate that is known; undecided without such a rate.
    pub outcome: Outcome,
    /// True if other programs used the machine in most of its runs.
    pub is_machine_shared: bool,
    /// True if the client could not send at a higher rate.
    pub is_client_limit: bool,
}

impl SearchAnswer {
    /// How to get a rate, or one with a narrower interval.
    pub fn remedy(&self) -> &'static str {
        if self.is_machine_shared {
            "measure again without the other programs, which used the machine in most of the runs; `dbdyno audit` names \
             them (H14)"
        } else if self.is_client_limit {
            "the client was at its limit: it needs more event loops (loops) or more CPUs"
        } else {
            "a larger at_most or a longer --duration gives a narrower interval"
        }
    }
}

/// The answers of an experiment's searches, in the order of its combinations; none if it does not search.
pub fn search_answers(results: &Results) -> Vec<SearchAnswer> {
    let found = max_rates(results).into_iter();
    found
        .map(|it| SearchAnswer {
            sentence: sentence(results, &it),
            outcome: it.outcome(),
            is_machine_shared: shared_machine(results, &it).is_some(),
            is_client_limit: it.is_client_limit(),
        })
        .collect()
}

pub(crate) fn max_rates(results: &Results) -> Vec<MaxRate<'_>> {
    let searches = results.searches.iter();
    searches.map(|it| it.answer(&results.runs)).collect()
}

/// The sentences of the answers.
pub(crate) fn sentences(results: &Results) -> Vec<String> {
    let found = max_rates(results);
    found.iter().map(|it| sentence(results, it)).collect()
}

/// The same with only the name of what limits them.
pub(crate) fn in_short(results: &Results) -> Vec<String> {
    let found = max_rates(results).into_iter();
    let said = found.map(|it| {
        let limit = it.limited_by.as_ref();
        let limit = limit.map(|limit| format!("; limit: {}", limit.name));
        with_place(results, &it, limit)
    });
    said.collect()
}

/// An answer with its combination and with what limits it.
pub(crate) fn sentence(results: &Results, found: &MaxRate<'_>) -> String {
    let limit = found.limited_by.as_ref();
    let limit = limit.map(|it| format!("; limit: {}, {}", it.name, it.evidence));
    with_place(results, found, limit)
}

fn with_place(results: &Results, found: &MaxRate<'_>, limit: Option<String>) -> String {
    let doubt = doubt(results, found);
    let words = format!(
        "{}{}{}",
        found.in_words(),
        appended(doubt.as_deref()),
        limit.unwrap_or_default()
    );
    match place(results, &found.question.combination) {
        place if place.is_empty() => words,
        place => format!("{place}: {words}"),
    }
}

/// Why a decided answer is one about the machine as it was: `other programs used the machine (H14)`, in most of its runs.
fn doubt(results: &Results, found: &MaxRate<'_>) -> Option<String> {
    if found.outcome() == Outcome::Undecided {
        return None;
    }
    shared_machine(results, found).map(reason)
}

/// The rule by which other programs used the machine, if they did so in most of the search's runs.
fn shared_machine(results: &Results, found: &MaxRate<'_>) -> Option<&'static Rule> {
    let own = results.runs.iter();
    let own = own.filter(|run| run.is_complete() && found.question.has(run));
    mostly_shared(own.map(audit::shared_machine))
}

/// The levels that distinguish a combination from those of the other searches.
fn place(results: &Results, combination: &BTreeMap<String, String>) -> String {
    let is_varied = |factor: &str| {
        let searches = results.searches.iter();
        let levels = searches.map(|it| it.combination.get(factor));
        levels.collect::<BTreeSet<_>>().len() > 1
    };
    let levels = results.factors.iter().filter_map(|factor| {
        let level = combination.get(&factor.name)?;
        is_varied(&factor.name).then(|| (factor.name.clone(), level.clone()))
    });
    in_words(&levels.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use settings::Factor;
    use stats::{Interval, RateAnswer};
    use verdict::{RateLimit, RateQuestion};

    use super::*;

    fn question(flush: &str) -> RateQuestion {
        RateQuestion {
            combination: BTreeMap::from([
                ("flush".to_owned(), flush.to_owned()),
                ("rows".to_owned(), "1M".to_owned()),
            ]),
            limit: "p99 < 20 ms".to_owned(),
            quantile: 0.99,
            limit_ns: 20_000_000,
            from_per_s: None,
            to_per_s: None,
            precision: 0.05,
            measured_s: 10.0,
            runs_at_most: 40,
            time_is_spent: false,
        }
    }

    fn found(question: &RateQuestion) -> MaxRate<'_> {
        MaxRate {
            question,
            answer: Some(RateAnswer::Found(Interval {
                estimate: 4_120.0,
                low: 3_980.0,
                high: 4_200.0,
            })),
            runs: 20,
            limited_by: Some(RateLimit {
                name: "CPU",
                evidence: "98 % busy".to_owned(),
            }),
        }
    }

    #[test]
    fn an_answer_names_its_combination_and_its_limit() {
        let mut results = Results::of_runs(Vec::new());
        let factor = |name: &str, levels: &[&str]| Factor {
            name: name.to_owned(),
            levels: levels.iter().map(|&it| it.to_owned()).collect(),
        };
        results.factors = vec![factor("flush", &["1", "2"]), factor("rows", &["1M"])];
        results.searches = vec![question("1"), question("2")];
        let words = "p99 < 20 ms up to 4.12k/s (3.98k/s to 4.20k/s); limit: CPU, 98 % busy";
        let of_two = sentence(&results, &found(&results.searches[1]));
        assert_eq!(of_two, format!("flush 2: {words}"));
        results.searches.truncate(1);
        let alone = sentence(&results, &found(&results.searches[0]));
        assert_eq!(alone, words);
    }

    #[test]
    fn a_search_without_a_run_is_undecided() {
        let mut results = Results::of_runs(Vec::new());
        results.searches = vec![question("1")];
        let expected = "p99 < 20 ms: not answered yet, after 0 runs";
        assert_eq!(in_short(&results), [expected]);
        let answers = search_answers(&results);
        assert_eq!(answers[0].sentence, expected);
        assert_eq!(answers[0].outcome, Outcome::Undecided);
    }

    #[test]
    fn the_remedy_is_about_what_prevented_an_answer() {
        let remedy = |is_machine_shared, is_client_limit| {
            let answer = SearchAnswer {
                sentence: String::new(),
                outcome: Outcome::Undecided,
                is_machine_shared,
                is_client_limit,
            };
            answer.remedy()
        };
        assert!(remedy(true, true).starts_with("measure again without the other programs"));
        assert!(remedy(false, true).contains("more event loops"));
        assert!(!remedy(false, false).contains("event loops"));
    }
}
