//! The answers of searches for the highest rate that keeps a limit, one for each combination.
//!
//! ```text
//! flush 1: p99 < 20 ms up to 4.12k/s (3.98k/s to 4.20k/s); limit: CPU, 98 % busy (server 55 %, client 38 %, rest 5 %)
//! ```

use std::collections::{BTreeMap, BTreeSet};

use settings::Factor;
use verdict::Outcome;

use super::doubt::{appended, reason};
use crate::{grid::in_words, results::Results, search_answer::SearchAnswer};

/// The sentences of the answers, in the order of the combinations; none if the experiment does not search.
pub(crate) fn sentences(results: &Results) -> Vec<String> {
    let searches = results.searches.iter();
    searches.map(|it| search_sentence(results, it)).collect()
}

/// The same for these answers, with only the name of what limits them; `factors` give the order of the levels of a
/// combination.
pub fn short_search_sentences(factors: &[Factor], searches: &[SearchAnswer]) -> Vec<String> {
    let said = searches.iter().map(|it| {
        let limit = it.found.limited_by.as_ref();
        let limit = limit.map(|limit| format!("; limit: {}", limit.name));
        with_place(factors, searches, it, limit)
    });
    said.collect()
}

/// The answer of one of the searches with its combination and with what limits it.
pub fn search_sentence(results: &Results, search: &SearchAnswer) -> String {
    let limit = search.found.limited_by.as_ref();
    let limit = limit.map(|it| format!("; limit: {}, {}", it.name, it.evidence));
    with_place(&results.factors, &results.searches, search, limit)
}

fn with_place(
    factors: &[Factor],
    searches: &[SearchAnswer],
    search: &SearchAnswer,
    limit: Option<String>,
) -> String {
    let words = format!(
        "{}{}{}",
        search.found.in_words(),
        appended(doubt(search).as_deref()),
        limit.unwrap_or_default()
    );
    match place(factors, searches, &search.found.question.combination) {
        place if place.is_empty() => words,
        place => format!("{place}: {words}"),
    }
}

/// Why a decided answer is one about the machine as it was: `other programs used the machine (H14)`, in most of its runs.
fn doubt(search: &SearchAnswer) -> Option<String> {
    if search.found.outcome() == Outcome::Undecided {
        return None;
    }
    search.shared_machine.map(reason)
}

/// The levels that distinguish a combination from those of the other searches; empty for a single search.
pub(crate) fn place(
    factors: &[Factor],
    searches: &[SearchAnswer],
    combination: &BTreeMap<String, String>,
) -> String {
    let is_varied = |factor: &str| {
        let levels = searches.iter();
        let levels = levels.map(|it| it.found.question.combination.get(factor));
        levels.collect::<BTreeSet<_>>().len() > 1
    };
    let levels = factors.iter().filter_map(|factor| {
        let level = combination.get(&factor.name)?;
        is_varied(&factor.name).then(|| (factor.name.clone(), level.clone()))
    });
    in_words(&levels.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use stats::{Interval, RateAnswer};
    use verdict::{MaxRate, RateLimit, RateQuestion};

    use super::*;
    use crate::search_answer::testing;

    fn question(flush: &str) -> RateQuestion {
        testing::question(&[("flush", flush), ("rows", "1M")])
    }

    fn found(flush: &str) -> SearchAnswer {
        SearchAnswer {
            found: MaxRate {
                question: question(flush),
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
            },
            shared_machine: None,
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
        results.searches = vec![found("1"), found("2")];
        let words = "p99 < 20 ms up to 4.12k/s (3.98k/s to 4.20k/s); limit: CPU, 98 % busy";
        let of_two = search_sentence(&results, &results.searches[1]);
        assert_eq!(of_two, format!("flush 2: {words}"));
        results.searches.truncate(1);
        assert_eq!(sentences(&results), [words]);
    }

    #[test]
    fn a_search_without_a_run_is_undecided() {
        let mut results = Results::of_runs(Vec::new());
        results.searches = vec![SearchAnswer::of(&question("1"), &[])];
        let expected = "p99 < 20 ms: not answered yet, after 0 runs";
        let short = short_search_sentences(&results.factors, &results.searches);
        assert_eq!(short, [expected]);
        assert_eq!(sentences(&results), [expected]);
        assert_eq!(results.searches[0].found.outcome(), Outcome::Undecided);
    }
}
