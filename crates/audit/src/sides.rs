//! The audit of the two sides of a comparison: each by itself, and both together.

use samples::Record;

use crate::{
    finding::{Finding, Level},
    judgement::{Audit, Judgement, audit, judge},
    rule::Rule,
    rules::{CLIENT_SATURATION, DURABILITY, ERRORS, NEIGHBOURS, ONE_FACTOR, ORDER, STEADINESS},
    session::took_turns,
    subject::{AuditedRun, Preregistration, Subject},
};

/// Rules about each side that make its figures unfit for a comparison.
const OF_EACH: [&Rule; 4] = [ERRORS, CLIENT_SATURATION, NEIGHBOURS, STEADINESS];
/// Rules that prevent a verdict if one side fails: its figures are then those of its failures, or of its client.
const REFUSING: [&Rule; 2] = [ERRORS, CLIENT_SATURATION];
/// Rules about both sides that show another possible cause of the difference.
const TOGETHER: [&Rule; 3] = [DURABILITY, ONE_FACTOR, ORDER];

/// The audit of the two sides of a comparison.
#[derive(Debug, Clone)]
pub struct SidesAudit {
    /// The audits of A and B by themselves.
    pub sides: [Audit; 2],
    /// The outcomes of C01, C02 and M07 for both sides together.
    pub together: Vec<Judgement>,
    /// The side that was measured completely before the other began: 0 for A; `None` if their runs are mixed.
    pub first: Option<usize>,
}

/// A finding about one side, or about both together.
#[derive(Debug, Clone, Copy)]
pub struct SidesFinding<'a> {
    /// The side: 0 for A, 1 for B; `None` for both together.
    pub side: Option<usize>,
    pub rule: &'static Rule,
    pub finding: &'a Finding,
}

impl SidesAudit {
    /// Audits two sides; `both` holds the runs of A and then those of B, each with its side.
    pub fn of(sides: [&Subject<'_>; 2], both: &Subject<'_>) -> Self {
        let together = TOGETHER.map(|rule| {
            // A factor's own setting always differs, and C02 cannot know that it was meant to.
            let outcome = if rule.is(ONE_FACTOR) {
                let undeclared = Subject {
                    declared: Preregistration::default(),
                    ..both.clone()
                };
                judge(rule, &undeclared)
            } else {
                judge(rule, both)
            };
            Judgement { rule, outcome }
        });
        Self {
            sides: sides.map(audit),
            together: together.into(),
            first: first_side(sides),
        }
    }

    /// The findings to print beside the answer, those about both sides last.
    pub fn findings(&self) -> Vec<SidesFinding<'_>> {
        let of_each = self.sides.iter().enumerate().flat_map(|(side, audit)| {
            let judgements = audit.judgements.iter();
            let known = judgements.filter(|it| OF_EACH.iter().any(|rule| rule.is(it.rule)));
            known.map(move |judgement| (Some(side), judgement))
        });
        let together = self.together.iter().map(|judgement| (None, judgement));
        let all = of_each.chain(together);
        let found = all.filter_map(|(side, judgement)| {
            let finding = judgement.outcome.as_ref().ok()?;
            let rule = judgement.rule;
            let is_told = if rule.is(ORDER) {
                // The order of the sides has its own message.
                finding.level > Level::Pass && self.first.is_none()
            } else if rule.is(DURABILITY) {
                finding.level > Level::Pass
            } else {
                finding.level > Level::Note
            };
            is_told.then_some(SidesFinding {
                side,
                rule,
                finding,
            })
        });
        found.collect()
    }

    /// Other work on the machine that met one side and not the other, so that a difference may be its doing: on one side only, or
    /// while one side was measured completely before the other. What meets runs that are mixed is in their interval.
    pub fn disturbance(&self) -> Option<SidesFinding<'_>> {
        let mut found = self.findings();
        found.retain(|it| it.rule.is(NEIGHBOURS) && it.finding.level == Level::Invalid);
        let is_one_sided = found.len() == 1 || self.first.is_some();
        found.into_iter().next().filter(|_| is_one_sided)
    }

    /// The findings that prevent a verdict.
    pub fn refusals(&self) -> Vec<SidesFinding<'_>> {
        let mut findings = self.findings();
        findings.retain(|it| {
            let is_refusing = REFUSING.iter().any(|rule| rule.is(it.rule));
            is_refusing && it.finding.level >= Level::Fail
        });
        findings
    }
}

/// The rule by which the figures of a run are those of its failures or of its client, so that they decide nothing; `None` where
/// they are the server's.
pub fn unfit(record: &Record) -> Option<&'static Rule> {
    let mut rules = REFUSING.into_iter();
    rules.find(|rule| has_level(rule, record, Level::Fail))
}

/// The rule by which other programs used much of the machine during a run; `None` where they did not. What they take from two
/// sides by turns is in the interval, but one side may bear less of it than the other: a decision is then about the machine
/// as it was.
pub fn shared_machine(record: &Record) -> Option<&'static Rule> {
    has_level(NEIGHBOURS, record, Level::Invalid).then_some(NEIGHBOURS)
}

/// The rule about other programs if it holds in more than half of the runs behind an answer, of which `judged` has one
/// each.
pub fn mostly_shared(judged: impl Iterator<Item = Option<&'static Rule>>) -> Option<&'static Rule> {
    let judged: Vec<_> = judged.collect();
    let mut shared = judged.iter().flatten();
    let are_most = 2 * shared.clone().count() > judged.len();
    shared.next().copied().filter(|_| are_most)
}

/// True if a rule finds something of this level, or worse, in a run by itself.
fn has_level(rule: &Rule, record: &Record, level: Level) -> bool {
    let outcome = judge(rule, &Subject::of_run(record, None));
    outcome.is_ok_and(|finding| finding.level >= level)
}

impl SidesFinding<'_> {
    /// `A`, `B` or `A and B`.
    pub fn of(&self) -> &'static str {
        match self.side {
            Some(0) => "A",
            Some(_) => "B",
            None => "A and B",
        }
    }
}

