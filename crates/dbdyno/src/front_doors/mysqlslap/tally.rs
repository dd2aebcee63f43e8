//! Results of the rounds of one test, and its report.

use std::time::Duration;

use benchmarks::slap::{
    Engine, Plan,
    layout::{ExtraFigures, Percentiles, TestReport},
};
use load::{Outcome, Termination};
use samples::Histogram;

use super::settings::Settings;

/// Results of the rounds of one test.
#[derive(Default)]
pub(super) struct Tally {
    rounds: Vec<Duration>,
    connecting: Connecting,
    succeeded: u64,
    failed: u64,
    unfinished: u64,
    /// Response times by operation; the first operations are statements.
    operations: Vec<(String, Histogram)>,
    statement_kinds: usize,
    /// The reason why the rate was not reached.
    shortfall: Option<String>,
}

/// Connection statistics.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Connecting {
    /// Number of clients connected, in all rounds.
    opened: u64,
    /// Number of connections that could not be opened.
    refused: u64,
    sum: Duration,
    longest: Duration,
}

impl Connecting {
    /// Adds the statistics of another test.
    pub(super) fn add(&mut self, other: Self) {
        self.opened += other.opened;
        self.refused += other.refused;
        self.sum += other.sum;
        self.longest = self.longest.max(other.longest);
    }

    /// Mean and maximum connection time.
    pub(super) fn times(self) -> (Duration, Duration) {
        let opened = u32::try_from(self.opened).unwrap_or(u32::MAX);
        let mean = self.sum.checked_div(opened).unwrap_or_default();
        (mean, self.longest)
    }
}

impl Tally {
    /// Adds the results of a round.
    pub(super) fn add(&mut self, plan: &Plan, outcome: &Outcome) {
        self.rounds.push(outcome.elapsed);
        for connects in &outcome.connects {
            self.connecting.add(Connecting {
                opened: connects.count,
                refused: connects.errors,
                sum: Duration::from_nanos(connects.sum_ns),
                longest: Duration::from_nanos(connects.max_ns),
            });
        }
        self.statement_kinds = plan.statement_kinds();
        if self.operations.is_empty() {
            let names = outcome.totals.iter().map(|total| total.operation.clone());
            self.operations = names.map(|name| (name, Histogram::new())).collect();
        }
        for (index, total) in outcome.totals.iter().enumerate() {
            self.operations[index].1.add(&total.histogram);
            self.failed += total.errors;
            if index < self.statement_kinds {
                self.succeeded += total.count;
            }
        }
        self.unfinished += outcome.unfinished;
        if let Some(shortfall) = &outcome.offered.shortfall {
            self.shortfall = Some(format!(
                "from {} on: {}",
                units::moment(shortfall.from_s),
                shortfall.why
            ));
        }
    }

    /// Reports the failures of a round on standard error: every kind of error once, with its count.
    pub(super) fn print(&self, settings: &Settings, outcome: &Outcome) {
        let program = settings.program;
        match &outcome.ended {
            Termination::Planned => {
                for error in &outcome.errors {
                    let retried = match error.retried {
                        0 => String::new(),
                        retried => format!(", {retried} retried with success"),
                    };
                    eprintln!(
                        "{program}: {} x {}{retried}: {}",
                        error.count,
                        error.in_words(),
                        error.message
                    );
                }
            }
            Termination::Interrupted => eprintln!("{program}: interrupted"),
            Termination::ServerLost(failure) => {
                eprintln!("error: {program}: the server went away: {failure}");
            }
            Termination::Failed { failure, .. } => {
                eprintln!("error: {program}: {failure}");
                eprintln!(
                    "hint: no report, because it failed after {} statements; --on-error=count continues, \
                     --on-error=retry also repeats after a deadlock",
                    self.succeeded
                );
            }
        }
        let refused: u64 = outcome.connects.iter().map(|it| it.errors).sum();
        if refused > 0 {
            let open: u64 = outcome.connects.iter().map(|it| it.count).sum();
            let asked = open + refused;
            eprintln!("error: {program}: {open} of {asked} clients were connected");
        }
        if outcome.unfinished > 0 {
            eprintln!(
                "warning: {} statements were not answered",
                outcome.unfinished
            );
        }
    }

    /// Whether any statement failed for good.
    pub(super) fn has_failures(&self) -> bool {
        self.failed + self.connecting.refused + self.unfinished > 0
    }

    pub(super) fn connecting(&self) -> Connecting {
        self.connecting
    }

    pub(super) fn shortfall(&self) -> Option<&str> {
        self.shortfall.as_deref()
    }

    pub(super) fn report(&self, settings: &Settings, engine: Option<&Engine>) -> TestReport {
        let rounds = self.rounds.len() as u64;
        TestReport {
            engine: engine.map(|engine| engine.name.clone()),
            load_type: settings.load_type.clone(),
            rounds: self.rounds.clone(),
            clients: self.connecting.opened / rounds.max(1),
            queries_per_client: self
                .succeeded
                .checked_div(self.connecting.opened)
                .unwrap_or(0),
            failed: self.failed,
            more: settings.asks_for_more().then(|| self.more(settings)),
        }
    }

    fn more(&self, settings: &Settings) -> ExtraFigures {
        let percentiles = |histogram: &Histogram| -> Percentiles {
            let one = |percentile: &f64| {
                let ns = histogram.quantile_ns(percentile / 100.0);
                (*percentile, ns.map(Duration::from_nanos))
            };
            settings.percentiles.iter().map(one).collect()
        };
        let mut all = Histogram::new();
        for (_, histogram) in &self.operations[..self.statement_kinds] {
            all.add(histogram);
        }
        let seconds: Duration = self.rounds.iter().sum();
        let has_kinds = self.operations.len() > 1 && !settings.percentiles.is_empty();
        let kinds = self.operations.iter().filter(|_| has_kinds);
        ExtraFigures {
            label: settings.label.clone(),
            queries_per_s: if seconds.is_zero() {
                0.0
            } else {
                self.succeeded as f64 / seconds.as_secs_f64()
            },
            connect: self.connecting.times(),
            all: percentiles(&all),
            kinds: kinds
                .map(|(name, histogram)| (name.clone(), percentiles(histogram)))
                .collect(),
        }
    }
}
