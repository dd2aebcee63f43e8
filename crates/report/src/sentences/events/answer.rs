//! The answer of an experiment that asks what its planned events cost.
//!
//! ```text
//! ALTER TABLE at 30 s: from 35 operations lost (change column instantly, version mariadb-10.11; took 0.1 s) to 13.5k
//! (change rebuild in place, version mysql-8.0.33; took 21.8 s).
//! ```

use units::{counted, moment};

use super::{
    overview::EventOverview,
    summary::{EventSummary, UNKNOWN, operations},
};
use crate::{results::Results, text::capital::capitalised};

/// What events cost, where this is the question.
pub(crate) struct EventAnswer<'e> {
    /// In the order of their times; at least one.
    pub(crate) events: &'e [EventOverview],
}

impl<'e> EventAnswer<'e> {
    /// `None` where no run had an event, or where the author asks for something else, to which events are a condition.
    pub(crate) fn of(results: &Results, events: &'e [EventOverview]) -> Option<Self> {
        let is_question = !events.is_empty() && !results.asks_by_name();
        is_question.then_some(Self { events })
    }

    /// A sentence for each event: its cost, or the range of it over the combinations.
    pub(crate) fn leads(&self) -> Vec<String> {
        self.events.iter().map(lead).collect()
    }

    /// What the executions show of the operations lost, and what they do not; `None` with one execution of each.
    ///
    /// ```text
    /// Operations lost: the 95 % interval contains 0 in 10 of 11 combinations; more repeats narrow it. They differ most
    /// between the executions of change index in place, version mysql-5.6: 451 to 7.04k.
    /// ```
    pub(crate) fn confidence(&self) -> Option<String> {
        let all = self.events.iter().flat_map(|it| &it.summaries);
        let succeeded = all.filter(|it| !it.always_failed());
        let repeated: Vec<(&EventSummary, (f64, f64))> = succeeded
            .filter_map(|it| Some((it, it.lost?.interval?)))
            .collect();
        let spreads = repeated.iter().filter_map(|(it, _)| {
            let (low, high) = range(&it.lost_by_run)?;
            Some((*it, low, high))
        });
        let (widest, low, high) =
            spreads.max_by(|(_, a, b), (_, c, d)| (b - a).total_cmp(&(d - c)))?;
        let contains_0 = repeated
            .iter()
            .filter(|(_, (low, high))| *low <= 0.0 && *high >= 0.0);
        let (unsure, repeated) = (contains_0.count(), repeated.len());
        let of = match self.events.len() {
            _ if repeated == 1 => String::new(),
            1 => format!(" in {unsure} of {repeated} combinations"),
            _ => format!(" in {unsure} of {repeated} cases"),
        };
        let interval = match unsure {
            0 => "no 95 % interval contains 0.".to_owned(),
            _ => format!("the 95 % interval contains 0{of}; more repeats narrow it."),
        };
        let differ = match (repeated, self.events.len()) {
            (1, _) => "They differ between the executions".to_owned(),
            (_, 1) => format!(
                "They differ most between the executions of {}",
                widest.combination()
            ),
            _ => format!(
                "They differ most between the executions of {}",
                widest.subject()
            ),
        };
        let (low, high) = (operations(low), operations(high));
        Some(format!(
            "Operations lost: {interval} {differ}: {low} to {high}."
        ))
    }

    /// The costs as clauses for a few lines: of each event the highest and the lowest, then all others.
    pub(crate) fn clauses(&self) -> Vec<String> {
        let (mut most, mut least, mut rest) = (Vec::new(), Vec::new(), Vec::new());
        for event in self.events {
            let known = event.by_loss();
            let (first, last) = match known[..] {
                [(first, _), .., (last, _)] => (first, last),
                _ => {
                    let is_only = self.events.len() == 1;
                    rest.extend(event.summaries.iter().map(|it| {
                        if is_only {
                            it.sentence()
                        } else {
                            clause(event, it)
                        }
                    }));
                    continue;
                }
            };
            most.push(format!("Most: {}", clause(event, last)));
            least.push(format!("Least: {}", clause(event, first)));
            let ends = [first.place, last.place];
            let others = event
                .summaries
                .iter()
                .filter(|it| !ends.contains(&it.place));
            rest.extend(others.map(|it| clause(event, it)));
        }
        [most, least, rest].concat()
    }
}

