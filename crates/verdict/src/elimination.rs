//! Which parts of a configuration earn their place: backward elimination in rounds of randomised blocks.
//!
//! A pure state machine: each round names the configurations to compare, the caller measures them, and their decisions
//! lead to the next round. Parts are numbered; a configuration is the set of its parts, and the base has none.
//!
//! 1. Screening: the whole configuration against the base, and against itself without each part.
//! 2. Check: the shortest configuration against the whole one (also without its harmful parts, which could hide a loss),
//!    the base, and itself without each part that it kept.
//! 3. Adding back, only if the shortest one is slower: the shortest one with each part that was left out, because parts
//!    that can replace each other have no effect as long as the other one is there.
//!
//! Parts whose effect is undecided are left out until the check. It ends the elimination only if it excludes a loss: that
//! no difference was seen says nothing where few executions could have shown one.
//!
//! The comparisons of a round share their baseline and the allowed error of 5 %.

mod measured;
mod part;
mod parts;

pub use measured::ComparedConfiguration;
pub use part::{Part, PartStatus};
pub use parts::Parts;

use crate::decision::Decision;

/// The purpose of a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// The whole configuration against itself without each part, and against the base.
    Screening,
    /// The shortest configuration against the whole one.
    Check,
    /// The shortest configuration against itself with each part that was left out.
    AddingBack,
}

/// Configurations to measure in the same blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Round {
    pub purpose: Purpose,
    /// The configuration that the others are compared with.
    pub baseline: Parts,
    /// The others, each once.
    pub others: Vec<Parts>,
}

/// A backward elimination in progress.
#[derive(Debug, Clone)]
pub struct Elimination {
    parts: Vec<Part>,
    /// The loss that does not matter, as a share: a speed of 1 / (1 + margin) of the whole configuration's is as good.
    margin: f64,
    shortest: Parts,
    /// Parts that were added back: no later round removes them, so that the rounds come to an end.
    locked: Parts,
    next: Option<Round>,
    is_finished: bool,
    check: Option<ComparedConfiguration>,
    /// The whole configuration without its harmful parts against the shortest one; `None` where that is the same.
    sound: Option<ComparedConfiguration>,
    base: Option<ComparedConfiguration>,
    rounds: Vec<Round>,
}

impl Elimination {
    /// An elimination of this number of parts, of which the pinned ones stay whatever they cost. A loss below the margin,
    /// a share, does not matter.
    pub fn new(count: usize, pinned: &Parts, margin: f64) -> Self {
        let whole: Parts = (0..count).collect();
        let parts = whole.iter().map(|part| {
            Part::new(if pinned.contains(part) {
                PartStatus::Pinned
            } else {
                PartStatus::Untested
            })
        });
        let mut made = Self {
            parts: parts.collect(),
            margin,
            shortest: whole.clone(),
            locked: Parts::new(),
            next: None,
            is_finished: false,
            check: None,
            sound: None,
            base: None,
            rounds: Vec::new(),
        };
        let tested = made.of_fate(PartStatus::Untested);
        let others = tested.iter().map(|part| without(&whole, *part));
        made.plan(Purpose::Screening, whole.clone(), others.collect());
        made
    }

    /// The round to measure next; `None` if there is none: it is finished, or a round did not decide.
    pub fn round(&self) -> Option<&Round> {
        self.next.as_ref()
    }

    /// Takes the results of [`Self::round`], one for each of its other configurations; returns the next round.
    pub fn take(&mut self, found: &[ComparedConfiguration]) -> Option<&Round> {
        let round = self.next.take()?;
        self.rounds.push(round.clone());
        if round.others.iter().all(|other| {
            let measured = of(found, other);
            measured.is_some_and(ComparedConfiguration::can_be_decided)
        }) {
            match round.purpose {
                Purpose::Screening => self.screened(found),
                Purpose::Check => self.checked(found),
                Purpose::AddingBack => self.added_back(&round, found),
            }
        }
        self.next.as_ref()
    }

