//! Shortfalls of a run that came to its planned end: connections, operations and answers that are missing.

use std::collections::BTreeMap;

use blame::{Blame, Blamed};
use load::Outcome;
use protocol::hint_to_refusal;
use samples::{CONNECT, Connects, ErrorCount, OfferedLoad, PlannedEvent, Record};

use crate::events;

/// The requested and achieved operations of a run.
#[derive(Debug, Clone, Copy)]
pub struct RunOutcome<'a> {
    connects: &'a [Connects],
    errors: &'a [ErrorCount],
    offered: Option<&'a OfferedLoad>,
    events: &'a [PlannedEvent],
    /// Position in the plan, from 1.
    run: u32,
}

impl<'a> From<&'a Outcome> for RunOutcome<'a> {
    fn from(outcome: &'a Outcome) -> Self {
        Self {
            connects: &outcome.connects,
            errors: &outcome.errors,
            offered: Some(&outcome.offered),
            events: &[],
            run: 1,
        }
    }
}

impl<'a> From<&'a Record> for RunOutcome<'a> {
    fn from(record: &'a Record) -> Self {
        Self {
            connects: &record.connects,
            errors: &record.errors,
            offered: record.offered.as_ref(),
            events: &record.events,
            run: record.header.run,
        }
    }
}

/// The shortfalls of several runs; `None` if there are none. Operations that a missed rate left over are reported
/// separately.
pub fn shortcoming<'a>(runs: impl IntoIterator<Item = RunOutcome<'a>>) -> Option<Blamed> {
    let (mut asked, mut refused, mut unanswered) = (0, 0, 0);
    let mut refusal: Option<&ErrorCount> = None;
    let mut failed: BTreeMap<u16, (u64, &str)> = BTreeMap::new();
    let mut failed_events: Vec<(u32, &PlannedEvent)> = Vec::new();
    for run in runs {
        let errors: u64 = run.connects.iter().map(|it| it.errors).sum();
        if errors > 0 {
            asked += errors + run.connects.iter().map(|it| it.count).sum::<u64>();
            refused += errors;
            let mut refusals = run.errors.iter().filter(|it| it.operation == CONNECT);
            refusal = refusal.or_else(|| refusals.next());
        }
        for error in run.errors.iter().filter(|it| it.operation != CONNECT) {
            let remain = error.count - error.retried.min(error.count);
            // What a planned event causes is part of the question.
            if remain > 0 && !events::is_caused(run.events, error.number) {
                failed.entry(error.number).or_insert((0, &error.message)).0 += remain;
            }
        }
        let without_success = run.events.iter().filter(|it| it.has_failed());
        failed_events.extend(without_success.map(|event| (run.run, event)));
        let in_time = run.offered.filter(|offered| offered.shortfall.is_none());
        unanswered += in_time.map_or(0, |offered| offered.in_flight.max(offered.unfinished));
    }
    let mut found = Vec::new();
    if refused > 0 {
        let why = refusal.map_or("", |error| &error.message);
        let open = asked - refused;
        found.push(format!("{open} of {asked} connections were open: {why}"));
    }
    if !failed.is_empty() {
        found.push(failed_in_words(&failed));
    }
    if unanswered > 0 {
        found.push(format!(
            "{unanswered} operations had not finished when the run ended"
        ));
    }
    if let Some((run, first)) = failed_events.first() {
        let others = match failed_events.len() - 1 {
            0 => String::new(),
            others => format!(" (and {})", units::counted(others, "other event")),
        };
        found.push(format!(
            "event {} of run {run} {}: {}{others}",
            first.name,
            first.outcome.word(),
            first.message
        ));
    }
    let hint = refusal.and_then(|error| hint_to_refusal(error.number));
    let remain = (!failed.is_empty())
        .then(|| "the lines `error` of a run's record list them by operation".to_owned());
    (!found.is_empty()).then(|| {
        Blamed::new(Blame::Server, found.join("; "))
            .hint(hint)
            .hint(remain)
    })
}

/// The reason why a load that came to its planned end is not a result: no operation succeeded during the measurement.
pub(crate) fn no_result(outcome: &Outcome) -> Option<Blamed> {
    if outcome.succeeded > 0 {
        return None;
    }
    let none = "no operation succeeded while the run was measured, so there is no result";
    match shortcoming([RunOutcome::from(outcome)]) {
        Some(because) => {
            let message = format!("{none}: {because}");
            let blamed = Blamed::new(Blame::Server, message);
            Some(because.hints.into_iter().fold(blamed, Blamed::hint))
        }
        None if outcome.offered.due > 0 => Some(Blamed::new(
            Blame::Server,
            format!("{none}: the server answered none in time"),
        )),
        None => {
            let (because, hint) = match outcome.offered.rate_per_s {
                Some(_) => ("none was due", "the run is too short for its rate"),
                None => (
                    "none began in it",
                    "the run is too short for its pauses, or an operation that began before the run lasted longer \
                     than the whole run",
                ),
            };
            let message = format!("{none}: {because}");
            Some(Blamed::new(Blame::Input, message).hint(hint.to_owned()))
        }
    }
}

