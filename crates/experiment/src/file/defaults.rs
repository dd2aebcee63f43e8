//! Defaults for values that an experiment file does not set.

use serde::{Deserialize, Serialize};

/// The version of the defaults, stored as a number in the results; [`Defaults::default`] are the current ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Defaults(u32);

impl Defaults {
    /// For results from before the first change, which contain no number.
    pub(crate) const FIRST: Self = Self(0);
    /// From this version on, the options of the workloads have the current defaults.
    pub(crate) const OPTIONS: Self = Self(1);
    /// From this version on, the first blocks do not all have the same order.
    pub(crate) const RESTRICTED_ORDER: Self = Self(2);
}

impl Default for Defaults {
    fn default() -> Self {
        Self::RESTRICTED_ORDER
    }
}