    /// Keeps a part whatever it costs, and plans the check of what is then the shortest configuration; only after the
    /// screening.
    pub fn pin(&mut self, part: usize) {
        self.parts[part].fate = PartStatus::Pinned;
        self.is_finished = false;
        self.shorten();
    }

    /// The parts in their order.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The shortest configuration so far: the whole one before the screening is over.
    pub fn shortest(&self) -> &Parts {
        &self.shortest
    }

    /// Whether every part is judged, and the shortest configuration certainly loses less than the margin.
    pub fn is_finished(&self) -> bool {
        self.is_finished
    }

    /// The whole configuration against the shortest one, of the last check; `None` before it, and if both are the same.
    pub fn check(&self) -> Option<&ComparedConfiguration> {
        self.check.as_ref()
    }

    /// The comparison of the last check that leaves the largest loss possible, a longer configuration against the shortest
    /// one; `None` if all exclude a loss of the margin or more.
    pub fn possible_loss(&self) -> Option<&ComparedConfiguration> {
        let longer = self.check.iter().chain(&self.sound);
        let open = longer.filter(|it| !it.is_at_most_faster_by(self.margin));
        open.max_by(|one, other| one.most().total_cmp(&other.most()))
    }

    /// The base against the baseline of the last round that measured it: the whole configuration, or the shortest one.
    pub fn base(&self) -> Option<&ComparedConfiguration> {
        self.base.as_ref()
    }

    /// The rounds that were measured.
    pub fn rounds(&self) -> &[Round] {
        &self.rounds
    }

    fn whole(&self) -> Parts {
        (0..self.parts.len()).collect()
    }

    /// The whole configuration without its harmful parts.
    fn sound_parts(&self) -> Parts {
        let harmful = self.of_fate(PartStatus::Harms);
        self.whole().difference(&harmful).copied().collect()
    }

    fn of_fate(&self, fate: PartStatus) -> Parts {
        let parts = self.parts.iter().enumerate();
        parts
            .filter(|(_, part)| part.fate == fate)
            .map(|(at, _)| at)
            .collect()
    }

    /// Plans a round; the base is measured beside it.
    fn plan(&mut self, purpose: Purpose, baseline: Parts, mut others: Vec<Parts>) {
        if purpose != Purpose::AddingBack {
            others.insert(0, Parts::new());
        }
        let mut seen = vec![baseline.clone()];
        others.retain(|other| {
            let is_new = !seen.contains(other);
            if is_new {
                seen.push(other.clone());
            }
            is_new
        });
        self.next = Some(Round {
            purpose,
            baseline,
            others,
        });
    }

    fn screened(&mut self, found: &[ComparedConfiguration]) {
        let whole = self.whole();
        self.base = of(found, &Parts::new()).cloned();
        for part in self.of_fate(PartStatus::Untested) {
            if let Some(measured) = of(found, &without(&whole, part)) {
                self.parts[part] = Part::judged_by_removal(measured, self.rounds.len());
            }
        }
        self.shorten();
    }

    /// Takes the parts that are kept for the shortest configuration, and plans its check.
    fn shorten(&mut self) {
        let stays = |part: &Part| {
            matches!(
                part.fate,
                PartStatus::Pinned | PartStatus::Helps | PartStatus::Jointly
            )
        };
        let parts = self.parts.iter().enumerate();
        self.shortest = parts
            .filter(|(_, part)| stays(part))
            .map(|(at, _)| at)
            .collect();
        let whole = self.whole();
        (self.check, self.sound) = (None, None);
        if self.shortest == whole {
            self.is_finished = true;
            return;
        }
        let sound = self.sound_parts();
        if self.shortest.is_empty() && self.rounds.len() == 1 && sound == whole {
            // The screening has compared the base with the whole configuration already. If that left a loss possible, the
            // check has all of the allowed error for this one comparison.
            self.check = self.base.as_ref().map(|base| base.reversed(whole.clone()));
            if self.is_shortest_slower() || self.possible_loss().is_none() {
                return self.judge_check();
            }
        }
        let kept = self.of_fate(PartStatus::Helps);
        let shorter = kept.iter().map(|part| without(&self.shortest, *part));
        let others = [whole, sound].into_iter().chain(shorter).collect();
        self.plan(Purpose::Check, self.shortest.clone(), others);
    }

