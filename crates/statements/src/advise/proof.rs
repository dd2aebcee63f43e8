//! What a trial says about a candidate.

use stats::Interval;
use units::change_and_interval;
use verdict::Decision;

use crate::compare::{Comparison, Finding, IndexPrice, Report, Verdict};

/// The verdicts that speak against a remedy, the worst one first.
pub(super) const HARMS: [Verdict; 2] = [Verdict::OtherResult, Verdict::OfTime(Decision::Slower)];

/// What came of a candidate.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Proof {
    /// It makes these statements certainly faster.
    Kept {
        faster: Vec<Effect>,
        slower: Vec<Effect>,
        /// Size of the index and its part of writes.
        price: Option<IndexPrice>,
    },
    /// It does not: what it does to each statement.
    Rejected(Vec<Effect>),
    /// The optimizer does not choose the index for any statement, so that nothing was measured.
    Unused,
    /// It cannot be made, or its copy does not start, with the reason.
    CannotBeMade(String),
    /// More candidates than are measured, or the measurement ended before.
    NotTried,
}

/// What a candidate does to a statement.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Effect {
    /// Name of the statement.
    pub(super) statement: String,
    pub(super) verdict: Verdict,
    /// Mean times without and with it, seconds.
    pub(super) means_s: Option<[f64; 2]>,
    /// With divided by without.
    pub(super) ratio: Option<Interval>,
    /// The result check, or else the reason; empty without one.
    pub(super) why: String,
}

impl Effect {
    fn of(finding: &Finding) -> Self {
        let compared = finding.compared();
        let ratio = compared
            .and_then(|compared| compared.comparison)
            .map(|it| it.ratio);
        Self {
            statement: finding.statement.clone(),
            verdict: finding.verdict(),
            means_s: compared.map(|it| it.means),
            ratio,
            why: match (finding.check(), finding.reason()) {
                (Some(check), Some(reason)) if finding.is_tied() => format!("{reason}; {check}"),
                (check, reason) => check.or(reason).unwrap_or_default(),
            },
        }
    }

    /// Share of the time that it saves: rounds have baselines of their own, so that their seconds do not compare.
    pub(super) fn saved_share(&self) -> f64 {
        self.means_s
            .filter(|[before, _]| *before > 0.0)
            .map_or(0.0, |[before, after]| 1.0 - after / before)
    }

    /// `125 ms to 3.20 ms`.
    pub(super) fn times(&self) -> Option<String> {
        let [before, after] = self.means_s?.map(units::seconds);
        Some(format!("{before} to {after}"))
    }

    /// `Q1: faster, 125 ms to 3.20 ms, -97.4 % (-98 % to -96.5 %); because rows read 200k to 5`.
    pub(super) fn sentence(&self) -> String {
        let numbers = self.ratio.map(|ratio| {
            let [change, interval] = change_and_interval(ratio.estimate, (ratio.low, ratio.high));
            format!("{change} ({interval})")
        });
        let parts = [Some(self.verdict.word().to_owned()), self.times(), numbers];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        let why = match self.why.as_str() {
            "" => String::new(),
            why => format!("; {why}"),
        };
        format!("{}: {}{why}", self.statement, parts.join(", "))
    }
}

impl Proof {
    /// What a trial says about the candidate of a side, which was proposed for these statements.
    pub(super) fn of(report: &Report, side: usize, proposed_for: &[&str]) -> Self {
        let of_side = || {
            report
                .findings
                .iter()
                .filter(|it| it.comparison.side == side)
        };
        // Without a comparison of the results it may be another one that is there faster.
        let faster: Vec<&Finding> = of_side()
            .filter(|it| Comparison::is_faster(&it.comparison))
            .collect();
        let worse: Vec<&Finding> = of_side()
            .filter(|it| HARMS.contains(&it.verdict()))
            .collect();
        let effects = |all: &[&Finding]| all.iter().map(|it| Effect::of(it)).collect::<Vec<_>>();
        // What it takes from other statements counts, too.
        let saved_s = |it: &&Finding| it.compared().map_or(0.0, |it| it.means[0] - it.means[1]);
        let net_s: f64 = faster.iter().chain(&worse).map(saved_s).sum();
        let is_different = worse.iter().any(|it| it.verdict() == Verdict::OtherResult);
        if faster.is_empty() || is_different || net_s <= 0.0 {
            let is_proposed = |it: &&Finding| proposed_for.contains(&it.statement.as_str());
            // It may affect only others: without any, an undecided one would seem to be without effect.
            let is_any_measured = of_side().any(|it| is_proposed(&it));
            let is_telling =
                |it: &&Finding| !is_any_measured || is_proposed(it) || is_one_of(&worse, it);
            let telling: Vec<&Finding> = of_side().filter(is_telling).collect();
            return Self::Rejected(effects(&telling));
        }
        Self::Kept {
            faster: effects(&faster),
            slower: effects(&worse),
            price: report.prices.get(side).cloned().flatten(),
        }
    }

    /// The effects on the statements that it makes faster.
    pub(super) fn faster(&self) -> &[Effect] {
        match self {
            Self::Kept { faster, .. } => faster,
            _ => &[],
        }
    }

    pub(super) fn is_kept(&self) -> bool {
        matches!(self, Self::Kept { .. })
    }
}

fn is_one_of(findings: &[&Finding], finding: &Finding) -> bool {
    findings.iter().any(|it| std::ptr::eq(*it, finding))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use protocol::RowsChecksum;

    use super::*;
    use crate::{
        compare::{ResultEquivalence, TrialParameters},
        execution::StatementResult,
    };

    /// A statement that the time did not suffice for.
    fn undecided(statement: &str) -> Finding {
        let result = StatementResult {
            time_s: 1.0,
            rows: RowsChecksum::default(),
            changed: 0,
            warnings: 0,
        };
        Finding {
            statement: statement.to_owned(),
            variant: "index".to_owned(),
            texts: Default::default(),
            plans: [None, None],
            is_one_version: true,
            has_limit: false,
            comparison: Comparison {
                statement: 0,
                side: 1,
                results: [result; 2],
                sameness: ResultEquivalence::Same,
                times_s: Vec::new(),
                compared: None,
                disturbed_by: None,
                costs: Default::default(),
            },
        }
    }

    fn report(findings: Vec<Finding>) -> Report {
        Report {
            version: "8.0.33".to_owned(),
            baseline: String::new(),
            copied: None,
            setup: None,
            versions: Vec::new(),
            terms: TrialParameters {
                blocks: 20,
                budget: Duration::ZERO,
                margin: 0.05,
                is_beyond_margin: true,
                seed: 1,
                family: 1,
            },
            blocks: 0,
            took: Duration::ZERO,
            findings,
            prices: vec![None, None],
            left_out: vec![None, None],
            failure: None,
            other_work: None,
            not_removed: None,
        }
    }

    #[test]
    fn the_statements_that_were_measured_tell_whether_a_candidate_is_undecided() {
        for (measured, expected) in [
            (&["Q1", "Q2"][..], &["Q1"][..]),
            // Its own statement was not executed, because it is not affected.
            (&["Q2"], &["Q2"]),
        ] {
            let findings = measured.iter().map(|it| undecided(it)).collect();
            let Proof::Rejected(effects) = Proof::of(&report(findings), 1, &["Q1"]) else {
                panic!("nothing is faster");
            };
            let told: Vec<&str> = effects.iter().map(|it| it.statement.as_str()).collect();
            assert_eq!(told, expected);
            let verdict = Verdict::OfTime(Decision::Inconclusive);
            assert!(effects.iter().all(|it| it.verdict == verdict));
        }
    }
}
