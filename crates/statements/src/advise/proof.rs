//! What a trial says about a candidate.

use stats::Interval;
use units::change_and_interval;
use verdict::{Compared, Decision};

use crate::compare::{Finding, IndexPrice, Report, Verdict};

/// The verdicts that speak against a remedy, the worst one first.
const HARMS: [Verdict; 2] = [Verdict::OtherResult, Verdict::OfTime(Decision::Slower)];

/// The verdicts about a statement that do not rule out an effect, unless it is faster with the same result.
const UNDECIDED: [Verdict; 2] = [
    Verdict::OfTime(Decision::Inconclusive),
    // With a result that cannot be compared.
    Verdict::OfTime(Decision::Faster),
];

/// Stands for all statements that a candidate makes faster or slower, in place of a name.
const TOGETHER: &str = "together";

/// What came of a candidate.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Proof {
    Measured(Measured),
    /// The optimizer does not choose the index for any statement, so that nothing was measured.
    Unused,
    /// It cannot be made, or its copy does not start, with the reason.
    CannotBeMade(String),
    /// More candidates than are measured, or the measurement ended before.
    NotTried,
}

/// A candidate that was measured.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Measured {
    pub(super) outcome: Outcome,
    /// What it does to the statements that make the outcome; of a proved one the faster ones first.
    pub(super) effects: Vec<Effect>,
    /// Of a proved one, its effects that the measurement did not decide: they may be costs.
    pub(super) undecided: Vec<Effect>,
    /// The sum of the times of the statements that are faster or slower, where there are both.
    pub(super) together: Option<Box<Effect>>,
    /// Size of a proved index and its part of writes.
    pub(super) price: Option<IndexPrice>,
}

/// The decision about a candidate. It is one of intervals only: where one statement is faster and another one slower,
/// the difference of two means changes its sign from one trial to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// A statement is certainly faster, and none is certainly slower.
    Proved,
    /// There are both, and together they certainly take less time.
    ProvedWithCost,
    /// There are both, and it is not certain that together they take less or more time.
    NotProved,
    /// A statement is certainly slower, and none is faster, or together they certainly take more time.
    Slower,
    /// A statement returns another result, whatever time it takes.
    AnotherResult,
    /// The measurement did not decide whether a statement is faster.
    Undecided,
    /// Any effect is smaller than what matters.
    NoEffect,
}

impl Outcome {
    /// The decision by all findings about a candidate, by those that tell something about it, and by the sum.
    fn of(all: &[&Finding], telling: &[&Finding], together: Option<Decision>) -> Self {
        let has = |verdict: Verdict| all.iter().any(|it| it.verdict() == verdict);
        if has(Verdict::OtherResult) {
            return Self::AnotherResult;
        }
        let is_faster = all.iter().any(|it| it.comparison.is_faster());
        let is_slower = has(Verdict::OfTime(Decision::Slower));
        let is_undecided = telling.iter().any(|it| UNDECIDED.contains(&it.verdict()));
        match (is_faster, is_slower, together) {
            (true, false, _) => Self::Proved,
            (true, true, Some(Decision::Faster)) => Self::ProvedWithCost,
            (_, true, Some(Decision::Slower)) | (false, true, _) => Self::Slower,
            (true, true, _) => Self::NotProved,
            (false, false, _) if is_undecided => Self::Undecided,
            (false, false, _) => Self::NoEffect,
        }
    }

    /// In a few words, also for programs.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Proved => "proved",
            Self::ProvedWithCost => "proved with a cost",
            Self::NotProved => "not proved",
            Self::Slower => "slower",
            Self::AnotherResult => "another result",
            Self::Undecided => "undecided",
            Self::NoEffect => "without effect",
        }
    }

    pub(super) fn is_proved(self) -> bool {
        matches!(self, Self::Proved | Self::ProvedWithCost)
    }
}

impl Measured {
    /// The effects with this decision.
    pub(super) fn effects_of(&self, decision: Decision) -> impl Iterator<Item = &Effect> {
        let verdict = Verdict::OfTime(decision);
        self.effects.iter().filter(move |it| it.verdict == verdict)
    }
}

