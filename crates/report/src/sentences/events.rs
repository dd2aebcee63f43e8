//! What planned events cost the load, by combination and event, over the runs.

use std::collections::BTreeMap;

use figures::{EventCost, Stretch, are_thin};
use samples::{EventOutcome, PlannedEvent, Record, printable_within};
use units::{change, counted, duration, moment};

use super::answer::throughput_in_words;
use crate::{
    grid::{Grid, cell::Figure, in_words, percentiles::marked},
    results::Results,
};

/// Longest name and message in a sentence, characters.
const NAME_CHARS_MAX: usize = 60;
const MESSAGE_CHARS_MAX: usize = 160;

/// An event of one combination, over its complete runs.
#[derive(Debug)]
pub(crate) struct EventSummary {
    /// The levels that distinguish the combination: `algorithm COPY`; empty where there is one combination.
    pub(crate) combination: String,
    /// Name in the experiment.
    pub(crate) name: String,
    /// Planned begin, seconds since the measurement began.
    pub(crate) at_s: f64,
    /// Number of runs in which it was due.
    pub(crate) runs: usize,
    /// Runs in which it did not end without an error, each with the outcome and the message. The figures are of the
    /// others, if there are any: what a failed event does is not its cost.
    pub(crate) failures: Vec<(u32, String)>,
    /// True if it began in one of the runs.
    has_begun: bool,
    /// How long it took where it ended, seconds.
    pub(crate) took_s: Option<Figure>,
    /// The load before, during and after it, of the runs in which that can be said; after it only if in all of these.
    pub(crate) before: Option<StretchFigures>,
    pub(crate) during: Option<StretchFigures>,
    pub(crate) after: Option<StretchFigures>,
    /// Operations that were lost; negative where the load was faster.
    lost: Option<Figure>,
    /// Time from its end to the recovery, of the runs that recovered, seconds.
    recovered_after_s: Option<Figure>,
    /// Number of runs that did not recover in time.
    not_recovered: usize,
    /// Number of runs with too little time after it to see whether they did.
    recovery_not_seen: usize,
}

/// The load in the same part of several runs.
#[derive(Debug)]
pub(crate) struct StretchFigures {
    /// Operations per second.
    pub(crate) throughput: Figure,
    /// 99th percentile of the response times, nanoseconds; `None` where a run has none.
    pub(crate) p99_ns: Option<Figure>,
}

impl StretchFigures {
    fn of<'c>(stretches: impl Iterator<Item = &'c Stretch>) -> Option<Self> {
        let stretches: Vec<&Stretch> = stretches.collect();
        let throughputs: Vec<f64> = stretches.iter().map(|it| it.throughput_per_s).collect();
        let p99s: Option<Vec<_>> = stretches.iter().map(|it| it.p99).collect();
        let measured = p99s.as_ref().and_then(|all| {
            let ns = all.iter().map(|it| Some(it.measured_ns()? as f64));
            let ns: Option<Vec<f64>> = ns.collect();
            Some(Figure {
                is_thin: are_thin(all),
                ..Figure::of(&ns?)?
            })
        });
        Some(Self {
            throughput: Figure::of(&throughputs)?,
            p99_ns: measured,
        })
    }
}

/// The events of all combinations, in the order of the results' runs and of their times.
pub(crate) fn summaries(results: &Results, grid: &Grid<'_>) -> Vec<EventSummary> {
    type Seen<'r> = Vec<(&'r Record, &'r PlannedEvent, Option<EventCost>)>;
    let mut order: Vec<&BTreeMap<String, String>> = Vec::new();
    let mut seen: BTreeMap<(usize, u32), Seen<'_>> = BTreeMap::new();
    for record in results.runs.iter().filter(|it| it.is_complete()) {
        let combination = &record.header.combination;
        let known = order.iter().position(|it| *it == combination);
        let place = known.unwrap_or_else(|| {
            order.push(combination);
            order.len() - 1
        });
        let costs = EventCost::of_record(record);
        for (event, cost) in record.events.iter().zip(costs) {
            let all = seen.entry((place, event.number)).or_default();
            all.push((record, event, cost));
        }
    }
    let is_alone = order.len() == 1;
    seen.into_iter()
        .filter_map(|((place, _), runs)| {
            let levels = order[place].iter().filter(|(factor, _)| {
                let constant = grid.constants.iter().any(|(name, _)| name == *factor);
                !is_alone && !constant
            });
            let levels: Vec<(String, String)> = levels
                .map(|(factor, level)| (factor.clone(), level.clone()))
                .collect();
            summary(in_words(&levels), &runs)
        })
        .collect()
}

