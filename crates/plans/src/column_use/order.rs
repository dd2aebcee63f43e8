//! The order in which a query wants its rows.

use std::collections::BTreeSet;

/// What is known of the orders of queries up to a place.
pub(super) struct Orders {
    /// The queries with a GROUP BY.
    pub(super) with_group: BTreeSet<usize>,
    /// Whether the order at the place has only whole columns in one direction.
    pub(super) is_plain: bool,
    /// The direction of the order at the place.
    pub(super) is_descending: Option<bool>,
}

impl Default for Orders {
    fn default() -> Self {
        Self {
            with_group: BTreeSet::new(),
            is_plain: true,
            is_descending: None,
        }
    }
}
