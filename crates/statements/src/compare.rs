//! Statements under two or more variants, interleaved until the difference is decided.

mod comparison;
mod contest;
mod copies;
mod finding;
mod hint_warnings;
mod hints;
mod index_price;
mod mechanism;
mod outputs;
mod page;
mod side;
mod trial;
mod variant;

use std::{path::Path, time::Duration};

use blame::{Blame, Blamed};
use runs::Context;
use sqltext::SqlStatement;

#[cfg(test)]
pub(crate) use self::comparison::{Comparison, ResultEquivalence};
use self::copies::Setup;
#[cfg(test)]
pub(crate) use self::index_price::WritePrice;
pub(crate) use self::{
    contest::Contest,
    copies::Copies,
    finding::{Finding, Verdict},
    hints::{are_hints_known, are_order_hints_known},
    index_price::{IndexPrice, NewIndexes, WriteTimes},
    side::{SideError, change},
    trial::TrialParameters,
};
pub use self::{
    finding::Report,
    outputs::{csv, json, table},
    page::page,
    variant::Variant,
};
use super::{
    connection::Connection,
    effect::{Effect, effect_of, not_taken},
    setting::is_setting,
};

/// Smallest difference that matters between copies of a server, which differ by a few per cent by themselves.
const MIN_EFFECT_OF_COPIES: f64 = 0.05;
/// The same on one server.
const MIN_EFFECT: f64 = 0.02;

/// What is compared, and for how long.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The sides, the baseline first.
    pub sides: &'a [Variant],
    /// The statements of a side without a rewrite.
    pub statements: &'a [SqlStatement],
    /// The statements that make the schema and the data of new servers; `None` for copies of the named one.
    pub setup: Option<&'a Path>,
    /// Blocks at most.
    pub blocks: usize,
    /// Time of all blocks.
    pub budget: Duration,
    /// The smallest difference that matters, as a share; `None` for the default.
    pub min_effect: Option<f64>,
    /// Of the order of execution.
    pub seed: u64,
    /// Time limit of each statement.
    pub timeout: Duration,
}

/// Compares statements; what was measured before a failure is in the report.
pub fn compare(
    question: &Question<'_>,
    connection: &dyn Connection,
    context: &Context,
) -> Result<Report, Blamed> {
    let variants: Vec<&Variant> = question.sides.iter().collect();
    let of_sides = variants
        .iter()
        .map(|variant| side::statements_of(variant, question.statements));
    let of_sides = of_sides.collect::<Result<Vec<_>, _>>()?;
    for statement in of_sides.iter().flatten() {
        check_kind(statement)?;
    }
    if question.statements.iter().all(is_setting) {
        let message = "no statement to compare: there are only session settings";
        return Err(Blamed::new(Blame::Input, message));
    }
    let setup = question.setup.map(Setup::read).transpose()?;
    let has_copies = variants.iter().any(|it| it.changes_server());
    let default = if has_copies {
        MIN_EFFECT_OF_COPIES
    } else {
        MIN_EFFECT
    };
    let contest = Contest {
        variants: &variants,
        statements: &of_sides,
        skipped: &[],
        connection,
        context,
        setup: setup.as_ref(),
        terms: TrialParameters {
            blocks: question.blocks,
            budget: question.budget,
            margin: question.min_effect.unwrap_or(default),
            is_beyond_margin: has_copies,
            seed: question.seed,
            family: 0,
        },
        weights: &[],
        timeout: question.timeout,
        indexes: &[],
        leaves_out: false,
    };
    contest.run()
}

/// An error for a statement whose executions cannot be taken back.
pub(crate) fn check_kind(statement: &SqlStatement) -> Result<(), Blamed> {
    if is_setting(statement) || effect_of(statement) != Effect::Other {
        return Ok(());
    }
    let hint = "schema changes and similar statements belong in a variant: --variant 'NAME: ...'";
    Err(not_taken(statement, "cannot be rolled back", hint))
}
