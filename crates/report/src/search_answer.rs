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

/// A search for tests.
#[cfg(test)]
pub(crate) mod testing {
    use verdict::RateQuestion;

    /// One for the highest rate whose p99 is below 20 ms, at these levels of factors.
    pub(crate) fn question(levels: &[(&str, &str)]) -> RateQuestion {
        let levels = levels.iter();
        let levels = levels.map(|&(factor, level)| (factor.to_owned(), level.to_owned()));
        RateQuestion {
            combination: levels.collect(),
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
}

#[cfg(test)]
mod tests {
    use stats::RateAnswer;

    use super::*;

    #[test]
    fn the_remedy_is_about_what_prevented_an_answer() {
        let remedy = |is_machine_shared: bool, is_client_limit: bool| {
            let refused = RateAnswer::NotOffered { rate_per_s: 10.0 };
            let answer = SearchAnswer {
                found: MaxRate {
                    question: testing::question(&[]),
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
