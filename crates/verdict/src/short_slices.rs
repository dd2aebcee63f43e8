//! Slices that are too short: their throughputs say how many operations happened to end in them.

use units::{counted, moment};

use crate::side::Execution;

/// Operations in the median slice of a combination below which nothing is decided: of so few, one more or one less changes
/// the throughput by more than a fifth.
const OPERATIONS_AT_LEAST: u64 = 5;
/// Operations that a slice of the proposed length holds.
const OPERATIONS_WANTED: f64 = 20.0;

/// Slices of runs side by side that hold too few operations for a decision.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ShortSlices {
    /// Length of a slice, seconds.
    pub slice_s: f64,
    /// Operations that ended in the median slice, of the side where these were fewer.
    pub operations: u64,
    /// Length of a slice that would hold about 20 operations, seconds; `None` if no slice can be as long, if no operation
    /// ended in any slice, and if a few slices hold most of the operations, so that a longer one would not help.
    pub enough_s: Option<f64>,
}

impl ShortSlices {
    /// Longest slice of an experiment, seconds.
    pub const SLICE_S_AT_MOST: f64 = 60.0;

    /// Those of the two sides of a comparison; `None` if they are long enough, and for executions that have no slices.
    pub(crate) fn of(sides: [&[&Execution<'_>]; 2]) -> Option<Self> {
        let short = sides.into_iter().filter_map(Self::of_side);
        let enough_s = |it: &Self| it.enough_s.unwrap_or(f64::INFINITY);
        short.max_by(|one, other| enough_s(one).total_cmp(&enough_s(other)))
    }

    fn of_side(executions: &[&Execution<'_>]) -> Option<Self> {
        let turns = executions.first()?.record.side_by_side.as_ref()?;
        let batches = executions.iter().filter_map(|it| it.slices.as_ref());
        let ended = batches.flat_map(|it| it.ended.iter().copied());
        Self::of_slices(turns.slice_s, ended.collect())
    }

    /// Those of slices of this length in which these numbers of operations ended.
    fn of_slices(slice_s: f64, mut ended: Vec<u64>) -> Option<Self> {
        ended.sort_unstable();
        let middle = ended.len().saturating_sub(1) / 2;
        let operations = *ended.get(middle)?;
        if operations >= OPERATIONS_AT_LEAST {
            return None;
        }
        // The mean, because the median may be 0.
        let (all, length_s) = (ended.iter().sum::<u64>(), ended.len() as f64 * slice_s);
        let enough_s = round_up(OPERATIONS_WANTED * length_s / all as f64);
        Some(Self {
            slice_s,
            operations,
            enough_s: Some(enough_s).filter(|it| *it > slice_s && *it <= Self::SLICE_S_AT_MOST),
        })
    }

    /// A clause that says why nothing is decided, and what to do.
    ///
    /// ```text
    /// slices of 0.1 s are too short: the median slice holds 2 operations, and one of 1 s would hold about 20
    /// ```
    pub fn in_words(&self) -> String {
        let held = match self.operations {
            0 => "no operation".to_owned(),
            some => counted(some as usize, "operation"),
        };
        let remedy = match self.enough_s {
            Some(enough_s) => format!(
                ", and one of {} would hold about {OPERATIONS_WANTED}",
                moment(enough_s)
            ),
            None => "; use the classical design".to_owned(),
        };
        format!(
            "slices of {} are too short: the median slice holds {held}{remedy}",
            moment(self.slice_s)
        )
    }
}

/// The next tenth of a second below a second, and the next second from there on.
fn round_up(seconds: f64) -> f64 {
    if seconds > 0.9 {
        seconds.ceil()
    } else {
        (seconds * 10.0).ceil() / 10.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_slice_holds_a_few_operations() {
        for (ended, operations, enough_s) in [
            (vec![5, 5, 5], None, None),
            (vec![0, 0, 5, 9, 9], None, None),
            // 2 in half a second.
            (vec![2, 2, 2], Some(2), Some(5.0)),
            // Most of a long operation is in other slices: 1 in 1.5 s.
            (vec![0, 1, 0], Some(0), Some(30.0)),
            (vec![0, 0, 1, 0, 0], Some(0), Some(50.0)),
            (vec![0, 0, 1, 0, 0, 0, 0], Some(0), None),
            (vec![0, 0, 0], Some(0), None),
            // Most slices are stalls.
            (vec![0, 0, 0, 100, 100], Some(0), None),
            (vec![], None, None),
        ] {
            let found = ShortSlices::of_slices(0.5, ended.clone());
            assert_eq!(found.map(|it| it.operations), operations, "{ended:?}");
            assert_eq!(found.and_then(|it| it.enough_s), enough_s, "{ended:?}");
        }
    }

    #[test]
    fn proposed_lengths_are_round() {
        for (seconds, expected) in [(0.11, 0.2), (0.3, 0.3), (0.91, 1.0), (1.0, 1.0), (4.1, 5.0)] {
            assert_eq!(round_up(seconds), expected, "{seconds}");
        }
    }

    #[test]
    fn the_clause_names_the_length_to_use() {
        let said = |ended| ShortSlices::of_slices(0.5, ended).unwrap().in_words();
        assert_eq!(
            said(vec![1, 2, 1]),
            "slices of 0.5 s are too short: the median slice holds 1 operation, and one of 8 s would hold about 20"
        );
        assert_eq!(
            said(vec![0, 0]),
            "slices of 0.5 s are too short: the median slice holds no operation; use the classical design"
        );
    }
}
