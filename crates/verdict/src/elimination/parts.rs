//! A configuration as the set of its parts.

use std::collections::BTreeSet;

/// The numbers of parts.
pub type Parts = BTreeSet<usize>;
