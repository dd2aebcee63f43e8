//! The rules that cannot be evaluated yet, each with its missing input.

use crate::rule::WaitingRule;

/// All waiting rules, in the order of the page.
pub const WAITING: &[WaitingRule] = &[];