/// The side whose runs all began before the first run of the other; none if their loads took turns.
fn first_side(sides: [&Subject<'_>; 2]) -> Option<usize> {
    let [a, b] = sides.map(|side| &side.runs);
    let takes_turns = |run: &AuditedRun<'_>| b.iter().any(|it| took_turns(run.record, it.record));
    if a.iter().any(takes_turns) {
        return None;
    }
    let spans = sides.map(|side| {
        // RFC 3339 times in UTC sort as text.
        let begun = side.runs.iter().map(|run| &run.record.header.started_at);
        Some((begun.clone().min()?, begun.max()?))
    });
    match spans {
        [Some((_, last_of_a)), Some((first_of_b, _))] if last_of_a < first_of_b => Some(0),
        [Some((first_of_a, _)), Some((_, last_of_b))] if last_of_b < first_of_a => Some(1),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use samples::{ErrorCount, Record};

    use super::*;
    use crate::fixture::{blocks_over, each_sample, in_turns, over, run_of};

    fn subject<'a>(records: &'a [Record], side: Option<&str>) -> Subject<'a> {
        let runs = records.iter().map(|record| AuditedRun {
            record,
            limit: None,
            side: side.map(str::to_owned),
        });
        Subject {
            runs: runs.collect(),
            ..Subject::default()
        }
    }

    fn audited(a: &[Record], b: &[Record]) -> SidesAudit {
        let sides = [subject(a, None), subject(b, None)];
        let mut both = subject(a, Some("a"));
        both.runs.extend(subject(b, Some("b")).runs);
        SidesAudit::of(sides.each_ref(), &both)
    }

    fn runs(numbers: [u32; 3]) -> Vec<Record> {
        numbers.map(|number| run_of(number, number, &[])).into()
    }

    #[test]
    fn failures_of_one_side_refuse_a_decision() {
        let (a, mut b) = (runs([1, 3, 6]), runs([2, 4, 5]));
        assert!(audited(&a, &b).refusals().is_empty());
        for record in &mut b {
            record.errors.push(ErrorCount {
                load: "smacker".to_owned(),
                number: 1213,
                count: 5_000_000,
                in_measurement: 5_000_000,
                message: "Deadlock found".to_owned(),
                ..ErrorCount::default()
            });
        }
        let found = audited(&a, &b);
        let refusals = found.refusals();
        let of: Vec<_> = refusals.iter().map(|it| (it.of(), it.rule.id)).collect();
        assert_eq!(of, [("B", "W10")]);
    }

    #[test]
    fn other_work_on_one_side_is_a_disturbance() {
        let disturbed = |mut records: Vec<Record>| {
            for record in &mut records {
                each_sample(record, |sample| {
                    sample.machine.as_mut().unwrap().steal_s = 0.4;
                });
            }
            records
        };
        let mixed = (runs([1, 3, 6]), runs([2, 4, 5]));
        let of = |a: &[Record], b: &[Record]| audited(a, b).disturbance().map(|it| it.of());
        assert_eq!(of(&mixed.0, &mixed.1), None);
        assert_eq!(of(&mixed.0, &disturbed(mixed.1.clone())), Some("B"));
        let both = (disturbed(mixed.0), disturbed(mixed.1));
        assert_eq!(of(&both.0, &both.1), None, "their interval has it");
        let (first, then) = (disturbed(runs([1, 2, 3])), disturbed(runs([4, 5, 6])));
        assert_eq!(of(&first, &then), Some("A"));
    }

    #[test]
    fn another_durability_is_told() {
        let (a, mut b) = (runs([1, 3, 6]), runs([2, 4, 5]));
        for server in b.iter_mut().flat_map(|record| &mut record.servers) {
            let name = "innodb_flush_log_at_trx_commit".to_owned();
            server.variables.insert(name, "2".to_owned());
        }
        let found = audited(&a, &b);
        let told = found.findings();
        let told: Vec<_> = told.iter().map(|it| (it.of(), it.rule.id)).collect();
        assert!(told.contains(&("A and B", "C01")), "{told:?}");
    }

    #[test]
    fn sides_whose_loads_took_turns_are_mixed() {
        let run = |number: u32, level: &str| {
            let mut record = run_of(number, 1, &[("flush", level)]);
            in_turns(&mut record);
            record.header.started_at = format!("2026-11-21T10:00:0{number}Z");
            record
        };
        let (a, mut b) = (vec![run(1, "1")], vec![run(2, "2")]);
        assert_eq!(audited(&a, &b).first, None);
        b[0].side_by_side = None;
        assert_eq!(audited(&a, &b).first, Some(0));
    }

    #[test]
    fn sides_one_after_the_other_are_told_apart_from_mixed_ones() {
        assert_eq!(audited(&runs([1, 3, 6]), &runs([2, 4, 5])).first, None);
        let found = audited(&runs([1, 2, 3]), &runs([4, 5, 6]));
        assert_eq!(found.first, Some(0));
        assert!(found.findings().iter().all(|it| !it.rule.is(ORDER)));
        assert_eq!(audited(&runs([4, 5, 6]), &runs([1, 2, 3])).first, Some(1));
        let blocks = blocks_over("flush", &["1", "2"]);
        let declared = over(&["flush"]);
        let alone = Subject {
            declared,
            ..subject(&blocks, None)
        };
        let none = subject(&[], None);
        assert_eq!(first_side([&alone, &none]), None);
    }
}
