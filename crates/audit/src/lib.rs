//! The audit of a benchmark: one rule per file over run records, and the grade of their findings.
//!
//! A rule has a finding (invalid, fail, warn, note or pass) with its figures, or does not apply, or could not be
//! evaluated because an input is missing. A rule without a finding never counts as passed. `docs/audit-rules.md`, the
//! page of the rules, is generated from them.

mod asked_comparison;
mod assessment;
mod commits;
mod contradictions;
mod difference;
mod disk_load;
mod durability;
mod finding;
mod grade;
mod intervals;
mod judgement;
mod page;
mod redo;
mod rule;
mod rules;
mod run;
mod session;
mod set;
mod sides;
mod steadiness;
mod steps;
mod storage;
mod subject;
mod unevenness;
mod words;

#[cfg(test)]
mod adversarial;
#[cfg(test)]
mod fixture;

pub use asked_comparison::AskedComparison;
pub use assessment::{Assessment, MACHINE_RULE, MachineState, Scope};
pub use finding::{Finding, Level, Outcome, SkipReason};
pub use grade::{FORMULA, Grade};
pub use judgement::{Audit, Judgement, audit, judge};
pub use page::page;
pub use rule::Rule;
pub use rules::{ONE_FACTOR, RULES};
pub use sides::{SidesAudit, SidesFinding, mostly_shared, shared_machine, unfit};
pub use subject::{
    AuditedRun, BesideRecords, Comparison, Limit, Preregistration, SearchLimit, Subject,
};
pub use words::other_programs_in_words;

/// The rule with this short name, in upper or lower case.
pub fn rule(id: &str) -> Option<&'static Rule> {
    let mut rules = RULES.iter().copied();
    rules.find(|rule| rule.id.eq_ignore_ascii_case(id))
}
