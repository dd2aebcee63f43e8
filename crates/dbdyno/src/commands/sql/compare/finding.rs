//! What a comparison found: the verdict, the result check, the change of the plan, the reason.

use plans::{Change, Plan, changes};
use verdict::{Compared, Decision};

use super::{
    mechanism::reason,
    trial::{Comparison, Sameness, Terms},
};

/// Amounts in a reason at most.
const AMOUNTS_AT_MOST: usize = 3;

/// A plan with the command that gave it.
pub(super) type GivenPlan = Option<(String, Plan)>;

/// One statement under one variant.
pub(super) struct Finding {
    /// Name of the statement.
    pub(super) statement: String,
    pub(super) variant: String,
    /// The text on either side.
    pub(super) texts: [String; 2],
    /// The plans of both sides.
    pub(super) plans: [GivenPlan; 2],
    pub(super) comparison: Comparison,
}

/// All findings, and how they came about.
pub(super) struct Report {
    /// Version of the server.
    pub(super) version: String,
    /// Name of the baseline.
    pub(super) baseline: String,
    /// The private server that was copied for the sides.
    pub(super) copied: Option<String>,
    pub(super) terms: Terms,
    /// Blocks measured.
    pub(super) blocks: usize,
    pub(super) findings: Vec<Finding>,
}

impl Finding {
    pub(super) fn new(
        statement: String,
        variant: String,
        texts: [String; 2],
        plans: [GivenPlan; 2],
        comparison: Comparison,
    ) -> Self {
        Self {
            statement,
            variant,
            texts,
            plans,
            comparison,
        }
    }

    /// The verdict with its numbers; `None` without a block, as for a different result.
    pub(super) fn compared(&self) -> Option<&Compared> {
        self.comparison.compared.as_ref()
    }

    /// The verdict in a word.
    pub(super) fn verdict(&self) -> &'static str {
        match (self.comparison.sameness, self.compared()) {
            (Sameness::Different, _) => "different result",
            (_, Some(compared)) => compared.decision.word(),
            (_, None) => Decision::Inconclusive.word(),
        }
    }

    /// Differences of the plans; `None` if one of them is missing.
    pub(super) fn plan_changes(&self) -> Option<Vec<Change>> {
        let [Some((_, before)), Some((_, after))] = &self.plans else {
            return None;
        };
        Some(changes(&before.root, &after.root))
    }

    /// The result check in words, where there is something to say.
    pub(super) fn check(&self) -> Option<String> {
        let [before, after] = self.comparison.results;
        match self.comparison.sameness {
            Sameness::Same => None,
            Sameness::Unknown => Some(
                "result not compared: the baseline itself gives another one each time".to_owned(),
            ),
            Sameness::Different if before.rows.rows() != after.rows.rows() => Some(format!(
                "{} instead of {}",
                rows(after.rows.rows()),
                rows(before.rows.rows())
            )),
            Sameness::Different if before.changed != after.changed => Some(format!(
                "{} changed instead of {}",
                rows(after.changed),
                rows(before.changed)
            )),
            Sameness::Different => Some(format!("other values in {}", rows(after.rows.rows()))),
        }
    }

    /// Why the times differ, or do not.
    pub(super) fn reason(&self) -> Option<String> {
        self.reason_of(AMOUNTS_AT_MOST)
    }

    /// The most telling amount only.
    pub(super) fn first_reason(&self) -> Option<String> {
        self.reason_of(1)
    }

    fn reason_of(&self, amounts: usize) -> Option<String> {
        let decision = self.compared()?.decision;
        let [before, after] = &self.comparison.costs;
        Some(reason(decision, before, after, amounts))
    }
}

fn rows(number: u64) -> String {
    units::counted(usize::try_from(number).unwrap_or(usize::MAX), "row")
}

impl Report {
    /// Whether a variant gives another result than the baseline.
    pub(super) fn has_different_results(&self) -> bool {
        let mut all = self.findings.iter();
        all.any(|it| it.comparison.sameness == Sameness::Different)
    }

    /// `server 8.0.33, each side on a copy of server demo; 12 blocks, seed 1`.
    pub(super) fn headline(&self) -> String {
        let copied = self.copied.as_ref();
        let copied = copied.map(|name| format!(", on copies of server {name}"));
        format!(
            "server {}{}; compared with {}; {}, seed {}",
            self.version,
            copied.unwrap_or_default(),
            self.baseline,
            units::counted(self.blocks, "block"),
            self.terms.seed
        )
    }
}
