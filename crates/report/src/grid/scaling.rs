//! The Universal Scalability Law fitted to each line of the grid, in words.

use stats::{Interval, NoPeak, Peak, Point, Resampling, Scalability, scalability};
use units::{percent, si};

use crate::grid::{Facet, Grid, Line, cell::CONFIDENCE, level_number};

/// Maximum residual of a usable model, as the root mean square of the logarithms.
const DISTANCE_AT_MOST: f64 = 0.25;
/// Sufficient for the bounds of a drawn band, with little work for a page of 20 lines.
const RESAMPLING: Resampling = Resampling {
    resamples: 600,
    seed: 1,
};

/// The scaling model of one line.
pub(crate) struct Scaling {
    pub(crate) fit: Scalability,
    /// The typical residual of the executions, as a share.
    pub(crate) distance: f64,
    /// Number of executions that it was fitted to.
    pub(crate) executions: usize,
}

impl Scaling {
    /// The model of a line; `None` if x is not a number of clients, or with fewer than four levels with a complete run.
    pub(crate) fn of(grid: &Grid, line: &Line) -> Option<Self> {
        let x = grid.x.as_ref().filter(|_| grid.x_counts_clients())?;
        let mut points = Vec::new();
        for (level, cell) in x.levels.iter().zip(&line.cells) {
            let concurrency = level_number(level)?;
            let values = cell.iter().flat_map(|cell| &cell.throughputs_per_s);
            points.extend(values.map(|per_s| Point {
                concurrency,
                throughput_per_s: *per_s,
            }));
        }
        let fit = scalability(&points, CONFIDENCE, RESAMPLING)?;
        Some(Self {
            distance: fit.law.residual(&points),
            executions: points.len(),
            fit,
        })
    }

    /// False if the points do not follow the model: then it is not drawn, and names no peak.
    pub(crate) fn describes(&self) -> bool {
        self.distance <= DISTANCE_AT_MOST
    }

    /// The peak of the throughput; an error if it is not known or beyond the measured range.
    pub(crate) fn peak(&self) -> Result<Peak, NoPeak> {
        let peak = self.fit.peak?;
        if peak.concurrency.estimate <= self.fit.measured_up_to {
            Ok(peak)
        } else {
            Err(NoPeak {
                measured_up_to: self.fit.measured_up_to,
                concurrency: peak.concurrency,
            })
        }
    }

    /// The peak of the throughput in words, or the reason why it is not known.
    ///
    /// ```text
    /// peaks at 19 to 28 connections with 17.9k to 19.1k operations/s
    /// peak not reached (measured up to 64 connections, and the peak lies anywhere beyond 61)
    /// ```
    pub(crate) fn in_words(&self) -> String {
        if !self.describes() {
            let distance = percent(self.distance);
            return format!("no scaling model fits (best residual {distance})");
        }
        match self.peak() {
            Ok(peak) => format!(
                "peaks at {} connections with {} operations/s",
                range(&peak.concurrency, |n| format!("{n:.0}")),
                range(&peak.throughput_per_s, si)
            ),
            Err(none) => format!("peak not reached ({none})"),
        }
    }
}

/// The range in words: `19 to 28`, or `64` if both ends have the same text.
pub(crate) fn range(interval: &Interval, words: fn(f64) -> String) -> String {
    let (low, high) = (words(interval.low), words(interval.high));
    if low == high {
        low
    } else {
        format!("{low} to {high}")
    }
}

/// A sentence with the models of a facet; `None` if there is none.
///
/// ```text
/// Scaling model (USL): mix 1:0 peaks at 19 to 28 connections with 17.9k to 19.1k operations/s; mix 0:1 peak not reached (...).
/// ```
pub(crate) fn sentence(grid: &Grid, facet: &Facet) -> Option<String> {
    let factor = grid.line.as_ref().map(|factor| factor.name.as_str());
    let lines = facet.lines.iter().filter(|line| !line.is_empty());
    let said: Vec<String> = lines
        .filter_map(|line| {
            let words = Scaling::of(grid, line)?.in_words();
            Some(match (factor, &line.level) {
                (Some(factor), Some(level)) => format!("{factor} {level} {words}"),
                _ => words,
            })
        })
        .collect();
    let place = facet
        .name()
        .map_or(String::new(), |name| format!(", {name}"));
    (!said.is_empty()).then(|| format!("Scaling model (USL){place}: {}.", said.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scaling(per_s: &dyn Fn(f64) -> f64, up_to: u32) -> Scaling {
        let points: Vec<Point> = (0..=up_to)
            .flat_map(|power| {
                let concurrency = f64::from(1 << power);
                [0.99, 1.0, 1.01].map(|noise| Point {
                    concurrency,
                    throughput_per_s: per_s(concurrency) * noise,
                })
            })
            .collect();
        let fit = scalability(&points, CONFIDENCE, RESAMPLING).unwrap();
        Scaling {
            distance: fit.law.residual(&points),
            executions: points.len(),
            fit,
        }
    }

    #[test]
    fn a_peak_is_named_only_once_it_was_passed() {
        let law = |n: f64| 1_000.0 * n / (1.0 + 0.03 * (n - 1.0) + 0.001 * n * (n - 1.0));
        let passed = scaling(&law, 6);
        assert!(
            passed.in_words().starts_with("peaks at 3"),
            "{}",
            passed.in_words()
        );
        let before = scaling(&law, 3);
        assert!(
            before
                .in_words()
                .starts_with("peak not reached (measured up to 8 connections")
        );
        assert!(before.describes() && before.distance < 0.02);
    }

    #[test]
    fn what_follows_no_law_is_not_described_by_one() {
        let saw = |n: f64| {
            if n.log2() % 2.0 == 0.0 {
                1_000.0
            } else {
                100.0
            }
        };
        let scaling = scaling(&saw, 6);
        assert!(!scaling.describes());
        assert!(
            scaling
                .in_words()
                .starts_with("no scaling model fits (best residual ")
        );
    }
}
