//! Statement counts by effect: reads, writes and others.

/// Statement counts by effect.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Classes {
    /// Statements that returned rows.
    pub reads: u64,
    /// Statements that changed rows.
    pub writes: u64,
    /// Statements that did neither.
    pub others: u64,
}

impl Classes {
    /// The sum of all classes.
    pub fn all(self) -> u64 {
        self.reads + self.writes + self.others
    }
}

impl std::ops::AddAssign for Classes {
    fn add_assign(&mut self, more: Self) {
        self.reads += more.reads;
        self.writes += more.writes;
        self.others += more.others;
    }
}
