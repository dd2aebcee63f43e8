//! The two designs of a comparison, with what `dbdyno ab` plans for each.

/// How the two servers of a comparison are measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Design {
    SideBySide,
    Classical,
}

impl Design {
    /// The design's name on the command line of `ab` and in names of comparisons.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::SideBySide => "side-by-side",
            Self::Classical => "classical",
        }
    }

    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::SideBySide => "side by side",
            Self::Classical => "classical",
        }
    }

    /// Maximum number of blocks within a budget, as `ab` computes it for two levels: a block of two runs takes 36 s, a
    /// session of 30 s of slices for each server 88 s.
    pub(crate) fn blocks_at_most(self, budget_minutes: u32) -> u32 {
        let seconds = budget_minutes * 60;
        match self {
            Self::SideBySide => (seconds / 88).clamp(1, 30),
            Self::Classical => (seconds / 36).clamp(3, 30),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_those_of_ab() {
        // crates/dbdyno/src/commands/ab/budget.rs has the same numbers for 10 minutes.
        assert_eq!(Design::Classical.blocks_at_most(10), 16);
        assert_eq!(Design::SideBySide.blocks_at_most(10), 6);
        assert_eq!(Design::Classical.blocks_at_most(1), 3);
    }
}