/// What a candidate does to a statement.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Effect {
    /// Name of the statement; of a sum, the word that stands for all of them.
    pub(super) statement: String,
    pub(super) verdict: Verdict,
    /// Mean times without and with it, seconds.
    pub(super) means_s: Option<[f64; 2]>,
    /// With divided by without.
    pub(super) ratio: Option<Interval>,
    /// In words, that the statement returned or changed no rows.
    pub(super) emptiness: Option<&'static str>,
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
            emptiness: finding.emptiness(),
            why: match (finding.check(), finding.reason()) {
                (Some(check), Some(reason)) if finding.is_tied() => format!("{reason}; {check}"),
                (check, reason) => check.or(reason).unwrap_or_default(),
            },
        }
    }

    /// The effect on the sum of the times of several statements.
    fn of_sum(sum: &Compared) -> Self {
        Self {
            statement: TOGETHER.to_owned(),
            verdict: Verdict::OfTime(sum.decision),
            means_s: Some(sum.means),
            ratio: sum.comparison.map(|it| it.ratio),
            emptiness: None,
            why: String::new(),
        }
    }

    /// Share of the time that it saves, negative where it takes more: rounds have baselines of their own, so that their
    /// seconds do not compare.
    pub(super) fn saved_share(&self) -> f64 {
        self.means_s
            .filter(|[before, _]| *before > 0.0)
            .map_or(0.0, |[before, after]| 1.0 - after / before)
    }

    /// `125 ms to 3.20 ms`, or `125 ms to 3.20 ms (returned no rows)`.
    pub(super) fn times(&self) -> Option<String> {
        let [before, after] = self.means_s?.map(units::seconds);
        let emptiness = self.emptiness.map(|it| format!(" ({it})"));
        Some(format!(
            "{before} to {after}{}",
            emptiness.unwrap_or_default()
        ))
    }

    /// How much longer it takes: `takes 3.63 times as long`, or `takes 15.2 % longer`.
    pub(super) fn longer(&self) -> Option<String> {
        let [before, after] = self.means_s?;
        let factor = after / before;
        Some(if factor < 2.0 {
            format!("takes {} longer", units::fine_percent(factor - 1.0))
        } else {
            format!("takes {} times as long", units::si(factor))
        })
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
        let findings = report.findings.iter();
        let all: Vec<&Finding> = findings.filter(|it| it.comparison.side == side).collect();
        let has = |decision: Decision| {
            let verdict = Verdict::OfTime(decision);
            all.iter().any(|it| it.verdict() == verdict)
        };
        let sum = report.totals.get(side).and_then(Option::as_ref);
        let sum = sum.filter(|_| has(Decision::Faster) && has(Decision::Slower));
        let is_harmed = |it: &&Finding| HARMS.contains(&it.verdict());
        let is_faster = |it: &&Finding| it.comparison.is_faster();
        let is_proposed = |it: &&Finding| proposed_for.contains(&it.statement.as_str());
        // It may affect only others: without any, an undecided one would seem to be without effect.
        let is_any_measured = all.iter().any(is_proposed);
        let is_telling =
            |it: &&Finding| !is_any_measured || is_proposed(it) || is_faster(it) || is_harmed(it);
        let telling: Vec<&Finding> = all.iter().copied().filter(is_telling).collect();
        let outcome = Outcome::of(&all, &telling, sum.map(|it| it.decision));
        let shown: Vec<&Finding> = if outcome.is_proved() {
            let faster = all.iter().copied().filter(is_faster);
            faster
                .chain(all.iter().copied().filter(is_harmed))
                .collect()
        } else {
            telling
        };
        let is_undecided = |it: &&Finding| {
            outcome.is_proved() && UNDECIDED.contains(&it.verdict()) && !is_faster(it)
        };
        let undecided = all.iter().copied().filter(is_undecided);
        let price = report.prices.get(side).filter(|_| outcome.is_proved());
        Self::Measured(Measured {
            outcome,
            effects: shown.into_iter().map(Effect::of).collect(),
            undecided: undecided.map(Effect::of).collect(),
            together: sum.map(|it| Box::new(Effect::of_sum(it))),
            price: price.cloned().flatten(),
        })
    }

    /// What was measured, if it was.
    pub(super) fn measured(&self) -> Option<&Measured> {
        match self {
            Self::Measured(measured) => Some(measured),
            Self::Unused | Self::CannotBeMade(_) | Self::NotTried => None,
        }
    }

    pub(super) fn is_proved(&self) -> bool {
        self.measured().is_some_and(|it| it.outcome.is_proved())
    }
}

#[cfg(test)]
mod tests;
