//! Results whose interval is about as wide as their figure.

use figures::throughput_of;
use units::per_s;

use crate::set::{Combination, Set, in_words};

/// Ratio of an interval's upper to its lower end from which the figure is only an order of magnitude: the interval is then
/// about as wide as the figure.
const ENDS_MAX: f64 = 2.0;

/// The throughput of a combination with a wide interval.
#[derive(Debug)]
pub(crate) struct WideInterval {
    of: Combination,
    low_per_s: f64,
    high_per_s: f64,
}

impl WideInterval {
    /// The widest interval of all combinations, if its upper end is more than twice its lower end. The runs of a search
    /// have different rates, so they have no common figure.
    pub(crate) fn widest(set: &Set<'_>) -> Option<Self> {
        if set.declared.is_search {
            return None;
        }
        let all = set.combinations().into_iter();
        let wide = all.filter_map(|(of, runs)| {
            // `None` with fewer than two runs.
            let bounds = throughput_of(runs.iter().map(|run| &run.figures))?.bounds;
            let (low_per_s, high_per_s) = bounds?;
            let it = Self {
                of,
                low_per_s,
                high_per_s,
            };
            (it.ratio() > ENDS_MAX).then_some(it)
        });
        wide.max_by(|one, other| one.ratio().total_cmp(&other.ratio()))
    }

    /// The upper end as a multiple of the lower end.
    fn ratio(&self) -> f64 {
        self.high_per_s / self.low_per_s
    }

    /// `the 95 % interval of connections=8 is 910/s to 36.0k/s`
    pub(crate) fn in_words(&self) -> String {
        format!(
            "the 95 % interval of {} is {} to {}",
            in_words(&self.of),
            per_s(self.low_per_s),
            per_s(self.high_per_s)
        )
    }
}
