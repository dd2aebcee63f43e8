//! The expectations of an experiment as JUnit XML, which CI systems show as tests.

use maud::html;
use samples::printable;
use verdict::Outcome;

use crate::{expectations::checked_expectations, results::Results};

/// A test case for each expectation of each combination, ending with a line feed: a broken one is a failure, one that these
/// runs cannot decide is skipped. A plan that was not carried out is an error beside them. Without expectations there are no
/// cases.
///
/// Source: the elements that JUnit's Ant task writes, as GitLab, Jenkins and GitHub's actions read them.
pub fn junit(results: &Results) -> String {
    let checked = checked_expectations(results);
    let count = |outcome: Outcome| checked.iter().filter(|it| it.outcome == outcome).count();
    let (failures, skipped) = (count(Outcome::Broken), count(Outcome::Undecided));
    let complete = results.first_loads().filter(|run| run.is_complete());
    let complete = complete.count();
    let planned = results.planned_runs as usize;
    // A combination without a run has no figure that could break a bound.
    let is_incomplete = complete < planned && !checked.is_empty();
    let errors = usize::from(is_incomplete);
    let document = html! {
        testsuites {
            testsuite name=(printable(&results.name)) tests=(checked.len() + errors) failures=(failures) errors=(errors) skipped=(skipped) {
                @if is_incomplete {
                    testcase classname=(printable(&results.name)) name="all planned runs are complete" {
                        error message=(format!("{complete} of {planned} planned runs are complete")) {}
                    }
                }
                @for it in &checked {
                    @let name = match it.place.as_str() {
                        "" => it.expected.clone(),
                        place => format!("{} at {place}", it.expected),
                    };
                    testcase classname=(printable(&results.name)) name=(printable(&name)) {
                        @match it.outcome {
                            Outcome::Held => {},
                            Outcome::Broken => failure message=(printable(&it.in_words())) {},
                            Outcome::Undecided => skipped message=(printable(&it.in_words())) {},
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
