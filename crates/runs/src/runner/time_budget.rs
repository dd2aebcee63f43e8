//! Whether the time of a budget is spent: a matter of the clock alone, never of what was measured.

use std::time::Duration;

/// How much time an experiment may take, and what its blocks took so far.
#[derive(Debug)]
pub(super) struct TimeBudget {
    /// `None` where nothing limits it.
    limit: Option<Duration>,
    /// What earlier commands took for the same results.
    earlier: Duration,
    /// The longest block so far.
    block: Duration,
}

impl TimeBudget {
    /// A budget of which earlier commands have spent a part, on a number of whole blocks.
    pub(super) fn new(limit: Option<Duration>, earlier: Duration, blocks: u32) -> Self {
        Self {
            limit,
            earlier,
            block: earlier.checked_div(blocks).unwrap_or_default(),
        }
    }

    pub(super) fn block_took(&mut self, took: Duration) {
        self.block = self.block.max(took);
    }

    /// The time left of the limit at this time after the command began; without end where nothing limits it.
    pub(super) fn left(&self, elapsed: Duration) -> Duration {
        let used = self.earlier.saturating_add(elapsed);
        let left = self.limit.map(|limit| limit.saturating_sub(used));
        left.unwrap_or(Duration::MAX)
    }

    /// Says so where no time is left for another block, at this time after the command began; the first block of all begins
    /// however long it takes.
    pub(super) fn spent_before(&self, block: u32, elapsed: Duration) -> Option<String> {
        let limit = self.limit?;
        let used = self.earlier.saturating_add(elapsed);
        (block > 1 && used.saturating_add(self.block) > limit).then(|| {
            let blocks = block - 1;
            let of = if blocks == 1 { "block" } else { "blocks" };
            format!(
                "the time limit of {} leaves no time for another block: {blocks} {of} took {}, and the next one can \
                 take up to {}",
                units::span(limit),
                units::span(used),
                units::span(self.block)
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn s(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn no_block_begins_that_would_not_end_in_time() {
        let mut budget = TimeBudget::new(Some(s(100)), s(0), 0);
        assert_eq!(budget.spent_before(1, s(500)), None);
        budget.block_took(s(30));
        budget.block_took(s(20));
        assert_eq!(budget.spent_before(3, s(70)), None);
        assert_eq!(
            budget.spent_before(4, s(71)).as_deref(),
            Some(
                "the time limit of 1 min 40 s leaves no time for another block: 3 blocks took 1 min 11 s, and the \
                 next one can take up to 30 s"
            )
        );
        let unlimited = TimeBudget::new(None, s(0), 0);
        assert_eq!(unlimited.spent_before(4, s(9_999)), None);
        // What earlier commands took stands in a file, which may say anything.
        let absurd = TimeBudget::new(Some(s(100)), Duration::MAX, 1);
        assert!(absurd.spent_before(2, s(1)).is_some());
    }

    #[test]
    fn what_earlier_commands_took_counts() {
        let resumed = TimeBudget::new(Some(s(100)), s(60), 3);
        assert_eq!(resumed.spent_before(4, s(20)), None);
        assert_eq!((resumed.left(s(15)), resumed.left(s(50))), (s(25), s(0)));
        assert_eq!(TimeBudget::new(None, s(60), 3).left(s(9)), Duration::MAX);
        assert!(resumed.spent_before(4, s(21)).is_some());
    }
}