/// `statements failed: 12 with error 1213 (Deadlock found ...), 3 with error 1062 (...)`.
fn failed_in_words(failed: &BTreeMap<u16, (u64, &str)>) -> String {
    let numbers: Vec<String> = failed
        .iter()
        .map(|(number, (count, first))| match number {
            0 => format!("{count} found by the client ({first})"),
            number => format!("{count} with error {number} ({first})"),
        })
        .collect();
    format!("statements failed: {}", numbers.join(", "))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use load::Termination;
    use samples::{EventOutcome, PlannedAction};

    use super::*;

    fn offered(in_flight: u64) -> OfferedLoad {
        OfferedLoad {
            in_flight,
            ..OfferedLoad::of_closed_loop(100)
        }
    }

    fn error(operation: &str, number: u16, count: u64, retried: u64) -> ErrorCount {
        ErrorCount {
            operation: operation.to_owned(),
            number,
            message: "no".to_owned(),
            count,
            retried,
            ..ErrorCount::default()
        }
    }

    fn connects(count: u64, errors: u64) -> Connects {
        Connects {
            load: "oltp".to_owned(),
            count,
            errors,
            min_ns: 0,
            max_ns: 0,
            sum_ns: 0,
        }
    }

    #[test]
    fn what_did_not_happen_is_told() {
        let retried = [
            error("connect", 2013, 2, 2),
            error("read_write", 1213, 5, 5),
        ];
        let failed = [
            error("read_write", 1213, 5, 2),
            error("read_write", 0, 1, 0),
        ];
        let refused = [error("connect", 1203, 3, 0)];
        let cases = [
            (connects(4, 0), &retried[..], 0, None),
            (
                connects(4, 0),
                &failed,
                0,
                Some("statements failed: 1 found by the client (no), 3 with error 1213 (no)"),
            ),
            (
                connects(1, 3),
                &refused,
                0,
                Some("1 of 4 connections were open: no"),
            ),
            (
                connects(4, 0),
                &[],
                2,
                Some("2 operations had not finished when the run ended"),
            ),
        ];
        for (connects, errors, in_flight, expected) in cases {
            let found = shortcoming([RunOutcome {
                connects: &[connects],
                errors,
                offered: Some(&offered(in_flight)),
                events: &[],
                run: 1,
            }]);
            let message = found.as_ref().map(|blamed| blamed.message.as_str());
            assert_eq!(message, expected);
            if let Some(blamed) = found.filter(|_| errors == refused) {
                assert!(blamed.hints[0].contains("max_user_connections"));
            }
        }
    }

    #[test]
    fn an_event_that_failed_is_told_and_what_it_caused_is_planned() {
        let event = |action, outcome| PlannedEvent {
            name: "restart at noon".to_owned(),
            action,
            begin_s: Some(1.0),
            outcome,
            message: match outcome {
                EventOutcome::Done => String::new(),
                _ => "no".to_owned(),
            },
            ..PlannedEvent::default()
        };
        let said_of = |number, events: &[PlannedEvent]| {
            let run = RunOutcome {
                connects: &[connects(4, 0)],
                errors: &[error("read_write", number, 4, 0)],
                offered: Some(&offered(0)),
                events,
                run: 3,
            };
            shortcoming([run]).map(|blamed| blamed.message)
        };
        let said = |events: &[PlannedEvent]| said_of(0, events);
        assert_eq!(
            said(&[event(PlannedAction::Server, EventOutcome::Done)]),
            None
        );
        // Transactions lose against an ALTER TABLE that waits for its lock.
        for number in [1205, 1213, 1412, 1615] {
            assert_eq!(
                said_of(number, &[event(PlannedAction::Sql, EventOutcome::Done)]),
                None
            );
            assert!(said_of(number, &[event(PlannedAction::Server, EventOutcome::Done)]).is_some());
        }
        let client = "statements failed: 4 found by the client (no)";
        assert_eq!(
            said(&[event(PlannedAction::Sql, EventOutcome::Done)]).as_deref(),
            Some(client)
        );
        assert_eq!(
            said(&[event(PlannedAction::Server, EventOutcome::Failed)]).as_deref(),
            Some("event restart at noon of run 3 failed: no")
        );
    }

    #[test]
    fn a_run_in_which_nothing_began_names_what_was_too_long_for_it() {
        let cases = [
            (
                None,
                "none began in it",
                "began before the run lasted longer",
            ),
            (Some(0.1), "none was due", "too short for its rate"),
        ];
        for (rate_per_s, message, hint) in cases {
            let nothing = Outcome {
                ended: Termination::Planned,
                elapsed: Duration::from_secs(1),
                offered: OfferedLoad {
                    due: 0,
                    rate_per_s,
                    ..offered(0)
                },
                stages: Vec::new(),
                stop_why: None,
                connects: vec![connects(1, 0)],
                totals: Vec::new(),
                users: Vec::new(),
                succeeded: 0,
                unfinished: 0,
                errors: Vec::new(),
            };
            let blamed = no_result(&nothing).unwrap();
            assert!(blamed.message.ends_with(message), "{}", blamed.message);
            assert!(blamed.hints[0].contains(hint), "{:?}", blamed.hints);
        }
    }
}
