//! A number of operations that several event loops share.

use std::{
    cell::Cell,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

/// Maximum number of operations that an event loop takes from the budget at once.
const CHUNK_AT_MOST: u64 = 64;

/// The rest of a number of operations.
#[derive(Debug)]
pub(crate) struct Budget {
    left: AtomicU64,
    loops: u64,
}

impl Budget {
    /// This number of operations for this number of event loops.
    pub(crate) fn new(operations: u64, loops: u32) -> Self {
        Self {
            left: AtomicU64::new(operations),
            loops: loops.into(),
        }
    }

    /// Takes some operations; 0 when none are left.
    fn claim(&self) -> u64 {
        // Small towards the end, so that no loop is left with work while the others are idle.
        let chunk = |left: u64| left.min((left / (16 * self.loops)).clamp(1, CHUNK_AT_MOST));
        let before = self
            .left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                Some(left - chunk(left))
            });
        // The update never refuses.
        chunk(before.unwrap_or_else(|left| left))
    }
}

/// One event loop's share of a budget.
#[derive(Debug)]
pub(crate) struct Allowance {
    /// `None` if the number of operations is not limited.
    budget: Option<Arc<Budget>>,
    claimed: Cell<u64>,
}

impl Allowance {
    /// The share of a loop that has not taken any operation yet.
    pub(crate) fn new(budget: Option<Arc<Budget>>) -> Self {
        Self {
            budget,
            claimed: Cell::new(0),
        }
    }

    /// True if the number of operations is limited.
    pub(crate) fn is_limited(&self) -> bool {
        self.budget.is_some()
    }

    /// Takes one operation; false when none is left.
    pub(crate) fn take(&self) -> bool {
        let Some(budget) = &self.budget else {
            return true;
        };
        let claimed = match self.claimed.get() {
            0 => budget.claim(),
            claimed => claimed,
        };
        self.claimed.set(claimed.saturating_sub(1));
        claimed > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_is_exact_however_the_loops_take_turns() {
        for (operations, loops) in [(0, 1), (1, 4), (1_000, 1), (12_345, 3)] {
            let budget = Arc::new(Budget::new(operations, loops));
            let shares: Vec<_> = (0..loops)
                .map(|_| Allowance::new(Some(Arc::clone(&budget))))
                .collect();
            let mut taken = 0;
            // The first loop is three times as fast as the others.
            while shares.iter().enumerate().any(|(index, share)| {
                let tries = if index == 0 { 3 } else { 1 };
                let got = (0..tries).filter(|_| share.take()).count();
                taken += got;
                got > 0
            }) {}
            while shares.iter().any(Allowance::take) {
                taken += 1;
            }
            assert_eq!(taken as u64, operations, "{loops} loops");
        }
    }

    #[test]
    fn without_a_budget_there_is_no_limit() {
        let unlimited = Allowance::new(None);
        assert!(!unlimited.is_limited() && unlimited.take());
    }
}
