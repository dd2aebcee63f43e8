//! What a planned event cost the load in one combination, over the runs.

use std::collections::BTreeMap;

use figures::{EventCost, Stretch, are_thin};
use samples::{PlannedEvent, Record, printable_within};
use units::{change, count, counted, duration, moment, moment_range, percent};

use crate::{
    grid::{
        Facet, Grid,
        cell::{Cell, Figure},
        in_words,
        percentiles::marked,
    },
    results::Results,
    sentences::answer::throughput_in_words,
};

/// Longest name and message in a sentence, characters.
pub(crate) const NAME_CHARS_MAX: usize = 60;
const MESSAGE_CHARS_MAX: usize = 160;

/// An event of one combination, over its complete runs.
#[derive(Debug)]
pub(crate) struct EventSummary {
    /// The combination's place in the grid.
    pub(crate) place: Place,
    /// The levels that distinguish the combination, in the order of facet, line and x; empty where there is one combination.
    pub(crate) levels: Vec<(String, String)>,
    /// Number in the experiment, from 1.
    pub(crate) number: u32,
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
    pub(crate) has_begun: bool,
    /// How long it took where it ended, seconds.
    pub(crate) took_s: Option<Figure>,
    /// The load before, during and after it, of the runs in which that can be said; after it only if in all of these.
    pub(crate) before: Option<StretchFigures>,
    pub(crate) during: Option<StretchFigures>,
    pub(crate) after: Option<StretchFigures>,
    /// Operations that were lost; negative where the load was faster.
    pub(crate) lost: Option<Figure>,
    /// The same of each run in which that can be said.
    pub(crate) lost_by_run: Vec<f64>,
    /// Shortest and longest time from its end to the recovery, of the runs that recovered, seconds.
    recovered_after_s: Option<(f64, f64)>,
    /// Number of runs that did not recover in time.
    not_recovered: usize,
    /// Number of runs with enough time after it to see whether they did.
    recovery_seen: usize,
    /// Number of runs with too little time after it.
    recovery_not_seen: usize,
}

/// The place of a combination in the grid, as indices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) facet: usize,
    pub(crate) line: usize,
    pub(crate) x: usize,
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

    /// The 99th percentile in words, `–` where it is unknown.
    pub(crate) fn p99_in_words(&self) -> String {
        let p99 = self.p99_ns;
        p99.map_or("–".to_owned(), |it| marked(duration(it.mean), it.is_thin))
    }
}

/// An event of a run with its cost, if that can be said.
type ObservedEvent<'r> = (&'r Record, &'r PlannedEvent, Option<EventCost>);

/// The events of all combinations, in the order of their times, each in the order of the grid.
pub(crate) fn summaries(results: &Results, grid: &Grid<'_>) -> Vec<EventSummary> {
    let mut all = Vec::new();
    for (at, facet) in grid.facets.iter().enumerate() {
        for (line, x, cell) in facet.cells() {
            let levels = levels(grid, facet, line, x);
            let place = Place { facet: at, line, x };
            let events = events_of(results, cell).into_values();
            all.extend(events.filter_map(|runs| EventSummary::of(place, levels.clone(), &runs)));
        }
    }
    all.sort_by_key(|it| it.number);
    all
}

/// The events of a combination's complete runs by their number.
fn events_of<'r>(results: &'r Results, cell: &Cell) -> BTreeMap<u32, Vec<ObservedEvent<'r>>> {
    let mut events: BTreeMap<u32, Vec<ObservedEvent<'_>>> = BTreeMap::new();
    let records = cell
        .runs
        .iter()
        .map(|at| &results.runs[results.run_of(*at)]);
    for record in records.filter(|it| it.is_complete()) {
        let costs = EventCost::of_record(record);
        for (event, cost) in record.events.iter().zip(costs) {
            let all = events.entry(event.number).or_default();
            all.push((record, event, cost));
        }
    }
    events
}

fn levels(grid: &Grid<'_>, facet: &Facet, line: usize, x: usize) -> Vec<(String, String)> {
    let of_line = grid.line.as_ref().map(|factor| (factor, line));
    let of_x = grid.x.as_ref().map(|factor| (factor, x));
    let named = of_line.into_iter().chain(of_x);
    let named = named.map(|(factor, at)| (factor.name.clone(), factor.levels[at].clone()));
    facet.levels.iter().cloned().chain(named).collect()
}

