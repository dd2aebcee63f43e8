//! What a comparison found: the verdict, the result check, the change of the plan, the reason.

use std::time::Duration;

use blame::Blamed;
use plans::{Change, changes};
use stats::EXECUTIONS_AT_LEAST;
use units::percent;
use verdict::{Compared, Decision};

use super::{
    comparison::{Comparison, ResultEquivalence},
    index_price::IndexPrice,
    mechanism::reason,
    trial::TrialParameters,
};
use crate::{explain::ExplainedPlan, other_work::UNEXPLAINED};

/// Amounts in a reason at most.
const AMOUNTS_AT_MOST: usize = 3;

/// What a comparison of one statement under one variant came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The variant gives another result, whatever time it takes.
    OtherResult,
    OfTime(Decision),
}

impl Verdict {
    /// In a word or two.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::OtherResult => "different result",
            Self::OfTime(decision) => decision.word(),
        }
    }
}

/// One statement under one variant.
pub(crate) struct Finding {
    /// Name of the statement.
    pub(crate) statement: String,
    pub(crate) variant: String,
    /// The text on either side.
    pub(crate) texts: [String; 2],
    /// The plans of both sides.
    pub(crate) plans: [Option<ExplainedPlan>; 2],
    /// Whether both sides have servers of one version, which count and explain in one way.
    pub(crate) is_one_version: bool,
    /// Whether the statement has a LIMIT, whose rows its order may leave open.
    pub(crate) has_limit: bool,
    /// Whether the statement changes data.
    pub(crate) changes_data: bool,
    pub(crate) comparison: Comparison,
}

/// All findings, and how they came about.
pub struct Report {
    /// Version of the server.
    pub(crate) version: String,
    /// Name of the baseline.
    pub(crate) baseline: String,
    /// The private server that was copied for the sides.
    pub(crate) copied: Option<String>,
    /// The file with the data of new servers.
    pub(crate) setup: Option<String>,
    /// The version of each side's server, by the name of its variant.
    pub(crate) versions: Vec<(String, String)>,
    pub(crate) terms: TrialParameters,
    /// Blocks measured.
    pub(crate) blocks: usize,
    /// Time of all blocks.
    pub(crate) took: Duration,
    pub(crate) findings: Vec<Finding>,
    /// The sum of the times of the statements that each side makes faster or slower, where it was decided.
    pub(crate) totals: Vec<Option<Compared>>,
    /// The price of each side's indexes, where it was measured.
    pub(crate) prices: Vec<Option<IndexPrice>>,
    /// Why a side was left out.
    pub(crate) left_out: Vec<Option<String>>,
    /// Why the measurement ended early, at which statement of which variant.
    pub failure: Option<Blamed>,
    /// The share of the machine's CPU that other programs used, if it was a notable one beside private servers.
    pub(crate) other_work: Option<f64>,
    /// Why a server of a side was not removed.
    pub not_removed: Option<Blamed>,
}

impl Finding {
    /// The verdict with its numbers; `None` without a block, as for a different result.
    pub(crate) fn compared(&self) -> Option<&Compared> {
        self.comparison.compared.as_ref()
    }

    pub(crate) fn verdict(&self) -> Verdict {
        match (self.comparison.sameness, self.compared()) {
            (ResultEquivalence::Different, _) => Verdict::OtherResult,
            (_, Some(compared)) => Verdict::OfTime(compared.decision),
            (_, None) => Verdict::OfTime(Decision::Inconclusive),
        }
    }

    /// Whether both results are right, though the LIMIT takes other rows.
    pub(crate) fn is_tied(&self) -> bool {
        self.comparison.sameness == ResultEquivalence::Tied
    }

