//! The expectations of an experiment as JUnit XML, which CI systems show as tests.

use maud::html;
use samples::printable;
use verdict::Outcome;

use crate::{expectations::checked_expectations, results::Results};

/// A test case for each expectation of each combination, ending with a line feed: a broken one is a failure, one that these
/// runs cannot decide is skipped. Without expectations there are no cases.
///
/// Source: the elements that JUnit's Ant task writes, as GitLab, Jenkins and GitHub's actions read them.
pub fn junit(results: &Results) -> String {
    let checked = checked_expectations(results);
    let count = |outcome: Outcome| checked.iter().filter(|it| it.outcome == outcome).count();
    let (failures, skipped) = (count(Outcome::Broken), count(Outcome::Undecided));
    let document = html! {
        testsuites {
            testsuite name=(printable(&results.name)) tests=(checked.len()) failures=(failures) errors="0" skipped=(skipped) {
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
