//! The definition of a rule over the counters of a running server.

use crate::counters::Counters;
use crate::rule::{Rule, RuleFinding};
use crate::subject::Subject;

/// A rule that infers from counters; it is applied only to enough events.
#[derive(Debug)]
pub(crate) struct CounterRule {
    pub(crate) rule: Rule,
    pub(crate) base: Base,
    pub(crate) judge: fn(&Subject<'_>, &Counters) -> Option<RuleFinding>,
}

/// The events that a rule needs before it judges: a share of a few says nothing.
#[derive(Debug)]
pub(crate) struct Base {
    /// Counters of the events; their sum counts.
    pub(crate) counters: &'static [&'static str],
    pub(crate) at_least: u64,
}

/// What a rule makes of counters.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum RuleOutcome {
    /// The version does not have the counters.
    Unknown,
    /// Fewer events than the rule needs.
    TooEarly,
    Found(Option<RuleFinding>),
}

impl CounterRule {
    pub(crate) fn judge(&self, subject: &Subject<'_>, counters: &Counters) -> RuleOutcome {
        match counters.sum(self.base.counters) {
            None => RuleOutcome::Unknown,
            Some(events) if events < self.base.at_least => RuleOutcome::TooEarly,
            Some(_) => RuleOutcome::Found((self.judge)(subject, counters)),
        }
    }
}

/// The check of a file by a rule that needs counters: a file alone has none.
pub(crate) fn nothing_in_a_file(_: &Subject<'_>) -> Vec<RuleFinding> {
    Vec::new()
}

/// Events per second above which a rate is named "a second" and not "a minute".
const NAMED_BY_SECOND: f64 = 1.0;

/// An average rate since the start: `45 a second`, `12 a minute`, `3 an hour`.
pub(crate) fn rate(per_s: f64) -> String {
    if per_s >= NAMED_BY_SECOND {
        format!("{} a second", units::count(per_s.round()))
    } else if per_s * 60.0 >= 1.0 {
        format!("{} a minute", units::count((per_s * 60.0).round()))
    } else {
        format!("{} an hour", units::count((per_s * 3600.0).round()))
    }
}

/// One event a minute, per second: below it a rule about cost is silent.
pub(crate) const ONE_A_MINUTE: f64 = 1.0 / 60.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_have_the_unit_that_reads_well() {
        for (per_s, text) in [
            (45.2, "45 a second"),
            (0.2, "12 a minute"),
            (0.001, "4 an hour"),
        ] {
            assert_eq!(rate(per_s), text);
        }
    }
}
