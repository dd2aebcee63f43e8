//! Rule T04: the server and the client counted different numbers of statements.

use samples::{Interval, Record};
use units::percent;

use crate::{
    finding::{Finding, Level, Outcome, missing, no_subject},
    rule::{Judge, Rule},
    run::Run,
    unevenness::unevenness,
};

/// Largest difference between the two, as a share.
const APART: f64 = 0.01;
/// Largest share of the client's statements outside the readings that is allowed for; above it the counts are not
/// compared. Other load on the machine does not excuse a larger difference either.
const UNCOVERED: f64 = 0.05;
/// Largest number of statements that a connection sends before its first and after its last operation.
const PER_CONNECTION: f64 = 8.0;

pub(super) const RULE: Rule = Rule {
    id: "T04",
    name: "the server and the client count the same number of statements",
    found: "the server and the client counted different numbers of statements",
    measures: "The number of statements that were answered in all phases and all loads of the run, compared with the growth of the server's counter Questions over the same time.",
    threshold: "fail if the two numbers differ by more than 1 %. Three kinds of statements do not count as a difference: statements that dbdyno sends to connect or to observe, statements that a proxy adds or answers itself, and statements that were executed before the server's counter was first read, or after it was last read. Not evaluated if the difference is at most 5 % on a disturbed machine. Not evaluated if more than 5 % of the statements were executed before the server's counter was first read, or after it was last read",
    source: "proposed here; users of sysbench and tpcc-mysql make the same check by hand, with Com_ counters",
    consequence: "Clients other than dbdyno's used the server, statements were lost, or the client does not count what the server executes.",
    remedy: "Find the other clients in the server's process list, and measure again without them.",
    judge: Judge::Run(judge),
};

fn judge(run: &Run<'_>) -> Outcome {
    let readings = &run.record.server_status;
    if readings.is_empty() {
        return Err(missing("the server's counters"));
    }
    if run.record.loaded.is_some() {
        return Err(no_subject(
            "a table is loaded with one statement for many rows",
        ));
    }
    let turns = run.record.side_by_side.as_ref();
    if turns.is_some_and(|it| it.on_one_server) {
        return Err(no_subject(
            "the server executed the statements of other combinations in the pauses of this one",
        ));
    }
    if run.restarted_the_server() {
        return Err(no_subject(
            "a planned event restarted the server, which resets its counters",
        ));
    }
    // The server counts the statements of all loads of the run.
    let loads: Vec<&Record> = run.loads()?.collect();
    let intervals = || loads.iter().flat_map(|load| &load.intervals);
    let by_client: u64 = intervals().map(Interval::statements_back).sum();
    let errors = loads.iter().flat_map(|load| &load.errors);
    let failed: u64 = errors.map(|error| error.count).sum();
    if by_client == 0 {
        return Err(missing("answered statements"));
    }
    // Only the time that the readings cover can be compared; the first reading may come late.
    let begin_s = readings.iter().map(|it| it.t_s).fold(f64::MAX, f64::min);
    let end_s = readings
        .iter()
        .map(|it| it.t_s + it.length_s)
        .fold(0.0, f64::max);
    let outside: f64 = intervals()
        .map(|it| it.statements_back() as f64 * outside(it, begin_s, end_s))
        .sum();
    if outside > UNCOVERED * by_client as f64 {
        return Err(missing(
            "the server's counters from the start to the end of the run",
        ));
    }
    let by_server: f64 = readings
        .iter()
        .filter_map(|it| it.counters.get("Questions"))
        .sum();
    let own = run
        .record
        .server_observation
        .as_ref()
        .map_or(0, |how| how.statements);
    // Statements of an operation that failed halfway are counted by the server only.
    let own = own as f64 + PER_CONNECTION * f64::from(run.connections());
    let more = by_server - by_client as f64;
    // The end of each connection is a question, too: many where each operation has a connection of its own.
    let logins = readings
        .iter()
        .filter_map(|it| it.counters.get("Connections"));
    let chance = own
        + failed as f64 * statements_per_operation(&loads)
        + logins.sum::<f64>()
        + of_proxy(run, &["injected before", "injected after"]);
    let apart = more.abs() / by_client as f64;
    let less_at_most = APART * by_client as f64 + outside + of_proxy(run, &["answered", "refused"]);
    let level = if more < -less_at_most || more > APART * by_client as f64 + chance {
        if let Some(why) = unevenness(run).filter(|_| apart < UNCOVERED) {
            return Err(missing(why));
        }
        Level::Fail
    } else {
        Level::Pass
    };
    let of_loads = match loads.len() {
        1 => String::new(),
        several => format!(" of {several} loads"),
    };
    let evidence = format!(
        "the client counted {by_client} statements{of_loads}, and the server counted {by_server:.0}: a difference of {}",
        percent(apart)
    );
    Ok(Finding::new(level, evidence)
        .with("client_statements", by_client as f64)
        .with("server_questions", by_server))
}

