//! The clauses of an answer on a limited number of lines.

use units::counted;

use crate::text::facts::cut;

/// Maximum number of lines of the answer.
pub(crate) const ANSWER_LINES_MAX: usize = 5;
/// Maximum number of lines of the first clause, and of a further one.
const FIRST_LINES_MAX: usize = 3;
const CLAUSE_LINES_MAX: usize = 2;

/// The clauses of an answer, in their order.
pub(super) struct Clauses {
    pub(super) all: Vec<String>,
    /// The number of comparisons among them, which are the first.
    pub(super) comparisons: usize,
}

impl From<Vec<String>> for Clauses {
    fn from(all: Vec<String>) -> Self {
        Self {
            all,
            comparisons: 0,
        }
    }
}

impl Clauses {
    /// With other clauses after them.
    pub(super) fn before(mut self, others: Vec<String>) -> Self {
        self.all.extend(others);
        self
    }

    /// With other clauses before them.
    pub(super) fn behind(self, others: Vec<String>) -> Self {
        Self::from(others).before(self.all)
    }
}

/// The clauses as lines; those without room are counted. A comparison leaves a line to each that follows.
pub(super) fn fitted(clauses: &Clauses, width: usize, lines_max: usize) -> Vec<String> {
    let lines_max = lines_max.min(ANSWER_LINES_MAX);
    let mut lines = Vec::new();
    for (at, clause) in clauses.all.iter().enumerate() {
        let is_last = at + 1 == clauses.all.len();
        let room = lines_max.saturating_sub(lines.len());
        let room = if is_last {
            room
        } else {
            room.saturating_sub(1)
        };
        let own_max = if at == 0 {
            FIRST_LINES_MAX
        } else {
            CLAUSE_LINES_MAX
        };
        let following = clauses.comparisons.saturating_sub(at + 1);
        let left = room.saturating_sub(following).max(1);
        let own = cut("", clause, width, room.min(own_max).min(left));
        if own.is_empty() {
            let more = match clauses.comparisons.saturating_sub(at) {
                0 => format!("{} more", clauses.all.len() - at),
                comparisons => counted(comparisons, "more comparison"),
            };
            lines.push(format!("and {more} on the page"));
            break;
        }
        lines.extend(own);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clauses_without_room_are_counted() {
        let texts = ["faster, by much".to_owned(), "Highest: 5k".to_owned()];
        let clauses = Clauses::from(texts.to_vec());
        assert_eq!(fitted(&clauses, 60, 3), texts);
        assert_eq!(fitted(&clauses, 60, 1), ["and 2 more on the page"]);
        assert_eq!(fitted(&clauses, 60, 0), ["and 2 more on the page"]);
    }

    #[test]
    fn a_comparison_leaves_a_line_to_each_that_follows() {
        let text = |pool: u32| {
            format!(
                "pool {pool}M against 24M: faster, +90 % (+80 % to +99 %), measured beside other programs"
            )
        };
        let cut = |pool: u32| format!("pool {pool}M against 24M: faster, +90 % (+80 % to +99 %) …");
        let clauses = Clauses {
            all: vec![text(48), text(72), text(96), "Highest: 5k".to_owned()],
            comparisons: 3,
        };
        let highest = "Highest: 5k".to_owned();
        let all = [cut(48), cut(72), cut(96), highest];
        assert_eq!(fitted(&clauses, 60, 4), all);
        let more = "and 1 more comparison on the page".to_owned();
        assert_eq!(fitted(&clauses, 60, 3), [cut(48), cut(72), more]);
        let more = "and 2 more comparisons on the page".to_owned();
        assert_eq!(fitted(&clauses, 60, 2), [cut(48), more]);
    }
}
