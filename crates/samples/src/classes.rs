//! Statements counted by what they did.

/// Statements by what they did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Classes {
    /// Returned rows.
    pub reads: u64,
    /// Changed rows.
    pub writes: u64,
    /// Did neither.
    pub others: u64,
}

impl Classes {
    /// All of them.
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
