//! A load that has ended, and what the end of one load of a run is for the others.

use blame::{Blame, Blamed};
use load::{Failure, Outcome, Termination};
use protocol::NO_SUCH_TABLE;

use crate::run::shortcoming::no_result;

/// A load that has ended, complete or not.
pub(crate) struct LoadOutcome {
    /// `None` if it did not begin.
    pub outcome: Option<Outcome>,
    /// The end of the load in words; an error if it was incomplete or gave no result, or if another load of the run was
    /// or did.
    pub ended: Result<String, Blamed>,
}

impl LoadOutcome {
    /// A load with what became of it.
    pub(crate) fn of(outcome: Result<Outcome, Blamed>) -> Self {
        match outcome {
            Ok(outcome) => Self {
                ended: how_it_ended(&outcome),
                outcome: Some(outcome),
            },
            Err(error) => Self {
                outcome: None,
                ended: Err(error),
            },
        }
    }
}

/// The error because of which a run is incomplete, if it is.
pub(crate) fn first_error(mut driven: Vec<LoadOutcome>) -> Option<Blamed> {
    let failed = first_failed(&driven)?;
    driven.swap_remove(failed).ended.err()
}

/// The load because of which a run is incomplete, if it is: the first that failed by itself.
fn first_failed(driven: &[LoadOutcome]) -> Option<usize> {
    let is_own =
        |it: &LoadOutcome| matches!(&it.ended, Err(error) if error.blame != Blame::Interrupted);
    let own = driven.iter().position(is_own);
    own.or_else(|| driven.iter().position(|it| it.ended.is_err()))
}

/// The records of loads that run at the same time are complete together: where one is not, the others say so. The errors of
/// several loads name them, `load batch` or `run of flush=2`.
pub(super) fn end_together(driven: &mut [LoadOutcome], names: &[String]) {
    let (true, Some(first)) = (driven.len() > 1, first_failed(driven)) else {
        return;
    };
    let error = driven[first].ended.as_ref().err();
    let own = error.filter(|error| error.blame != Blame::Interrupted);
    let failed = own.map(ToString::to_string);
    for (driven, name) in driven.iter_mut().zip(names) {
        match (&mut driven.ended, &failed) {
            (Err(error), _) if error.blame != Blame::Interrupted => {
                error.message = format!("{name}: {}", error.message);
            }
            (ended, Some(why)) => {
                let why = format!("ended with the {}: {why}", names[first]);
                *ended = Err(Blamed::new(Blame::Interrupted, why));
            }
            (ended, None) => *ended = Err(Blamed::new(Blame::Interrupted, "interrupted")),
        }
    }
}

/// The end of a load in words, if it ended as planned and gave a result.
fn how_it_ended(outcome: &Outcome) -> Result<String, Blamed> {
    match &outcome.ended {
        Termination::Planned => {
            if let Some(nothing) = no_result(outcome) {
                return Err(nothing);
            }
            let mut why = "as planned".to_owned();
            if let Some(stop) = &outcome.stop_why {
                why.push_str(&format!("; {stop}"));
            }
            if outcome.unfinished > 0 {
                why.push_str(&format!(
                    "; {} operations had not finished when the drain ended",
                    outcome.unfinished
                ));
            }
            if outcome.offered.not_started > 0 {
                why.push_str(&format!(
                    "; {} operations that were due had not begun",
                    outcome.offered.not_started
                ));
            }
            Ok(why)
        }
        Termination::Interrupted => Err(Blamed::new(Blame::Interrupted, "interrupted")),
        Termination::ServerLost(failure) => Err(Blamed::new(
            Blame::Server,
            format!("the server went away: {failure}"),
        )),
        Termination::Failed { failure, .. } if failure.is_of_input => {
            Err(Blamed::new(Blame::Input, failure))
        }
        Termination::Failed { operation, failure } => Err(stopped_by(operation, failure)),
    }
}

/// The error of a load that a failed statement ended. Without its tables, every statement of a load fails, so to continue
/// is no remedy.
fn stopped_by(operation: &str, failure: &Failure) -> Blamed {
    let message = format!("{operation}: error {}: {failure}", failure.number);
    let hint = "on_error = \"count\" or \"retry\" under [load] continues after an error";
    let can_continue = failure.number != NO_SUCH_TABLE;
    Blamed::new(Blame::Server, message)
        .hint(can_continue.then(|| hint.to_owned()))
        .caused_by(failure.number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn driven(ended: Result<&str, Blame>) -> LoadOutcome {
        LoadOutcome {
            outcome: None,
            ended: ended
                .map(str::to_owned)
                .map_err(|blame| Blamed::new(blame, "because")),
        }
    }

    #[test]
    fn only_a_load_with_tables_can_continue_after_an_error() {
        let hints = |number: u16| {
            let failure = Failure {
                number,
                ..Failure::of_client("refused".to_owned())
            };
            let error = stopped_by("read_write", &failure);
            let message = format!("read_write: error {number}: refused");
            assert_eq!((error.message, error.server_error), (message, Some(number)));
            error.hints
        };
        assert!(hints(1054)[0].starts_with("on_error = "));
        assert!(hints(NO_SUCH_TABLE).is_empty());
    }

    type Ends = [Result<&'static str, Blame>; 2];

    #[test]
    fn the_load_that_failed_is_named_by_the_others() {
        let cases: [(Ends, [&str; 2]); 4] = [
            ([Ok("as planned"), Ok("as planned")], ["as planned"; 2]),
            (
                [Ok("as planned"), Err(Blame::Server)],
                ["ended with the load b: because", "load b: because"],
            ),
            (
                [Err(Blame::Interrupted), Err(Blame::Server)],
                ["ended with the load b: because", "load b: because"],
            ),
            (
                [Ok("as planned"), Err(Blame::Interrupted)],
                ["interrupted"; 2],
            ),
        ];
        for (ended, expected) in cases {
            let mut both = ended.map(driven);
            end_together(&mut both, &["load a", "load b"].map(str::to_owned));
            let words = both.map(|it| match it.ended {
                Ok(words) => words,
                Err(error) => error.to_string(),
            });
            assert_eq!(words, expected);
        }
        let mut alone = [driven(Err(Blame::Server))];
        end_together(&mut alone, &["load a".to_owned()]);
        assert_eq!(alone[0].ended.as_ref().unwrap_err().message, "because");
    }
}
