//! Whether different rows are both right, because a LIMIT leaves open which rows it takes.

use std::collections::BTreeMap;

use blame::{Blame, Blamed};
use protocol::RowsChecksum;
use sqltext::SqlStatement;

use super::Trial;
use crate::{
    compare::{
        comparison::ResultEquivalence,
        side::{Side, SideError},
    },
    execution::GuardedStatements,
    setting::is_setting,
    without_limit::{Unlimited, has_scalar_limit},
};

/// ER_NON_UNIQ_ERROR, ER_BAD_FIELD_ERROR and ER_PARSE_ERROR: a key of ORDER BY has no place in the list as it is written.
const KEY_ERRORS: [u16; 3] = [1052, 1054, protocol::PARSE_ERROR];
/// ER_SUBQUERY_NO_1_ROW: the LIMIT is part of what the statement means.
const MORE_THAN_ONE_ROW: u16 = 1242;

/// Makes of a statement one without its LIMIT, or without any.
type WithoutLimit = fn(&SqlStatement) -> Option<Unlimited>;

/// Answers without LIMIT, by the numbers of the side and of the statement.
type Answers = BTreeMap<(usize, usize), Answer>;

/// What the server answers to a statement without LIMIT.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    Rows(RowsChecksum),
    /// An error: the LIMIT is part of what the statement means.
    Refused,
}

/// A comparison with different results, which may both be right.
struct OpenComparison {
    /// Its index among the comparisons.
    at: usize,
    /// Whether a LIMIT that is left out stands behind an ORDER BY whose values the rows do not show.
    hides_order: bool,
}

