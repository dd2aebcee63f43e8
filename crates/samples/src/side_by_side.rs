//! How a load took turns with those of the other combinations of its block.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// How a load took turns with those of the other combinations of its block.
///
/// The servers of one block stand at the same time, which is a session. One load at a time has a turn: a settling time, then
/// a slice, which is the measured part. In a block of slices each combination has one slice.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SideBySide {
    /// All combinations of the session, in the plan's order, this one included.
    pub combinations: Vec<BTreeMap<String, String>>,
    /// Length of a slice, seconds.
    pub slice_s: f64,
    /// Time before each slice in which the load runs and is not measured, seconds.
    pub settle_s: f64,
    /// Blocks of slices that are compared as one batch.
    pub slices_per_batch: u32,
    /// Most blocks of slices in the session: a multiple of `slices_per_batch`.
    pub slices_at_most: u32,
    /// True if several combinations have the same server: between the slices of one load, it works for the others.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub on_one_server: bool,
    /// The variables that SET GLOBAL set on the existing server before each turn of this load, with their values.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub set_global: BTreeMap<String, String>,
    /// True if each turn was followed by a pause until its server was quiet.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub quiet: bool,
}

impl SideBySide {
    /// Most batches in the session.
    pub fn batches_at_most(&self) -> u32 {
        self.slices_at_most / self.slices_per_batch.max(1)
    }

    /// True for the turns of two loads of one session, which may differ in the variables that are set before them.
    pub fn is_of_session(&self, other: &Self) -> bool {
        let session = |turns: &Self| Self {
            set_global: BTreeMap::new(),
            ..turns.clone()
        };
        session(self) == session(other)
    }

    /// The batch of a slice; both are counted from 1.
    pub fn batch_of(&self, slice: u32) -> u32 {
        slice.saturating_sub(1) / self.slices_per_batch.max(1) + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_turns_of_a_session_may_set_different_values() {
        let one = SideBySide {
            slice_s: 0.5,
            settle_s: 0.1,
            slices_per_batch: 5,
            slices_at_most: 15,
            on_one_server: true,
            set_global: BTreeMap::from([("sync_binlog".to_owned(), "0".to_owned())]),
            ..SideBySide::default()
        };
        let mut other = one.clone();
        other
            .set_global
            .insert("sync_binlog".to_owned(), "1".to_owned());
        assert!(one.is_of_session(&other));
        other.slice_s = 1.0;
        assert!(!one.is_of_session(&other));
    }

    #[test]
    fn successive_slices_are_one_batch() {
        let turns = SideBySide {
            slice_s: 0.5,
            settle_s: 0.1,
            slices_per_batch: 5,
            slices_at_most: 15,
            ..SideBySide::default()
        };
        assert_eq!(turns.batches_at_most(), 3);
        let batches = [1, 5, 6, 10, 15].map(|slice| turns.batch_of(slice));
        assert_eq!(batches, [1, 1, 2, 2, 3]);
        // As in a damaged record.
        let none = SideBySide {
            slices_per_batch: 0,
            ..turns
        };
        assert_eq!((none.batches_at_most(), none.batch_of(0)), (15, 1));
    }
}
