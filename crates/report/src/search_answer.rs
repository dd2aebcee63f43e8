//! The answer of a search for the highest rate that keeps a limit, decided once for all outputs.

use audit::{Rule, mostly_shared};
use samples::Record;
use verdict::{MaxRate, RateQuestion};

/// The answer of one search.
#[derive(Debug, Clone)]
pub struct SearchAnswer {
    /// The rate and what prevents a higher one, as far as they are known.
    pub found: MaxRate,
    /// The rule by which other programs used the machine, if they did so in most of its runs.
    pub(crate) shared_machine: Option<&'static Rule>,
}

impl SearchAnswer {
    /// The answer of these runs, which may hold runs of other combinations.
    pub fn of(question: &RateQuestion, runs: &[Record]) -> Self {
        let own = runs.iter();
        let own = own.filter(|run| run.is_complete() && question.has(run));
        Self {
            found: question.answer(runs),
            shared_machine: mostly_shared(own.map(audit::shared_machine)),
        }
    }

    /// How to get a rate, or one with a narrower interval.
    pub fn remedy(&self) -> &'static str {
        if self.shared_machine.is_some() {
            "measure again without the other programs, which used the machine in most of the runs; `dbdyno audit` names \
             them (H14)"
        } else if self.found.is_client_limit() {
            "the client was at its limit: it needs more event loops (loops) or more CPUs"
        } else {
            "a larger at_most or a longer --duration gives a narrower interval"
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use stats::RateAnswer;

    use super::*;

    #[test]
    fn the_remedy_is_about_what_prevented_an_answer() {
        let remedy = |is_machine_shared: bool, is_client_limit: bool| {
            let question = RateQuestion {
                combination: BTreeMap::new(),
                limit: "p99 < 20 ms".to_owned(),
                quantile: 0.99,
                limit_ns: 20_000_000,
                from_per_s: None,
                to_per_s: None,
                precision: 0.05,
                measured_s: 10.0,
                runs_at_most: 40,
                time_is_spent: false,
            };
            let refused = RateAnswer::NotOffered { rate_per_s: 10.0 };
            let answer = SearchAnswer {
                found: MaxRate {
                    question,
                    answer: is_client_limit.then_some(refused),
                    runs: 2,
                    limited_by: None,
                },
                shared_machine: audit::rule("H14").filter(|_| is_machine_shared),
            };
            answer.remedy()
        };
        assert!(remedy(true, true).starts_with("measure again without the other programs"));
        assert!(remedy(false, true).contains("more event loops"));
        assert!(!remedy(false, false).contains("event loops"));
    }
}
