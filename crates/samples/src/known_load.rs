//! What is known of a load by its name, where the record itself does not say it.

use std::collections::BTreeSet;

/// The operation that is counted by the minute.
///
/// Source: TPC-C 5.11, clause 5.4.2.
pub const NEW_ORDER: &str = "New-Order";

/// What is known of a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownLoad {
    /// As the intervals of a record call it.
    pub name: &'static str,
    /// How it checks what it did to its data: `consistency conditions`.
    pub own_checks: &'static str,
    /// How the keys are drawn that it asks for.
    pub keys: &'static str,
}

/// The known ones.
pub const KNOWN_LOADS: [KnownLoad; 1] = [KnownLoad {
    name: "tpcc",
    own_checks: "consistency conditions",
    keys: "NURand of TPC-C (clause 2.1.6)",
}];

impl KnownLoad {
    /// The known one among the loads of a record.
    pub fn among(loads: &BTreeSet<String>) -> Option<&'static Self> {
        KNOWN_LOADS.iter().find(|known| loads.contains(known.name))
    }
}