fn summary(
    combination: String,
    runs: &[(&Record, &PlannedEvent, Option<EventCost>)],
) -> Option<EventSummary> {
    let (_, first, _) = runs.first()?;
    let failed = runs.iter().filter(|(_, event, _)| event.has_failed());
    let failures = failed.map(|(record, event, _)| {
        let message = printable_within(&event.message, MESSAGE_CHARS_MAX);
        let words = match &*message {
            "" => event.outcome.word().to_owned(),
            message => format!("{}: {message}", event.outcome.word()),
        };
        (record.header.run, words)
    });
    let all_failed = runs.iter().all(|(_, event, _)| event.has_failed());
    let judged = || (runs.iter()).filter(|(_, event, _)| all_failed || !event.has_failed());
    let costs: Vec<&EventCost> = judged().filter_map(|(.., cost)| cost.as_ref()).collect();
    let took: Vec<f64> = judged()
        .filter_map(|(_, event, _)| event.took_s())
        .collect();
    let lost: Vec<f64> = costs.iter().map(|it| it.lost_operations).collect();
    let after: Option<Vec<&Stretch>> = costs.iter().map(|it| it.after.as_ref()).collect();
    let recovered: Vec<f64> = costs.iter().filter_map(|it| it.recovered_after_s).collect();
    let seen: Vec<_> = costs.iter().filter(|it| it.shows_recovery()).collect();
    Some(EventSummary {
        combination,
        name: printable_within(&first.name, NAME_CHARS_MAX).into_owned(),
        at_s: first.at_s,
        runs: runs.len(),
        failures: failures.collect(),
        has_begun: runs.iter().any(|(_, event, _)| event.begin_s.is_some()),
        took_s: Figure::of(&took),
        before: StretchFigures::of(costs.iter().map(|it| &it.before)),
        during: StretchFigures::of(costs.iter().map(|it| &it.during)),
        after: after.and_then(|after| StretchFigures::of(after.into_iter())),
        lost: Figure::of_differences(&lost),
        recovered_after_s: Figure::of(&recovered),
        not_recovered: (seen.iter())
            .filter(|it| it.recovered_after_s.is_none())
            .count(),
        recovery_not_seen: costs.len() - seen.len(),
    })
}

impl EventSummary {
    /// The event in words: `algorithm COPY: event add index at 60 s`.
    pub(crate) fn subject(&self) -> String {
        let combination = match self.combination.as_str() {
            "" => String::new(),
            combination => format!("{combination}: "),
        };
        format!("{combination}event {} at {}", self.name, moment(self.at_s))
    }

    /// One sentence:
    /// `event add index at 60 s took 14.2 s: 12.1k operations/s before, 8.31k during (-31 %), 12.0k after; p99 3.10 ms, ...`.
    pub(crate) fn sentence(&self) -> String {
        let mut parts = Vec::new();
        parts.extend(self.load_in_words());
        parts.extend(self.p99_in_words());
        parts.extend(self.lost_in_words());
        parts.extend(self.recovery_in_words());
        let took = self.took_s.map(|it| format!(" took {}", moment(it.mean)));
        let cost = match parts.join("; ") {
            none if none.is_empty() && self.has_begun => {
                ": its cost is not known, the load before it was too short or stood still"
                    .to_owned()
            }
            none if none.is_empty() => String::new(),
            cost => format!(": {cost}"),
        };
        let failed = self.failures_in_words();
        let failed = failed.map_or_else(String::new, |failed| format!(" {failed}."));
        format!(
            "{}{}{cost}.{failed}",
            self.subject(),
            took.unwrap_or_default()
        )
    }

    fn load_in_words(&self) -> Option<String> {
        let (before, during) = (self.before.as_ref()?, self.during.as_ref()?);
        let after = self.after.as_ref().map(|after| {
            let value = throughput_in_words(&after.throughput);
            format!(", {value} after")
        });
        Some(format!(
            "{} operations/s before, {} during ({}){}",
            throughput_in_words(&before.throughput),
            throughput_in_words(&during.throughput),
            change(during.throughput.mean / before.throughput.mean),
            after.unwrap_or_default()
        ))
    }

    fn p99_in_words(&self) -> Option<String> {
        let stretches = [Some(self.before.as_ref()?), Some(self.during.as_ref()?)];
        let stretches = stretches.into_iter().chain([self.after.as_ref()]).flatten();
        let words: Vec<String> = stretches.map(|it| p99_in_words(it.p99_ns)).collect();
        Some(format!("p99 {}", words.join(", ")))
    }

