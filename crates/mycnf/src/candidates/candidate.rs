//! Lines that are tested together.

use crate::entry::Entry;

/// Lines that are tested together, because they make sense only together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The options, by the names of the catalogue.
    pub options: Vec<String>,
    /// The lines of the file; empty if it leaves to the default what the base sets.
    pub lines: Vec<Entry>,
    /// The lines of the base.
    pub base: Vec<Entry>,
}
