//! What counts where an experiment file says nothing.

use serde::{Deserialize, Serialize};

/// Which defaults count, by the number that stands in the results; [`Defaults::default`] are those of today.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Defaults(u32);

impl Defaults {
    /// Of results from before the first change, in which no number stands.
    pub(crate) const FIRST: Self = Self(0);
    /// From here on the options of the workloads have the defaults of today.
    pub(crate) const OPTIONS: Self = Self(1);
    /// From here on the first blocks have not all the same order.
    pub(crate) const RESTRICTED_ORDER: Self = Self(2);
}

impl Default for Defaults {
    fn default() -> Self {
        Self::RESTRICTED_ORDER
    }
}