    /// `54.0k operations lost`.
    fn lost_in_words(&self) -> Option<String> {
        Some(format!("{} operations lost", self.lost()?))
    }

    /// The operations that were lost, `no` where the load was no slower.
    pub(crate) fn lost(&self) -> Option<String> {
        let lost = self.lost?;
        Some(match lost.mean {
            mean if mean <= 0.0 => "no".to_owned(),
            _ => throughput_in_words(&lost),
        })
    }

    /// `throughput back at once`, `throughput back 3 s after its end`, that it was not, or that it is not known.
    pub(crate) fn recovery_in_words(&self) -> Option<String> {
        let back = self.recovered_after_s.map(|it| match it.mean {
            mean if mean <= 0.0 => "throughput back at once".to_owned(),
            mean => format!("throughput back {} after its end", moment(mean)),
        });
        let late = match self.not_recovered {
            0 => None,
            count if back.is_some() => Some(format!("not back in {}", counted(count, "run"))),
            _ => Some("throughput not back in the time that was measured after it".to_owned()),
        };
        let is_seen = back.is_some() || late.is_some();
        let not_seen = match self.recovery_not_seen {
            0 => None,
            count if is_seen => Some(format!("not known of {}", counted(count, "run"))),
            _ => Some("too little was measured after it to see a recovery".to_owned()),
        };
        let all: Vec<String> = back.into_iter().chain(late).chain(not_seen).collect();
        (!all.is_empty()).then(|| all.join(", "))
    }

    /// `It did not succeed in 1 of 3 runs: run 2 (failed: error 1050: ...)`; `None` where it did in all.
    pub(crate) fn failures_in_words(&self) -> Option<String> {
        let (run, why) = self.failures.first()?;
        let failed = self.failures.len();
        let figures = match self.runs - failed {
            0 => "",
            _ => "; the figures are of the others",
        };
        Some(format!(
            "It did not succeed in {failed} of {}: run {run} ({why}){figures}",
            counted(self.runs, "run")
        ))
    }
}

/// A 99th percentile in words, `–` where it is unknown.
pub(crate) fn p99_in_words(p99_ns: Option<Figure>) -> String {
    p99_ns.map_or("–".to_owned(), |it| marked(duration(it.mean), it.is_thin))
}

/// A sentence for each event of each combination.
pub(crate) fn sentences(results: &Results, grid: &Grid<'_>) -> Vec<String> {
    let summaries = summaries(results, grid).into_iter();
    summaries.map(|it| it.sentence()).collect()
}

/// The events of one run in words, for its charts: `event add index from 62.0 s to 76.2 s`.
pub(crate) fn marks_in_words(record: &Record) -> String {
    let begun = record.events.iter().filter(|it| it.begin_s.is_some());
    let words: Vec<String> = begun
        .map(|event| {
            let name = printable_within(&event.name, NAME_CHARS_MAX);
            let end = match (event.took_s(), event.outcome) {
                (Some(took_s), EventOutcome::Done) => format!(" to {}", moment(event.t_s + took_s)),
                (Some(took_s), outcome) => {
                    format!(" to {} ({})", moment(event.t_s + took_s), outcome.word())
                }
                (None, outcome) => format!(" ({})", outcome.word()),
            };
            format!("{name} from {}{end}", moment(event.t_s))
        })
        .collect();
    match words.len() {
        0 => String::new(),
        count => format!(
            "Marked: {} ({}). ",
            counted(count, "event"),
            words.join("; ")
        ),
    }
}

/// Operations as text, for a table.
pub(crate) fn operations(figure: Option<Figure>) -> String {
    figure.map_or("–".to_owned(), |it| throughput_in_words(&it))
}

#[cfg(test)]
mod tests {
    use samples::{Histogram, Interval, OperationInterval, Phase, ReturnedRows};

    use super::*;