impl EventSummary {
    fn of(place: Place, levels: Vec<(String, String)>, runs: &[ObservedEvent<'_>]) -> Option<Self> {
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
        let seen: Vec<_> = costs.iter().filter(|it| it.shows_recovery()).collect();
        let recovered = || costs.iter().filter_map(|it| it.recovered_after_s);
        let (soonest, latest) = (recovered().reduce(f64::min), recovered().reduce(f64::max));
        Some(Self {
            place,
            levels,
            number: first.number,
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
            lost_by_run: lost,
            recovered_after_s: soonest.zip(latest),
            not_recovered: (seen.iter())
                .filter(|it| it.recovered_after_s.is_none())
                .count(),
            recovery_seen: seen.len(),
            recovery_not_seen: costs.len() - seen.len(),
        })
    }

    /// The combination in words, `algorithm COPY`; empty where there is one.
    pub(crate) fn combination(&self) -> String {
        in_words(&self.levels)
    }

    /// True if it succeeded in no run: its figures are those of its failures.
    pub(crate) fn always_failed(&self) -> bool {
        self.failures.len() == self.runs
    }

    /// The event in words: `algorithm COPY: event add index at 60 s`.
    pub(crate) fn subject(&self) -> String {
        let combination = match self.combination() {
            none if none.is_empty() => none,
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
        parts.extend(self.lost().map(|lost| format!("{lost} operations lost")));
        parts.extend(self.recovery_in_words());
        let took = self.took_s.map(|it| format!(" took {}", moment(it.mean)));
        let cost = match parts.join("; ") {
            none if none.is_empty() && self.has_begun => format!(": {UNKNOWN}"),
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
            change(self.during_share()?),
            after.unwrap_or_default()
        ))
    }

    fn p99_in_words(&self) -> Option<String> {
        let stretches = [Some(self.before.as_ref()?), Some(self.during.as_ref()?)];
        let stretches = stretches.into_iter().chain([self.after.as_ref()]).flatten();
        let words: Vec<String> = stretches.map(StretchFigures::p99_in_words).collect();
        Some(format!("p99 {}", words.join(", ")))
    }

    /// Throughput during the event as a share of that before it.
    pub(crate) fn during_share(&self) -> Option<f64> {
        Some(self.during.as_ref()?.throughput.mean / self.before.as_ref()?.throughput.mean)
    }

    /// The operations that were lost with their interval, `no` where the load was no slower.
    pub(crate) fn lost(&self) -> Option<String> {
        let lost = self.lost?;
        Some(if self.has_lost() {
            throughput_in_words(&lost)
        } else {
            "no".to_owned()
        })
    }

    /// The operations that were lost in the mean, as a short number: `35`, `12.0k`, `no`.
    pub(crate) fn lost_in_short(&self) -> Option<String> {
        let lost = self.lost?;
        Some(if self.has_lost() {
            operations(lost.mean)
        } else {
            "no".to_owned()
        })
    }

    /// True if operations were lost in the mean.
    pub(crate) fn has_lost(&self) -> bool {
        self.lost.is_some_and(|lost| lost.mean > 0.0)
    }

    /// The throughput during the event in % of that before it: `59 %`.
    pub(crate) fn during_in_short(&self) -> Option<String> {
        self.during_share().map(percent)
    }

    /// `throughput recovered at once`, `throughput recovered 3 s after its end`, that it did not, or that it is not
    /// known.
    fn recovery_in_words(&self) -> Option<String> {
        let back = self.recovery().map(|recovery| match recovery {
            Recovery::AtOnce => "throughput recovered at once".to_owned(),
            Recovery::After {
                soonest_s,
                latest_s,
            } => format!(
                "throughput recovered {} after its end",
                moment_range(soonest_s, latest_s)
            ),
        });
        let late = match self.not_recovered {
            0 => None,
            count if back.is_some() => Some(format!("not recovered in {}", counted(count, "run"))),
            _ => Some("throughput did not recover in the time measured after it".to_owned()),
        };
        let is_seen = back.is_some() || late.is_some();
        let not_seen = match self.recovery_not_seen {
            0 => None,
            count if is_seen => Some(format!("not known of {}", counted(count, "run"))),
            _ => Some("too little time was measured after it to detect a recovery".to_owned()),
        };
        let all: Vec<String> = back.into_iter().chain(late).chain(not_seen).collect();
        (!all.is_empty()).then(|| all.join(", "))
    }

    /// When the throughput was back, for a column: `at once`, `8.6 s`, `0 to 42 s`, `not in 1 of 2 runs`, `not seen`.
    pub(crate) fn recovery_in_short(&self) -> Option<String> {
        let late = self.late().map(|runs| format!("not in {runs}"));
        let not_seen = self.not_seen().map(|runs| format!("not seen{runs}"));
        let back = self.recovery().map(|recovery| match recovery {
            Recovery::AtOnce => "at once".to_owned(),
            Recovery::After {
                soonest_s,
                latest_s,
            } => moment_range(soonest_s, latest_s),
        });
        joined([back, late, not_seen])
    }

    /// The same among other words: `back at once`, `back after 8.6 s`, `not back in 1 of 2 runs`, `no recovery detected`.
    pub(crate) fn recovery_in_clause(&self) -> Option<String> {
        let back = self.recovery().map(|recovery| match recovery {
            Recovery::AtOnce => "back at once".to_owned(),
            Recovery::After {
                soonest_s,
                latest_s,
            } => {
                format!("back after {}", moment_range(soonest_s, latest_s))
            }
        });
        let late = self.late().map(|runs| format!("not back in {runs}"));
        let not_seen = self
            .not_seen()
            .map(|runs| format!("no recovery detected{runs}"));
        joined([back, late, not_seen])
    }

    /// True if the throughput was not back in one of the runs that show it.
    pub(crate) fn is_late(&self) -> bool {
        self.not_recovered > 0
    }

    fn recovery(&self) -> Option<Recovery> {
        let (soonest_s, latest_s) = self.recovered_after_s?;
        Some(if latest_s <= 0.0 {
            Recovery::AtOnce
        } else {
            Recovery::After {
                soonest_s,
                latest_s,
            }
        })
    }

    /// `1 of 2 runs`; `None` where the throughput was back in all that show it.
    fn late(&self) -> Option<String> {
        let of = counted(self.recovery_seen, "run");
        self.is_late()
            .then(|| format!("{} of {of}", self.not_recovered))
    }

    /// ` in 1 run`; empty where no run shows a recovery, `None` where all do.
    fn not_seen(&self) -> Option<String> {
        match (self.recovery_not_seen, self.recovery_seen) {
            (0, _) => None,
            (_, 0) => Some(String::new()),
            (count, _) => Some(format!(" in {}", counted(count, "run"))),
        }
    }

    /// `failed in 1 of 2 runs`; `None` where it succeeded in all.
    pub(crate) fn failed_in_short(&self) -> Option<String> {
        match self.failures.len() {
            0 => None,
            failed => Some(format!(
                "failed in {failed} of {}",
                counted(self.runs, "run")
            )),
        }
    }

    /// `It did not succeed in 1 of 3 runs: run 2 (failed: error 1050: ...)`; `None` where it did in all.
    pub(crate) fn failures_in_words(&self) -> Option<String> {
        let (run, why) = self.failures.first()?;
        let failed = self.failures.len();
        let figures = match self.runs - failed {
            0 => "",
            _ => "; the figures cover the other runs",
        };
        Some(format!(
            "It did not succeed in {failed} of {}: run {run} ({why}){figures}",
            counted(self.runs, "run")
        ))
    }
}

/// The reason why an event that began has no cost.
pub(crate) const UNKNOWN: &str =
    "its cost is unknown, because the load before it was too short or had stalled";

/// The recovery of the throughput after the end of an event.
#[derive(Debug, Clone, Copy)]
enum Recovery {
    /// In the second in which the event ended.
    AtOnce,
    /// The shortest and the longest time of the runs that recovered, seconds.
    After { soonest_s: f64, latest_s: f64 },
}

fn joined(parts: [Option<String>; 3]) -> Option<String> {
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// A mean number of operations, whole below a thousand: `35`, `12.0k`.
pub(crate) fn operations(mean: f64) -> String {
    count(mean.round())
}
