//! The rules that cannot be evaluated yet, and what they wait for.

use crate::rule::WaitingRule;

/// All of them, in the order of the page.
pub const WAITING: &[WaitingRule] = &[WaitingRule {
    id: "W01",
    name: "a claim about storage comes from random access past the page cache",
    waits_for: "records of storage benchmarks, which dbdyno does not make",
}];
