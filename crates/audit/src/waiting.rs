//! The rules that cannot be evaluated yet, each with its missing input.

use crate::rule::WaitingRule;

/// All waiting rules, in the order of the page.
pub const WAITING: &[WaitingRule] = &[WaitingRule {
    id: "W01",
    name: "a claim about storage comes from random access past the page cache",
    waits_for: "records of storage benchmarks, which dbdyno does not make",
}];