/// Statements to which a proxy did one of these.
fn of_proxy(run: &Run<'_>, changes: &[&str]) -> f64 {
    let all = run.record.proxy.iter().flat_map(|proxy| &proxy.changes);
    let these = all.filter(|it| changes.contains(&it.change.as_str()));
    these.map(|it| it.count as f64).sum()
}

/// The share of an interval that the readings do not cover.
fn outside(interval: &Interval, begin_s: f64, end_s: f64) -> f64 {
    let (from_s, to_s) = (interval.t_s, interval.t_s + interval.length_s);
    let covered_s = (to_s.min(end_s) - from_s.max(begin_s)).max(0.0);
    if interval.length_s > 0.0 {
        1.0 - (covered_s / interval.length_s).min(1.0)
    } else {
        0.0
    }
}

fn statements_per_operation(loads: &[&Record]) -> f64 {
    let intervals = || loads.iter().flat_map(|load| &load.intervals);
    let operations: u64 = intervals().map(Interval::succeeded).sum();
    let all: u64 = intervals().map(Interval::statements_back).sum();
    all as f64 / operations.max(1) as f64
}

#[cfg(test)]
mod tests {
    use samples::{ProxyChange, ProxyWork};

    use super::*;
    use crate::fixture::*;

    #[test]
    fn found() {
        for (per_s, part) in [
            (1100.0, "a difference of 10 %"),
            (900.0, "a difference of 10 %"),
        ] {
            let outcome = judged(&RULE, |record| counter(record, "Questions", per_s));
            assert_found(&outcome, Level::Fail, part);
        }
    }

    #[test]
    fn passes() {
        assert_found(
            &judged(&RULE, |_| {}),
            Level::Pass,
            "the client counted 140002 statements",
        );
    }

    #[test]
    fn a_server_of_several_combinations_counts_those_of_the_others() {
        let outcome = judged(&RULE, |record| {
            counter(record, "Questions", 2000.0);
            in_turns(record);
            record.side_by_side.as_mut().unwrap().on_one_server = true;
        });
        assert_no_subject(&outcome);
    }

    /// The server has 10 % more than the client: statements of a script of a proxy, or the ends of connections.
    #[test]
    fn statements_of_a_proxy_and_ends_of_connections_are_the_servers() {
        let injected = |count| ProxyWork {
            changes: vec![ProxyChange {
                digest: "SELECT ?".to_owned(),
                change: "injected before".to_owned(),
                count,
            }],
            ..ProxyWork::default()
        };
        let more = |record: &mut Record| counter(record, "Questions", 1100.0);
        let judged_with = |count| {
            judged(&RULE, |record| {
                more(record);
                record.proxy = Some(injected(count));
            })
        };
        assert_eq!(level(&judged_with(14_000)), Level::Pass);
        assert_eq!(level(&judged_with(7_000)), Level::Fail);
        let reconnecting = judged(&RULE, |record| {
            more(record);
            counter(record, "Connections", 100.0);
        });
        assert_eq!(level(&reconnecting), Level::Pass, "{reconnecting:?}");
        let answered = judged(&RULE, |record| {
            counter(record, "Questions", 900.0);
            let mut work = injected(14_000);
            work.changes[0].change = "answered".to_owned();
            record.proxy = Some(work);
        });
        assert_eq!(level(&answered), Level::Pass, "{answered:?}");
    }

    /// Two loads of one run, of which the server counts the statements of both.
    #[test]
    fn the_other_load_of_a_run_is_no_other_client() {
        let load = |name: &str, other: &str| {
            let mut record = healthy();
            counter(&mut record, "Questions", 2000.0);
            let levels = &mut record.header.combination;
            levels.insert("load".to_owned(), name.to_owned());
            record.header.beside = vec![other.to_owned()];
            record
        };
        let both = [load("oltp", "batch"), load("batch", "oltp")];
        let judged = judged_together(&RULE, &both, over(&[]));
        assert_found(&judged, Level::Pass, "280004 statements of 2 loads");
        let alone = judged_together(&RULE, &both[..1], over(&[]));
        assert_missing(&alone, "the other loads");
    }

    #[test]
    fn counters_that_nobody_read_are_not_evaluated() {
        assert_missing(
            &judged(&RULE, |record| record.server_status.clear()),
            "counters",
        );
        let outcome = judged(&RULE, |record| record.server_status.truncate(70));
        assert_missing(&outcome, "to the end");
    }

    /// The first reading comes 2 s after the load began, which misses 1.4 % of the client's count.
    #[test]
    fn a_late_first_reading_is_honest() {
        let outcome = judged(&RULE, |record| {
            let first = &mut record.server_status[0];
            let late = 2.0 / first.length_s;
            first.t_s += 2.0;
            first.length_s -= 2.0;
            let questions = first.counters.get_mut("Questions").unwrap();
            *questions *= 1.0 - late;
        });
        assert_eq!(level(&outcome), Level::Pass, "{outcome:?}");
    }
}