    /// In words, that neither side returned or changed a row: such times say little about other values.
    pub(crate) fn emptiness(&self) -> Option<&'static str> {
        let mut results = self.comparison.results.iter();
        let is_empty = results.all(|it| it.rows.rows() == 0 && it.changed == 0);
        let words = if self.changes_data {
            "changed no rows"
        } else {
            "returned no rows"
        };
        is_empty.then_some(words)
    }

    /// Differences of the plans; `None` if one of them is missing. Of two versions only those of tables that both name:
    /// one shows work that the other leaves out.
    pub(crate) fn plan_changes(&self) -> Option<Vec<Change>> {
        let [Some(before), Some(after)] = &self.plans else {
            return None;
        };
        let mut found = changes(&before.plan.root, &after.plan.root);
        found.retain(|it| {
            let is_of_tables = match it {
                Change::Access { before, after, .. } => before.is_some() && after.is_some(),
                Change::Order { .. } => true,
                Change::Work { .. } => false,
            };
            is_of_tables || self.is_one_version
        });
        Some(found)
    }

    /// The result check in words, where there is something to say.
    pub(crate) fn check(&self) -> Option<String> {
        let [before, after] = self.comparison.results;
        match self.comparison.sameness {
            ResultEquivalence::Same => None,
            ResultEquivalence::Tied => Some(
                "different rows, because LIMIT does not define which rows are returned; \
                 without LIMIT, the results are the same"
                    .to_owned(),
            ),
            ResultEquivalence::Undecided => Some(
                "different rows; not decided whether both are correct: a LIMIT in a subquery does not \
                 define which rows it returns"
                    .to_owned(),
            ),
            ResultEquivalence::Unknown => Some(
                "result not compared: the baseline itself returns a different result each time"
                    .to_owned(),
            ),
            ResultEquivalence::Different if before.rows.rows() != after.rows.rows() => Some(format!(
                "{} instead of {}",
                rows(after.rows.rows()),
                rows(before.rows.rows())
            )),
            ResultEquivalence::Different if before.changed != after.changed => Some(format!(
                "{} changed instead of {}",
                rows(after.changed),
                rows(before.changed)
            )),
            ResultEquivalence::Different => {
                let open = if self.has_limit {
                    "; LIMIT does not define which rows, unless its ORDER BY has no ties"
                } else {
                    ""
                };
                let rows = rows(after.rows.rows());
                Some(format!("other values in {rows}{open}"))
            }
        }
    }

    /// Why the times differ, or do not.
    pub(crate) fn reason(&self) -> Option<String> {
        self.reason_of(AMOUNTS_AT_MOST)
    }

    /// The most telling amount only.
    pub(crate) fn first_reason(&self) -> Option<String> {
        self.reason_of(1)
    }

    fn reason_of(&self, amounts: usize) -> Option<String> {
        let decision = self.compared()?.decision;
        if let Some(share) = self.comparison.disturbed_by {
            return Some(format!(
                "other programs used {} of the CPU, which may explain a difference below {}",
                percent(share),
                percent(UNEXPLAINED)
            ));
        }
        let [before, after] = &self.comparison.costs;
        // They are read last, so that there are none after a failure.
        let is_counted = !before.is_empty() || !after.is_empty();
        let counted =
            is_counted.then(|| reason(decision, [before, after], amounts, self.is_one_version));
        let reasons = [too_few(decision, self.comparison.times_s.len()), counted];
        let reasons: Vec<String> = reasons.into_iter().flatten().collect();
        (!reasons.is_empty()).then(|| reasons.join("; "))
    }
}

/// Why a comparison is undecided however large the difference is: its blocks were too few for any verdict.
fn too_few(decision: Decision, blocks: usize) -> Option<String> {
    let is_too_few = decision == Decision::Inconclusive && blocks < EXECUTIONS_AT_LEAST;
    is_too_few.then(|| {
        format!(
            "only {}, but a verdict needs at least {EXECUTIONS_AT_LEAST}: allow more time with --budget",
            units::counted(blocks, "block")
        )
    })
}

fn rows(number: u64) -> String {
    units::counted(usize::try_from(number).unwrap_or(usize::MAX), "row")
}

impl Report {
    /// Whether a variant gives another result than the baseline.
    pub fn has_different_results(&self) -> bool {
        let mut all = self.findings.iter();
        all.any(|it| it.comparison.sameness == ResultEquivalence::Different)
    }

    /// `server 8.0.33, each side on a copy of server demo; 12 blocks, seed 1`.
    pub(crate) fn headline(&self) -> String {
        let copied = self.copied.as_ref();
        let copied = copied.map(|name| format!(", on copies of server {name}"));
        let setup = self.setup.as_ref();
        let setup = setup.map(|path| format!(", on new servers with the data of {path}"));
        format!(
            "server {}{}; compared with {}; {}, seed {}",
            self.version,
            copied.or(setup).unwrap_or_default(),
            self.baseline,
            units::counted(self.blocks, "block"),
            self.terms.seed
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_few_blocks_are_the_reason_of_no_verdict() {
        let expected =
            "only 2 blocks, but a verdict needs at least 3: allow more time with --budget";
        assert_eq!(
            too_few(Decision::Inconclusive, 2).as_deref(),
            Some(expected)
        );
        for (decision, blocks) in [
            (Decision::Inconclusive, 3),
            (Decision::Faster, 3),
            (Decision::Equivalent, 2),
        ] {
            assert_eq!(too_few(decision, blocks), None);
        }
    }
}
