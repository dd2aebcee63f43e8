//! The expectations and the searches of an experiment as JUnit XML, which CI systems show as tests.

use maud::html;
use samples::printable;
use verdict::Outcome;

use crate::{
    expectations::checked_expectations,
    results::Results,
    sentences::max_rates::{place, search_sentence},
};

/// What a CI system shows as a test.
struct Case {
    name: String,
    outcome: Outcome,
    /// The outcome in a sentence.
    sentence: String,
}

/// A test case for each expectation of each combination, and for each search for the highest rate that keeps a limit,
/// ending with a line feed: a broken expectation and a limit that no rate keeps are failures, and what these runs cannot
/// decide is skipped. A plan that was not carried out is an error beside them. Without expectations and searches there are
/// no cases.
///
/// Source: the elements that JUnit's Ant task writes, as GitLab, Jenkins and GitHub's actions read them.
pub fn junit(results: &Results) -> String {
    let cases = cases(results);
    let count = |outcome: Outcome| cases.iter().filter(|it| it.outcome == outcome).count();
    let (failures, skipped) = (count(Outcome::Broken), count(Outcome::Undecided));
    let complete = results.first_loads().filter(|run| run.is_complete());
    let complete = complete.count();
    let planned = results.planned_runs as usize;
    // A combination without a run has no figure that could break a bound.
    let is_incomplete = complete < planned && !cases.is_empty();
    let errors = usize::from(is_incomplete);
    let document = html! {
        testsuites {
            testsuite name=(printable(&results.name)) tests=(cases.len() + errors) failures=(failures) errors=(errors) skipped=(skipped) {
                @if is_incomplete {
                    testcase classname=(printable(&results.name)) name="all planned runs are complete" {
                        error message=(format!("{complete} of {planned} planned runs are complete")) {}
                    }
                }
                @for it in &cases {
                    testcase classname=(printable(&results.name)) name=(printable(&it.name)) {
                        @match it.outcome {
                            Outcome::Held => {},
                            Outcome::Broken => failure message=(printable(&it.sentence)) {},
                            Outcome::Undecided => skipped message=(printable(&it.sentence)) {},
                        }
                    }
                }
            }
        }
    };
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{}\n",
        document.into_string()
    )
}

fn cases(results: &Results) -> Vec<Case> {
    let named = |what: &str, place: &str| match place {
        "" => what.to_owned(),
        place => format!("{what} at {place}"),
    };
    let expected = checked_expectations(results).into_iter().map(|it| Case {
        name: named(&it.expected, &it.place),
        outcome: it.outcome,
        sentence: it.in_words(),
    });
    let searched = results.searches.iter().map(|it| {
        let question = &it.found.question;
        let limit = format!("highest rate with {}", question.limit);
        Case {
            name: named(
                &limit,
                &place(&results.factors, &results.searches, &question.combination),
            ),
            outcome: it.found.outcome(),
            sentence: search_sentence(results, it),
        }
    });
    expected.chain(searched).collect()
}