    fn record(run: u32, algorithm: &str, slow_per_s: u64, outcome: EventOutcome) -> Record {
        let text = format!(
            r#"{{"line":"run","format":1,"dbdyno_version":"0.1.0","experiment":"x","experiment_sha256":"","seed":1,"run":{run},"block":1,"combination":{{"algorithm":"{algorithm}"}},"started_at":"","connections":1,"loops":1,"io":"epoll","transport":"unix socket"}}
{{"line":"end","t_s":60.0,"complete":true,"why":"as planned"}}"#
        );
        let mut record = Record::read(text.as_bytes()).unwrap();
        record.intervals = (0..60)
            .map(|second| {
                let count = if (20..30).contains(&second) {
                    slow_per_s
                } else {
                    100
                };
                let mut histogram = Histogram::new();
                (0..count).for_each(|_| histogram.record(1_000_000));
                let operation = OperationInterval {
                    load: "l".to_owned(),
                    operation: "o".to_owned(),
                    count,
                    errors: 0,
                    sum_ns: count * 1_000_000,
                    min_ns: 1_000_000,
                    max_ns: 1_000_000,
                    histogram,
                    service: None,
                    returned: ReturnedRows::default(),
                };
                Interval {
                    t_s: f64::from(second),
                    length_s: 1.0,
                    phase: Phase::Measurement,
                    stage: None,
                    operations: vec![operation],
                    statements: Vec::new(),
                    send_lag: None,
                    pace: None,
                    carried: Vec::new(),
                }
            })
            .collect();
        record.events = vec![PlannedEvent {
            number: 1,
            name: "add index".to_owned(),
            action: "sql".to_owned(),
            what: "ALTER TABLE t ADD INDEX (c)".to_owned(),
            at_s: 20.0,
            t_s: 20.0,
            begin_s: Some(20.0),
            end_s: Some(30.0),
            outcome,
            message: match outcome {
                EventOutcome::Done => String::new(),
                _ => "error 1061: Duplicate key name".to_owned(),
            },
            ..PlannedEvent::default()
        }];
        record
    }

    fn said(runs: Vec<Record>) -> Vec<String> {
        let mut results = Results::of_runs(runs);
        results.factors = vec![settings::Factor {
            name: "algorithm".to_owned(),
            levels: vec!["COPY".to_owned(), "INPLACE".to_owned()],
        }];
        sentences(&results, &Grid::of(&results))
    }

    #[test]
    fn an_event_is_one_sentence_for_each_combination() {
        let said = said(vec![
            record(1, "COPY", 40, EventOutcome::Done),
            record(2, "INPLACE", 80, EventOutcome::Done),
            record(3, "COPY", 60, EventOutcome::Failed),
        ]);
        assert_eq!(said.len(), 2, "{said:?}");
        assert!(
            said[0].starts_with("algorithm COPY: event add index at 20 s took 10 s: 100"),
            "{said:?}"
        );
        // What the failed one did is not what it costs.
        assert!(said[0].contains("40.0 during (-60 %)"), "{said:?}");
        assert!(
            said[0].ends_with(
                "throughput back at once. It did not succeed in 1 of 2 runs: run 3 (failed: error 1061: Duplicate key name); \
                 the figures are of the others."
            ),
            "{said:?}"
        );
        assert!(said[1].contains("80.0 during (-20 %)"), "{said:?}");
        assert!(said[1].contains("200 operations lost"), "{said:?}");
    }

    #[test]
    fn an_event_that_always_failed_has_the_figures_of_its_failures() {
        let said = said(vec![record(1, "COPY", 40, EventOutcome::TimedOut)]);
        assert!(said[0].contains("40.0 during (-60 %)"), "{said:?}");
        assert!(
            said[0].ends_with("It did not succeed in 1 of 1 run: run 1 (timed out: error 1061: Duplicate key name)."),
            "{said:?}"
        );
    }

    #[test]
    fn chance_is_no_loss() {
        let said = said(vec![
            record(1, "COPY", 80, EventOutcome::Done),
            record(2, "COPY", 120, EventOutcome::Done),
        ]);
        assert!(said[0].contains("; no operations lost; "), "{said:?}");
    }

    #[test]
    fn what_is_not_known_is_said() {
        let begin = |begin_s: f64| {
            let mut record = record(1, "COPY", 40, EventOutcome::Done);
            let event = &mut record.events[0];
            (event.begin_s, event.t_s) = (Some(begin_s), begin_s);
            event.end_s = Some(begin_s + 1.0);
            said(vec![record]).remove(0)
        };
        let early = begin(3.0);
        assert!(early.contains("took 1 s: its cost is not known"), "{early}");
        let late = begin(56.0);
        assert!(
            late.ends_with("too little was measured after it to see a recovery."),
            "{late}"
        );
    }

    #[test]
    fn marks_name_the_event() {
        let run = record(4, "COPY", 40, EventOutcome::TimedOut);
        assert_eq!(
            marks_in_words(&run),
            "Marked: 1 event (add index from 20 s to 30 s (timed out)). "
        );
    }
}