/// `ALTER TABLE at 30 s with version mysql-8.0.33: 13.5k operations lost, took 21.8 s, throughput at 48 %, back at once`.
fn clause(event: &EventOverview, summary: &EventSummary) -> String {
    if summary.lost.is_none() {
        return summary.sentence();
    }
    let during = summary.during_in_short();
    let parts = [
        Some(lost(summary)),
        summary.took_s.map(|it| format!("took {}", moment(it.mean))),
        during.map(|share| format!("throughput at {share}")),
        summary.recovery_in_clause(),
        summary.failed_in_short(),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let with = match summary.combination() {
        none if none.is_empty() => none,
        combination => format!(" with {combination}"),
    };
    format!("{}{with}: {}", event.title, parts.join(", "))
}

/// The cost of an event in one sentence, or its range over the combinations, and what did not succeed.
fn lead(event: &EventOverview) -> String {
    if let [only] = event.summaries.as_slice() {
        let sentence = only.sentence();
        // A sentence about one of several combinations begins with the name of a factor.
        return if only.levels.is_empty() {
            capitalised(&sentence)
        } else {
            sentence
        };
    }
    let known = event.by_loss();
    let lost = match known[..] {
        [] => unknown(event),
        [(only, _)] => format!("{} {}.", lost(only), place(only)),
        [.., (_, most)] if most <= 0.0 => {
            format!("no operations lost in any of {} combinations.", known.len())
        }
        [(first, _), .., (last, _)] => {
            let most = last.lost_in_short().unwrap_or_default();
            format!(
                "from {} {} to {most} {}.",
                lost(first),
                place(first),
                place(last)
            )
        }
    };
    let failed_always = event.summaries.iter().filter(|it| it.always_failed());
    let unknown = event.summaries.len() - known.len() - failed_always.count();
    let unknown = match unknown {
        0 => String::new(),
        _ if known.is_empty() => String::new(),
        count => format!(" Not known in {}.", counted(count, "combination")),
    };
    format!("{}: {lost}{unknown}{}", event.title, failures(event))
}

/// `35 operations lost`.
fn lost(summary: &EventSummary) -> String {
    let lost = summary.lost_in_short().unwrap_or_default();
    format!("{lost} operations lost")
}

/// `(change column instantly, version mariadb-10.11; took 0.1 s)`.
fn place(summary: &EventSummary) -> String {
    let took = summary
        .took_s
        .map(|it| format!("; took {}", moment(it.mean)));
    format!("({}{})", summary.combination(), took.unwrap_or_default())
}

/// Why no cost is known.
fn unknown(event: &EventOverview) -> String {
    let mut all = event.summaries.iter();
    if all.clone().all(EventSummary::always_failed) {
        return "it succeeded in no run.".to_owned();
    }
    if all.any(|it| it.has_begun) {
        format!("{UNKNOWN}.")
    } else {
        "it began in no run.".to_owned()
    }
}

/// ` It did not succeed in 3 of 22 runs, the first of them run 4 (failed: error 1050: ...).`; empty where it did in all.
fn failures(event: &EventOverview) -> String {
    let all = event.summaries.iter().flat_map(|it| &it.failures);
    let Some((run, why)) = all.clone().min_by_key(|(run, _)| *run) else {
        return String::new();
    };
    let runs: usize = event.summaries.iter().map(|it| it.runs).sum();
    let (failed, runs) = (all.count(), counted(runs, "run"));
    format!(" It did not succeed in {failed} of {runs}, the first of them run {run} ({why}).")
}

fn range(values: &[f64]) -> Option<(f64, f64)> {
    let (low, high) = (
        values.iter().copied().reduce(f64::min),
        values.iter().copied().reduce(f64::max),
    );
    low.zip(high)
}