    fn checked(&mut self, found: &[ComparedConfiguration]) {
        self.check = of(found, &self.whole()).cloned();
        self.sound = of(found, &self.sound_parts()).cloned();
        if let Some(base) = of(found, &Parts::new()) {
            self.base = Some(base.clone());
        }
        if self.is_shortest_slower() {
            return self.judge_check();
        }
        let mut is_shorter = false;
        for part in self.of_fate(PartStatus::Helps) {
            let Some(measured) = of(found, &without(&self.shortest, part)) else {
                continue;
            };
            let judged = Part::judged_by_removal(measured, self.rounds.len());
            let is_undecided = measured.decision == Decision::Inconclusive;
            let is_kept = judged.fate == PartStatus::Helps;
            // Where this round does not contradict the earlier one, or may not, all of the earlier evidence stays.
            if !is_undecided && (is_kept || !self.locked.contains(&part)) {
                is_shorter |= !is_kept;
                self.parts[part] = judged;
            }
        }
        if is_shorter {
            self.shorten();
        } else {
            self.judge_check();
        }
    }

    fn is_shortest_slower(&self) -> bool {
        let mut longer = self.check.iter().chain(&self.sound);
        longer.any(|it| it.decision == Decision::Faster)
    }

    /// Ends with the check, or plans to add parts back. A check that leaves a loss possible ends it undecided.
    fn judge_check(&mut self) {
        let left_out = self.of_fate(PartStatus::NoEffect);
        if !self.is_shortest_slower() {
            self.is_finished = self.check.is_some() && self.possible_loss().is_none();
        } else if left_out.is_empty() {
            // A harmful part that the configuration is slower without: with others left out it is none.
            self.keep_jointly(&self.of_fate(PartStatus::Harms));
        } else {
            let longer = left_out.iter().map(|part| with(&self.shortest, *part));
            self.plan(Purpose::AddingBack, self.shortest.clone(), longer.collect());
        }
    }

    /// Adds the part back that gains most for certain; if certainly none does alone, all of them.
    fn added_back(&mut self, round: &Round, found: &[ComparedConfiguration]) {
        let left_out = self.of_fate(PartStatus::NoEffect);
        let gains = left_out.iter().filter_map(|part| {
            let measured = of(found, &with(&round.baseline, *part))?;
            let gain = measured.ratio?.estimate.ln().abs();
            (measured.decision == Decision::Faster).then_some((*part, measured, gain))
        });
        match gains.max_by(|(_, _, one), (_, _, other)| one.total_cmp(other)) {
            Some((part, measured, _)) => {
                self.parts[part] = Part::judged_by_addition(measured, self.rounds.len());
                self.locked.insert(part);
                self.shorten();
            }
            None => {
                let is_undecided =
                    |it: &ComparedConfiguration| it.decision == Decision::Inconclusive;
                if found.iter().any(is_undecided) {
                    // One of them may have the whole effect: that it takes several is not shown.
                    for part in &left_out {
                        self.parts[*part].fate = PartStatus::Unresolved;
                    }
                } else {
                    self.keep_jointly(&left_out);
                }
            }
        }
    }

    fn keep_jointly(&mut self, parts: &Parts) {
        for part in parts {
            self.parts[*part].fate = PartStatus::Jointly;
        }
        self.shorten();
    }
}

fn of<'f>(found: &'f [ComparedConfiguration], parts: &Parts) -> Option<&'f ComparedConfiguration> {
    found.iter().find(|it| it.parts == *parts)
}

fn without(parts: &Parts, part: usize) -> Parts {
    parts.iter().copied().filter(|it| *it != part).collect()
}

fn with(parts: &Parts, part: usize) -> Parts {
    parts.iter().copied().chain([part]).collect()
}

#[cfg(test)]
mod loss;
#[cfg(test)]
mod simulation;
#[cfg(test)]
mod tests;
