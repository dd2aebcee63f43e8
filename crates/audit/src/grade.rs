//! The grade of the method: one letter for all findings.

use serde::Serialize;

use crate::finding::{Level, Outcome, SkipReason};

/// Share of the applicable rules that were not evaluated, from which the grade is at best C.
const UNSEEN_FOR_C: f64 = 0.25;
/// Share from which the grade is at best D.
const UNSEEN_FOR_D: f64 = 0.5;
/// Largest number of warnings for a B.
const WARNINGS_FOR_B: usize = 3;

/// The grade of the method, from best to worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Grade {
    /// Nothing above a note.
    A,
    /// One to three warnings, or something was not evaluated.
    B,
    /// More warnings, a quarter was not evaluated, or the figures themselves are doubtful.
    C,
    /// A rule failed, or half was not evaluated.
    D,
    /// Several rules failed.
    E,
    /// A rule says that the figures are invalid.
    F,
}

impl Grade {
    pub(crate) fn of<'o>(outcomes: impl Iterator<Item = &'o Outcome> + Clone) -> Self {
        let count = |level: Level| {
            let found = outcomes.clone().filter_map(|outcome| outcome.as_ref().ok());
            found.filter(|finding| finding.level == level).count()
        };
        let by_level = match (
            count(Level::Invalid),
            count(Level::Fail),
            count(Level::Warn),
        ) {
            (0, 0, 0) => Self::A,
            (0, 0, warnings) if warnings <= WARNINGS_FOR_B => Self::B,
            (0, 0, _) => Self::C,
            (0, 1, _) => Self::D,
            (0, _, _) => Self::E,
            _ => Self::F,
        };
        by_level.max(Self::best_unseen(outcomes))
    }

    /// The best grade that the unevaluated rules allow.
    fn best_unseen<'o>(outcomes: impl Iterator<Item = &'o Outcome> + Clone) -> Self {
        let without = |is: fn(&SkipReason) -> bool| {
            let why = outcomes
                .clone()
                .filter_map(|outcome| outcome.as_ref().err());
            why.filter(|why| is(why)).count()
        };
        let unseen = without(|why| matches!(why, SkipReason::NotEvaluated(_)));
        let applying =
            outcomes.clone().count() - without(|why| matches!(why, SkipReason::DoesNotApply(_)));
        let share = unseen as f64 / applying.max(1) as f64;
        match unseen {
            0 => Self::A,
            _ if share < UNSEEN_FOR_C => Self::B,
            _ if share < UNSEEN_FOR_D => Self::C,
            _ => Self::D,
        }
    }

    /// `A` to `F`.
    pub fn letter(self) -> char {
        match self {
            Self::A => 'A',
            Self::B => 'B',
            Self::C => 'C',
            Self::D => 'D',
            Self::E => 'E',
            Self::F => 'F',
        }
    }

    /// The meaning of the grade for the figures.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::A => "no problem found",
            Self::B => "sound, with reservations",
            Self::C => "interpret with care",
            Self::D => "one claim is not supported, or too little was observed",
            Self::E => "several claims are not supported",
            Self::F => "do not compare or publish",
        }
    }
}

/// How the grade is computed, in one paragraph.
pub const FORMULA: &str = "The grade rates the method. A grade needs all planned runs, with at least three executions of each combination, and each execution must last at least five seconds. Fewer or shorter executions give rough figures without a grade, and an interrupted plan has no grade. Load from other programs (H14) is reported as the machine's state, and is no finding about the method. The grade is at best C if H14 is invalid in more than half of the runs, or if the upper end of a combination's 95 % interval of the throughput is more than twice the lower end. A: no finding worse than a note. B: one to three warnings. C: more warnings. D: one rule failed. E: several rules failed. F: at least one finding is invalid. A rule that could not be evaluated is never a pass: one such rule limits the grade to B; if a quarter of the applicable rules were not evaluated, the limit is C; if half of them were not evaluated, it is D. Rules that do not apply are not counted.";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{Finding, missing, no_subject};

    fn grade(outcomes: &[Outcome]) -> char {
        Grade::of(outcomes.iter()).letter()
    }

    #[test]
    fn the_worst_levels_and_what_was_not_seen_decide() {
        let found = |level| Ok(Finding::new(level, ""));
        let (pass, warn, fail) = (
            || found(Level::Pass),
            || found(Level::Warn),
            || found(Level::Fail),
        );
        let unseen = || Err(missing("x"));
        let none = || Err(no_subject("x"));
        let cases: Vec<(Vec<Outcome>, char)> = vec![
            (vec![pass(), found(Level::Note), none()], 'A'),
            (vec![pass(), warn(), warn(), warn()], 'B'),
            (vec![warn(), warn(), warn(), warn()], 'C'),
            (vec![warn(), fail()], 'D'),
            (vec![fail(), fail()], 'E'),
            (vec![pass(), found(Level::Invalid)], 'F'),
            (vec![pass(), pass(), pass(), pass(), unseen()], 'B'),
            (vec![pass(), pass(), pass(), unseen()], 'C'),
            (vec![pass(), unseen(), none(), none()], 'D'),
            (vec![unseen()], 'D'),
            (vec![fail(), fail(), unseen()], 'E'),
        ];
        for (outcomes, letter) in cases {
            assert_eq!(grade(&outcomes), letter, "{outcomes:?}");
        }
    }
}
