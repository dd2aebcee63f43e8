//! Which of the proved indexes are enough. Each is measured alone, so that several are proved for the same statement.

use verdict::Decision;

use super::{
    candidate::Remedy,
    diagnosis::{Advice, Diagnosis},
    proof::Effect,
    ranking::{proof_of, proved},
    untried::is_promising_left,
};

/// Share of a statement's time that another index must save in addition, so that it is needed, too.
const WORTH_AN_INDEX: f64 = 0.05;

/// The time that an index leaves, as a multiple of what another one leaves, from which it is not taken for as fast even if
/// their intervals overlap: on a busy machine they overlap where one leaves twenty times as much.
const TIMES_AS_SLOW: f64 = 2.0;

/// The proved indexes of a diagnosis.
#[derive(Debug, Default)]
pub(super) struct IndexSet<'a> {
    /// Those that are enough; the best one comes first.
    enough: Vec<&'a Advice>,
    /// Those that serve only statements that the others make as fast.
    alternatives: Vec<&'a Advice>,
    /// Whether an index that was not tried may be needed, too.
    is_open: bool,
}

impl<'a> IndexSet<'a> {
    pub(super) fn of(diagnosis: &'a Diagnosis) -> Self {
        let mut set = Self {
            is_open: is_promising_left(diagnosis),
            ..Self::default()
        };
        let all = proved(diagnosis).into_iter();
        for advice in all.filter(|it| name(it).is_some()) {
            if is_served(advice, &set.enough) {
                set.alternatives.push(advice);
            } else {
                set.enough.push(advice);
            }
        }
        // Those that came later can make one needless. The best one stays, which the answer names.
        for at in (1..set.enough.len()).rev() {
            let mut others = set.enough.clone();
            let mut alternatives = set.alternatives.clone();
            alternatives.push(others.remove(at));
            if alternatives.iter().all(|it| is_served(it, &others)) {
                set.enough = others;
                set.alternatives = alternatives;
            }
        }
        set
    }

    /// Names of those that are enough, where others are alternatives to them; none while a promising candidate was not
    /// tried, because it may be needed besides.
    pub(super) fn enough(&self) -> Vec<String> {
        if self.alternatives.is_empty() || self.is_open {
            return Vec::new();
        }
        self.enough.iter().filter_map(|it| name(it)).collect()
    }

    /// Number of all proved indexes.
    pub(super) fn number(&self) -> usize {
        self.enough.len() + self.alternatives.len()
    }

    /// The name of the index in whose place an index can be made, or the names of several that serve its statements
    /// together; none of one that is needed, or is no index.
    pub(super) fn alternative_to(&self, advice: &Advice) -> Vec<String> {
        let mut alternatives = self.alternatives.iter();
        if !alternatives.any(|it| std::ptr::eq(*it, advice)) {
            return Vec::new();
        }
        let serves_all = |it: &&&Advice| is_served(advice, std::slice::from_ref(*it));
        if let Some(one) = self.enough.iter().find(serves_all) {
            return name(one).into_iter().collect();
        }
        let effects = faster(advice);
        let is_serving = |it: &&&Advice| effects.iter().any(|effect| serves(it, effect));
        let serving = self.enough.iter().filter(is_serving);
        serving.filter_map(|it| name(it)).collect()
    }
}

/// The name of the index of a candidate, or its names, with the other text that it needs; `None` if it is none.
fn name(advice: &Advice) -> Option<String> {
    let Remedy::Side(change) = &advice.candidate.remedy else {
        return None;
    };
    let names = change.parts.indexes()?.names.join(" and ");
    Some(match &change.text {
        None => names,
        Some(_) => format!(
            "{names} with another text of statement {}",
            advice.statement
        ),
    })
}

/// What a proved remedy makes faster.
fn faster(advice: &Advice) -> Vec<&Effect> {
    let measured = proof_of(advice).into_iter();
    measured
        .flat_map(|it| it.effects_of(Decision::Faster))
        .collect()
}

/// Whether others make all statements as fast that a remedy makes faster.
fn is_served(advice: &Advice, others: &[&Advice]) -> bool {
    let effects = faster(advice);
    let is_as_fast = |effect: &&Effect| others.iter().any(|it| serves(it, effect));
    !effects.is_empty() && effects.iter().all(is_as_fast)
}

/// Whether a remedy makes the statement of an effect as fast as the effect does.
fn serves(advice: &Advice, effect: &Effect) -> bool {
    faster(advice).into_iter().any(|own| {
        let is_close = effect.saved_share() - own.saved_share() <= WORTH_AN_INDEX;
        let ratios = own.ratio.zip(effect.ratio);
        let is_slower = ratios.is_none_or(|(own, other)| {
            own.low > other.high || own.estimate > TIMES_AS_SLOW * other.estimate
        });
        own.statement == effect.statement && (is_close || !is_slower)
    })
}
