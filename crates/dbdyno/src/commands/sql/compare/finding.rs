//! What a comparison found: the verdict, the result check, the change of the plan, the reason.

use std::time::Duration;

use plans::{Change, changes};
use runs::Blamed;
use verdict::{Compared, Decision};

use super::{
    index_price::IndexPrice,
    mechanism::reason,
    trial::{Comparison, Sameness, Terms},
};
use crate::commands::sql::explain::ExplainedPlan;

/// Amounts in a reason at most.
const AMOUNTS_AT_MOST: usize = 3;

/// One statement under one variant.
pub(in crate::commands::sql) struct Finding {
    /// Name of the statement.
    pub(in crate::commands::sql) statement: String,
    pub(in crate::commands::sql) variant: String,
    /// The text on either side.
    pub(in crate::commands::sql) texts: [String; 2],
    /// The plans of both sides.
    pub(in crate::commands::sql) plans: [Option<ExplainedPlan>; 2],
    /// Whether both sides have servers of one version, which count and explain in one way.
    pub(in crate::commands::sql) is_one_version: bool,
    /// Whether the statement has a LIMIT, whose rows its order may leave open.
    pub(in crate::commands::sql) has_limit: bool,
    pub(in crate::commands::sql) comparison: Comparison,
}

/// All findings, and how they came about.
pub(in crate::commands::sql) struct Report {
    /// Version of the server.
    pub(in crate::commands::sql) version: String,
    /// Name of the baseline.
    pub(in crate::commands::sql) baseline: String,
    /// The private server that was copied for the sides.
    pub(in crate::commands::sql) copied: Option<String>,
    /// The file with the data of new servers.
    pub(in crate::commands::sql) setup: Option<String>,
    /// The version of each side's server, by the name of its variant.
    pub(in crate::commands::sql) versions: Vec<(String, String)>,
    pub(in crate::commands::sql) terms: Terms,
    /// Blocks measured.
    pub(in crate::commands::sql) blocks: usize,
    /// Time of all blocks.
    pub(in crate::commands::sql) took: Duration,
    pub(in crate::commands::sql) findings: Vec<Finding>,
    /// The price of each side's indexes, where it was measured.
    pub(in crate::commands::sql) prices: Vec<Option<IndexPrice>>,
    /// Why a side was left out.
    pub(in crate::commands::sql) left_out: Vec<Option<String>>,
    /// Why the measurement ended early, at which statement of which variant.
    pub(in crate::commands::sql) failure: Option<Blamed>,
    /// Why a server of a side was not removed.
    pub(in crate::commands::sql) not_removed: Option<Blamed>,
}

impl Finding {
    /// The verdict with its numbers; `None` without a block, as for a different result.
    pub(in crate::commands::sql) fn compared(&self) -> Option<&Compared> {
        self.comparison.compared.as_ref()
    }

    /// The verdict in a word.
    pub(in crate::commands::sql) fn verdict(&self) -> &'static str {
        match (self.comparison.sameness, self.compared()) {
            (Sameness::Different, _) => "different result",
            (_, Some(compared)) => compared.decision.word(),
            (_, None) => Decision::Inconclusive.word(),
        }
    }

    /// Whether both results are right, though the LIMIT takes other rows.
    pub(in crate::commands::sql) fn is_tied(&self) -> bool {
        self.comparison.sameness == Sameness::Tied
    }

    /// Differences of the plans; `None` if one of them is missing. Of two versions only those of tables that both name:
    /// one shows work that the other leaves out.
    pub(in crate::commands::sql) fn plan_changes(&self) -> Option<Vec<Change>> {
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
    pub(in crate::commands::sql) fn check(&self) -> Option<String> {
        let [before, after] = self.comparison.results;
        match self.comparison.sameness {
            Sameness::Same => None,
            Sameness::Tied => Some(
                "different rows, because LIMIT does not define which rows are returned; \
                 without LIMIT, the results are the same"
                    .to_owned(),
            ),
            Sameness::Unknown => Some(
                "result not compared: the baseline itself returns a different result each time"
                    .to_owned(),
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
            Sameness::Different => {
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
    pub(in crate::commands::sql) fn reason(&self) -> Option<String> {
        self.reason_of(AMOUNTS_AT_MOST)
    }

    /// The most telling amount only.
    pub(in crate::commands::sql) fn first_reason(&self) -> Option<String> {
        self.reason_of(1)
    }

    fn reason_of(&self, amounts: usize) -> Option<String> {
        let decision = self.compared()?.decision;
        let [before, after] = &self.comparison.costs;
        // They are read last, so that there are none after a failure.
        if before.is_empty() && after.is_empty() {
            return None;
        }
        Some(reason(
            decision,
            [before, after],
            amounts,
            self.is_one_version,
        ))
    }
}

fn rows(number: u64) -> String {
    units::counted(usize::try_from(number).unwrap_or(usize::MAX), "row")
}

impl Report {
    /// Whether a variant gives another result than the baseline.
    pub(in crate::commands::sql) fn has_different_results(&self) -> bool {
        let mut all = self.findings.iter();
        all.any(|it| it.comparison.sameness == Sameness::Different)
    }

    /// `server 8.0.33, each side on a copy of server demo; 12 blocks, seed 1`.
    pub(in crate::commands::sql) fn headline(&self) -> String {
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
