//! Pairs of indexes: one that makes a statement slower, and one that makes this statement faster.
//!
//! With a new index, the optimizer may choose a worse plan for another statement. A second index that serves that
//! statement can take this cost away, so that both together are better than either of them.

use std::collections::BTreeMap;

use verdict::Decision;

use super::order::side_change;
use crate::{
    advise::{
        candidate::{Candidate, Parts, Remedy},
        diagnosis::{Advice, Diagnosis},
        proof::{Effect, Measured, Outcome, Proof},
        ranking::{costs, effect_s, proof_of, saved_s},
    },
    compare::NewIndexes,
};

/// Pairs that are measured at most.
pub(super) const PAIRS_AT_MOST: usize = 2;

/// Two indexes as one candidate.
pub(super) struct Pair {
    pub(super) advice: Advice,
    /// Seconds that it should save in addition to the better one of its indexes.
    gain_s: f64,
}

impl Pair {
    /// Whether it should save more than the only candidate of a round does by the plans.
    pub(super) fn saves_more(&self, diagnosis: &Diagnosis, round: &[usize]) -> bool {
        match round {
            [place] => diagnosis.advice[*place].saving_s < self.gain_s,
            _ => false,
        }
    }
}

/// A candidate of one index.
struct SingleIndex<'a> {
    name: &'a str,
    sql: &'a str,
    indexes: &'a NewIndexes,
}

/// The index of a candidate; `None` of one with more, or with another text of its statement.
fn single_index(advice: &Advice) -> Option<SingleIndex<'_>> {
    let change = side_change(advice).filter(|it| it.text.is_none())?;
    match &change.parts {
        Parts::Indexes { sql, indexes } if indexes.names.len() == 1 => Some(SingleIndex {
            name: &change.name,
            sql,
            indexes,
        }),
        _ => None,
    }
}

/// Whether some of these candidates could become a pair.
pub(super) fn has_pairs(diagnosis: &Diagnosis, places: &[usize]) -> bool {
    let indexes = places.iter().filter_map(|place| {
        let index = single_index(&diagnosis.advice[*place])?;
        Some((&index.indexes.schema, &index.indexes.table))
    });
    let mut tables: Vec<(&String, &String)> = indexes.collect();
    tables.sort_unstable();
    let is_any_table_twice = tables.windows(2).any(|it| it[0] == it[1]);
    diagnosis.statements.len() > 1 && is_any_table_twice
}

/// What was measured of an index that makes a statement certainly faster, even if its costs outweigh that: the other index
/// of a pair can take them away.
fn faster_somewhere(advice: &Advice) -> Option<&Measured> {
    let measured = advice.proof.as_ref().and_then(Proof::measured)?;
    let is_faster = measured.effects_of(Decision::Faster).next().is_some();
    (is_faster && measured.outcome != Outcome::AnotherResult).then_some(measured)
}

/// The pair that should save most, of those that were not measured: an index that makes one statement faster and another
/// one slower, and a proved index of the same table that makes the slower one faster.
pub(super) fn best_pair(diagnosis: &Diagnosis) -> Option<Pair> {
    let all = &diagnosis.advice;
    let pairs = all.iter().flat_map(|first| {
        let others = all.iter();
        others.filter_map(move |second| pair(diagnosis, first, second))
    });
    pairs.max_by(|a, b| a.gain_s.total_cmp(&b.gain_s))
}

/// Two candidates as one; `None` if the second one does not take a cost of the first one away.
fn pair(diagnosis: &Diagnosis, first: &Advice, second: &Advice) -> Option<Pair> {
    let [one, other] = [single_index(first)?, single_index(second)?];
    let (of_first, of_second) = (faster_somewhere(first)?, proof_of(second)?);
    let is_faster = |cost: &&Effect| {
        let mut faster = of_second.effects_of(Decision::Faster);
        faster.any(|it| it.statement == cost.statement)
    };
    let cost = costs(diagnosis, of_first).into_iter().find(is_faster)?;
    let indexes = joined(one.indexes, other.indexes)?;
    if diagnosis.advice.iter().any(|it| has_indexes(it, &indexes)) {
        return None;
    }
    // Each statement should be executed as with the better one of the indexes.
    let mut savings_s: BTreeMap<&str, f64> = BTreeMap::new();
    let decided = [Decision::Faster, Decision::Slower];
    let effects = [of_first, of_second].into_iter();
    for effect in effects.flat_map(|of| decided.iter().flat_map(|it| of.effects_of(*it))) {
        let saving_s = effect_s(diagnosis, effect);
        let best_s = savings_s.entry(&effect.statement).or_insert(saving_s);
        *best_s = best_s.max(saving_s);
    }
    let expected_s: f64 = savings_s.values().sum();
    let best_alone_s = saved_s(diagnosis, first).max(saved_s(diagnosis, second));
    let mut also_for: Vec<String> = first.also_for.clone();
    for name in second.statements() {
        if name != first.statement && !also_for.iter().any(|it| it == name) {
            also_for.push(name.to_owned());
        }
    }
    let reason = format!(
        "with the first index alone, statement {} {}; the second index makes it faster",
        cost.statement,
        cost.longer()?
    );
    let name = format!("{}_and_{}", one.name, other.name);
    let sql = format!("{}; {}", one.sql, other.sql);
    Some(Pair {
        advice: Advice {
            at: first.at,
            statement: first.statement.clone(),
            also_for,
            candidate: Candidate {
                reason,
                remedy: Remedy::of_parts(&name, Parts::Indexes { sql, indexes }),
                saving: first.candidate.saving,
            },
            saving_s: expected_s,
            own_saving_s: first.own_saving_s,
            proof: None,
            unaffected: 0,
        },
        gain_s: expected_s - best_alone_s,
    })
}

/// The indexes of two candidates; `None` if they are not of one table, whose writes are their price.
fn joined(one: &NewIndexes, other: &NewIndexes) -> Option<NewIndexes> {
    if (&one.schema, &one.table) != (&other.schema, &other.table) {
        return None;
    }
    let mut columns = one.columns.clone();
    let more = other.columns.iter().filter(|it| !one.columns.contains(it));
    columns.extend(more.cloned());
    Some(NewIndexes {
        schema: one.schema.clone(),
        table: one.table.clone(),
        names: [one.names.as_slice(), &other.names].concat(),
        columns,
        undone_by: [one.undone_by.as_slice(), &other.undone_by].concat(),
        made: [one.made.as_slice(), &other.made].concat(),
    })
}

/// Whether a candidate has these indexes, in whichever order.
fn has_indexes(advice: &Advice, indexes: &NewIndexes) -> bool {
    let known = side_change(advice).and_then(|it| it.parts.indexes());
    known.is_some_and(|known| {
        let is_of_table = known.schema == indexes.schema && known.table == indexes.table;
        let mut names = indexes.names.iter();
        is_of_table && names.all(|name| known.names.contains(name))
    })
}
