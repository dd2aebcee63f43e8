//! Properties of the known loads that a record does not contain.

use std::collections::BTreeSet;

/// The operation whose throughput is reported per minute.
///
/// Source: TPC-C 5.11, clause 5.4.2.
pub const NEW_ORDER: &str = "New-Order";

/// The properties of a known load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownLoad {
    /// Name, as in the intervals of a record.
    pub name: &'static str,
    /// The kind of its own checks: `consistency conditions`.
    pub own_checks: &'static str,
    /// The distribution of its keys.
    pub keys: &'static str,
}

pub const KNOWN_LOADS: [KnownLoad; 1] = [KnownLoad {
    name: "tpcc",
    own_checks: "consistency conditions",
    keys: "NURand of TPC-C (clause 2.1.6)",
}];

impl KnownLoad {
    /// The known load among the loads of a record.
    pub fn among(loads: &BTreeSet<String>) -> Option<&'static Self> {
        KNOWN_LOADS.iter().find(|known| loads.contains(known.name))
    }
}