impl<'a> Trial<'a> {
    /// Compares all rows of the statements whose results may differ only in the rows that a LIMIT takes: first without the
    /// LIMIT at the end of the statement, then without those of its subqueries.
    pub(super) async fn settle_ties(&mut self, sides: &mut [Side<'a>]) -> Result<(), SideError> {
        let mut open = self.open(sides, Unlimited::of);
        open.retain(|it| {
            let [before, after] = self.comparisons[it.at].results;
            before.rows.rows() == after.rows.rows()
        });
        for (it, is_same) in self.settled(sides, open, Unlimited::of).await? {
            // Where that takes longer than the time limit of statements, they count as different.
            if is_same == Some(true) {
                self.comparisons[it.at].sameness = ResultEquivalence::Tied;
            }
        }
        let open = self.open(sides, Unlimited::of_all);
        for (it, is_same) in self.settled(sides, open, Unlimited::of_all).await? {
            self.comparisons[it.at].sameness = match is_same {
                Some(false) => ResultEquivalence::Different,
                Some(true) if !it.hides_order => ResultEquivalence::Tied,
                Some(true) | None => ResultEquivalence::Undecided,
            };
        }
        for comparison in &mut self.comparisons {
            let variant = &sides[comparison.side].variant;
            let statement = own_statement(&sides[0], comparison.statement);
            // Another access takes another one of equal rows, and without its LIMIT the subquery has no value.
            if comparison.sameness == ResultEquivalence::Different
                && variant.changes_only_access()
                && statement.is_some_and(has_scalar_limit)
            {
                comparison.sameness = ResultEquivalence::Undecided;
            }
        }
        Ok(())
    }

    /// The comparisons with different results whose statements want the same part of their rows on both sides.
    fn open(&self, sides: &[Side<'a>], without: WithoutLimit) -> Vec<OpenComparison> {
        let comparisons = self.comparisons.iter().enumerate();
        let open = comparisons.filter_map(|(at, it)| {
            let both = [&sides[0], &sides[it.side]];
            let keep_order = both.iter().all(|side| side.variant.keeps_order());
            if it.sameness != ResultEquivalence::Different || !keep_order {
                return None;
            }
            let [before, after] =
                both.map(|side| own_statement(side, it.statement).and_then(without));
            let before = before?;
            (before.part == after?.part).then_some(OpenComparison {
                at,
                hides_order: before.hides_order,
            })
        });
        open.collect()
    }

    /// Whether the rows without LIMIT are the same, for each of these comparisons; `None` if an answer is missing.
    async fn settled(
        &self,
        sides: &mut [Side<'a>],
        open: Vec<OpenComparison>,
        without: WithoutLimit,
    ) -> Result<Vec<(OpenComparison, Option<bool>)>, SideError> {
        let answers = self.answers_without(sides, &open, without).await?;
        let settled = open.into_iter().map(|it| {
            let comparison = &self.comparisons[it.at];
            let both = [0, comparison.side].map(|side| answers.get(&(side, comparison.statement)));
            (it, is_same(both))
        });
        Ok(settled.collect())
    }

    /// The answers without LIMIT to the sides of these comparisons.
    async fn answers_without(
        &self,
        sides: &mut [Side<'a>],
        open: &[OpenComparison],
        without: WithoutLimit,
    ) -> Result<Answers, SideError> {
        let mut answers = Answers::new();
        for (number, side) in sides.iter_mut().enumerate() {
            let is_wanted = |statement: usize| {
                let mut comparisons = open.iter().map(|it| &self.comparisons[it.at]);
                comparisons
                    .any(|it| it.statement == statement && (number == 0 || it.side == number))
            };
            let of_side = unlimited_answers(side, without, is_wanted).await?;
            let of_side = of_side.into_iter();
            answers.extend(of_side.map(|(statement, answer)| ((number, statement), answer)));
        }
        Ok(answers)
    }
}

/// A statement of a side by its number without settings.
fn own_statement<'a>(side: &Side<'a>, number: usize) -> Option<&'a SqlStatement> {
    let mut own = side.statements.iter().filter(|it| !is_setting(it));
    own.nth(number)
}

/// Whether both answers have the same rows, which a refused statement has not; `None` if one is missing.
fn is_same(both: [Option<&Answer>; 2]) -> Option<bool> {
    match both {
        [Some(Answer::Refused), _] | [_, Some(Answer::Refused)] => Some(false),
        [Some(before), Some(after)] => Some(before == after),
        _ => None,
    }
}

/// Whether the server refused a statement for its text; errors of time, memory and locks do not concern the results.
fn is_refused(error: &Blamed) -> bool {
    let number = error.server_error;
    number.is_some_and(|number| number == MORE_THAN_ONE_ROW || KEY_ERRORS.contains(&number))
}

/// The answers to some statements of a side without LIMIT, after the settings before each. One that is not executed in
/// time has none.
async fn unlimited_answers(
    side: &mut Side<'_>,
    without: WithoutLimit,
    is_wanted: impl Fn(usize) -> bool,
) -> Result<Vec<(usize, Answer)>, SideError> {
    let mut answers = Vec::new();
    let own = side.statements.iter().filter(|it| !is_setting(it));
    if !(0..own.count()).any(&is_wanted) {
        return Ok(answers);
    }
    let (statements, without_keys): (Vec<SqlStatement>, Vec<SqlStatement>) = side
        .statements
        .iter()
        .map(|it| match without(it) {
            None => (it.clone(), it.clone()),
            Some(unlimited) => {
                let without_keys = unlimited.without_keys;
                let without_keys = without_keys.unwrap_or_else(|| unlimited.statement.clone());
                (unlimited.statement, without_keys)
            }
        })
        .unzip();
    let guarded = GuardedStatements::new(&statements, false, None);
    let without_keys = GuardedStatements::new(&without_keys, false, None);
    let mut number = 0;
    for (at, statement) in statements.iter().enumerate() {
        if is_setting(statement) {
            let executed = guarded.execute(&mut side.session, at).await;
            executed.map_err(|error| side.blamed(error))?;
            continue;
        }
        if is_wanted(number) {
            let mut result = guarded.result(&mut side.session, at).await;
            let refused = result.as_ref().err().and_then(|error| error.server_error);
            if refused.is_some_and(|number| KEY_ERRORS.contains(&number)) {
                result = without_keys.result(&mut side.session, at).await;
            }
            match result {
                Ok((result, _)) => answers.push((number, Answer::Rows(result.rows))),
                Err(error) if error.blame == Blame::Interrupted => return Err(side.blamed(error)),
                Err(error) if is_refused(&error) => answers.push((number, Answer::Refused)),
                Err(_) => {}
            }
        }
        number += 1;
    }
    Ok(answers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_answer_decides_nothing_and_a_refusal_keeps_the_difference() {
        let rows = Answer::Rows(RowsChecksum::default());
        let refused = Answer::Refused;
        for (both, expected) in [
            ([Some(&rows), Some(&rows)], Some(true)),
            ([Some(&rows), None], None),
            ([Some(&rows), Some(&refused)], Some(false)),
            ([Some(&refused), Some(&refused)], Some(false)),
            ([None, Some(&refused)], Some(false)),
        ] {
            assert_eq!(is_same(both), expected, "{both:?}");
        }
    }

    #[test]
    fn what_a_server_has_no_time_or_room_for_is_no_refusal() {
        for (number, expected) in [
            // Subquery returns more than 1 row.
            (Some(1242), true),
            (Some(1054), true),
            (Some(3024), false),
            (Some(1969), false),
            // Out of sort memory.
            (Some(1038), false),
            (None, false),
        ] {
            let error = Blamed {
                server_error: number,
                ..Blamed::new(Blame::Server, "q.sql:1:1: it ended")
            };
            assert_eq!(is_refused(&error), expected, "{number:?}");
        }
    }
}
