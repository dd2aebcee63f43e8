//! The figures of a timed statement.

use runs::{Context, Event};
use sqltext::SqlStatement;
use stats::percentile_range;

use crate::{execution::Parts, statement_event::StatementEvent};

const CONFIDENCE: f64 = 0.95;

/// What was measured of all statements.
#[derive(Debug, Default)]
pub struct Report {
    /// The statements, in their order.
    pub timed: Vec<Timed>,
    pub(super) version: String,
    pub(super) notes: Vec<String>,
    /// Why the rounds ended early, if they did.
    pub(super) incomplete: Option<String>,
}

impl Report {
    /// Shows and keeps a note, once.
    pub(super) fn note(&mut self, note: String, context: &Context) {
        if !self.notes.contains(&note) {
            context.notify(Event::Note(&note));
            self.notes.push(note);
        }
    }
}

/// What was measured of one statement; times in seconds.
#[derive(Debug, Clone, Default)]
pub struct Timed {
    /// Its name: the word in its first comment, or its number.
    pub(super) name: String,
    /// The statement; its text is in the file's.
    pub(super) statement: Option<SqlStatement>,
    /// Rows received or changed, of the last execution.
    pub(super) rows: u64,
    pub(super) warnings: u32,
    pub(super) is_rolled_back: bool,
    /// Times after a restart.
    pub(super) cold_s: Vec<f64>,
    /// Time of the first round without a restart.
    pub(super) first_s: Option<f64>,
    /// Times of the rounds after it.
    pub(super) warm_s: Vec<f64>,
    /// The parts of each of these times.
    pub(super) parts: Vec<Parts>,
    /// What one execution adds to counters of the session.
    pub(super) costs: Vec<(String, i64)>,
    /// What performance_schema says about that execution.
    pub(super) event: Option<StatementEvent>,
}

impl Timed {
    /// Whether it was executed to its end at least once.
    pub fn has_times(&self) -> bool {
        self.first_s.is_some() || !self.cold_s.is_empty()
    }

    /// The median of each part, seconds; `None` without a round.
    pub(super) fn median_parts(&self) -> Option<Parts> {
        let median = |of: fn(&Parts) -> f64| {
            let values: Vec<f64> = self.parts.iter().map(of).collect();
            Median::of(&values).map(|it| it.median)
        };
        Some(Parts {
            send_s: median(|it| it.send_s)?,
            server_s: median(|it| it.server_s)?,
            first_row_s: median(|it| it.first_row_s)?,
            fetch_s: median(|it| it.fetch_s)?,
        })
    }

    /// Where the statement begins.
    pub(super) fn place(&self) -> String {
        let place = self.statement.as_ref().map(SqlStatement::place);
        place.map(|place| place.to_string()).unwrap_or_default()
    }
}

/// A median with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Median {
    pub(super) median: f64,
    /// Its interval at 95 %; `None` with fewer than six values.
    pub(super) bounds: Option<(f64, f64)>,
}

impl Median {
    /// The median of values with its interval, which assumes no distribution; `None` without values.
    pub(super) fn of(values: &[f64]) -> Option<Self> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let count = sorted.len();
        let median = match count {
            0 => return None,
            _ if count % 2 == 1 => sorted[count / 2],
            _ => f64::midpoint(sorted[count / 2 - 1], sorted[count / 2]),
        };
        let at = |quantile: f64| {
            let rank = (quantile * count as f64).ceil() as usize;
            sorted[rank.clamp(1, count) - 1]
        };
        let ends = percentile_range(0.5, count as f64, CONFIDENCE);
        let bounds = ends.and_then(|ends| Some((at(ends.low?), at(ends.high?))));
        Some(Self { median, bounds })
    }

    /// Whether half the interval is at most this share of the median.
    pub(super) fn is_within(&self, share: f64) -> bool {
        self.bounds
            .is_some_and(|(low, high)| high - low <= 2.0 * share * self.median)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_has_an_interval_from_six_values_on() {
        assert_eq!(Median::of(&[]), None);
        let five = Median::of(&[5.0, 1.0, 4.0, 2.0, 3.0]).unwrap();
        assert_eq!((five.median, five.bounds), (3.0, None));
        let six = Median::of(&[6.0, 1.0, 4.0, 2.0, 3.0, 5.0]).unwrap();
        assert_eq!((six.median, six.bounds), (3.5, Some((1.0, 6.0))));
        assert!(!six.is_within(0.5) && six.is_within(0.8) && !five.is_within(1.0));
    }
}
