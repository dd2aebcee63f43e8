//! Doubts about a decision: figures of failed operations, or of a client at its limit, are not the server's, and those of a
//! machine that other programs used are not those of the machine by itself.

use audit::{MACHINE_RULE, Rule, mostly_shared};
use samples::Record;
use verdict::{Answer, Decision, Question};

use crate::grid::Grid;

/// What a difference says that was measured beside other programs.
const AS_IT_WAS: &str =
    "it holds for the machine as it was; repeat it without them before you rely on it";

/// Why a decided comparison is doubtful: `operations failed (W10)`; `None` where nothing is decided or no run breaks a
/// rule.
pub(crate) fn doubt(question: &Question, answer: &Answer, grid: &Grid<'_>) -> Option<String> {
    broken_rule(question, answer, grid).map(reason)
}

/// `operations failed (W10)`
pub(crate) fn reason(rule: &Rule) -> String {
    format!("{} ({})", rule.found, rule.id)
}

/// A doubt behind a sentence: `, but operations failed (W10)`; empty without one.
pub(crate) fn appended(doubt: Option<&str>) -> String {
    doubt.map_or_else(String::new, |why| format!(", but {why}"))
}

/// The state of the servers and the doubt about a decision, behind its sentence; empty without either.
pub(crate) fn conditions(state: Option<&str>, doubt: Option<&Rule>) -> String {
    match doubt {
        Some(rule) if rule.is(MACHINE_RULE) => {
            let measured = state.map_or_else(|| "measured".to_owned(), |it| format!("{it} and"));
            format!(
                ", {measured} beside other programs ({}): {AS_IT_WAS}",
                rule.id
            )
        }
        _ => {
            let state = state.map_or_else(String::new, |it| format!(", {it}"));
            state + &appended(doubt.map(reason).as_deref())
        }
    }
}

/// The doubts about several decisions: ` 2 are doubtful because operations failed (W10).`; empty without any.
pub(crate) fn doubts_of_decisions(question: &Question, grid: &Grid<'_>) -> String {
    let answers = grid.answers.iter();
    let rules = answers.filter_map(|answer| broken_rule(question, answer, grid));
    counted(rules)
}

/// The rule that a run of a decided comparison breaks, so that its figures are not the server's (`dbdyno compare` refuses
/// such runs), or else the one about other programs in most runs of a side, if the comparison found a difference: it may be
/// about how the sides share the machine with them.
pub(crate) fn broken_rule(
    question: &Question,
    answer: &Answer,
    grid: &Grid<'_>,
) -> Option<&'static Rule> {
    if answer.decision == Decision::Inconclusive {
        return None;
    }
    let has = |side: &[(String, String)], record: &Record| {
        let mut levels = side.iter().chain(&answer.within);
        levels.all(|(factor, level)| {
            let of_record = record.header.combination.get(factor);
            of_record.map_or("", String::as_str) == level
        })
    };
    let sides = [&question.baseline, &answer.levels].map(|side| {
        let executions = grid.executions.iter().enumerate();
        let of_side = executions.filter(|(_, execution)| {
            let record = execution.record;
            record.is_complete() && has(side, record)
        });
        of_side.map(|(at, _)| at).collect::<Vec<usize>>()
    });
    let mut compared = sides.concat();
    compared.sort_unstable();
    let unfit = compared.iter().find_map(|at| grid.unfit(*at));
    if unfit.is_some() || !answer.decision.is_different() {
        return unfit;
    }
    let mut sides = sides.iter();
    sides.find_map(|side| mostly_shared(side.iter().map(|at| grid.shared_machine(*at))))
}

/// ` 2 are doubtful because operations failed (W10), 1 because the client was the bottleneck (H12).`
fn counted(rules: impl Iterator<Item = &'static Rule>) -> String {
    let mut counts: Vec<(&Rule, usize)> = Vec::new();
    for rule in rules {
        match counts.iter_mut().find(|(known, _)| known.id == rule.id) {
            Some((_, count)) => *count += 1,
            None => counts.push((rule, 1)),
        }
    }
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let parts = counts.iter().enumerate().map(|(at, (rule, count))| {
        let doubtful = match (at, count) {
            (0, 1) => " is doubtful",
            (0, _) => " are doubtful",
            _ => "",
        };
        format!("{count}{doubtful} because {}", reason(rule))
    });
    let parts: Vec<String> = parts.collect();
    if parts.is_empty() {
        String::new()
    } else {
        format!(" {}.", parts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_and_the_doubt_about_a_decision_are_one_sentence() {
        let [failed, shared] = ["W10", "H14"].map(audit::rule);
        let early = Some("measured before all servers were steady");
        for (state, doubt, said) in [
            (None, None, String::new()),
            (
                early,
                None,
                ", measured before all servers were steady".to_owned(),
            ),
            (
                early,
                failed,
                ", measured before all servers were steady, but operations failed (W10)".to_owned(),
            ),
            (
                early,
                shared,
                format!(
                    ", measured before all servers were steady and beside other programs (H14): {AS_IT_WAS}"
                ),
            ),
            (
                None,
                shared,
                format!(", measured beside other programs (H14): {AS_IT_WAS}"),
            ),
        ] {
            assert_eq!(conditions(state, doubt), said);
        }
    }

    #[test]
    fn doubts_are_counted_by_their_reason() {
        let [failed, client] = ["W10", "H12"].map(|id| audit::rule(id).unwrap());
        let said = |rules: &[&'static Rule]| counted(rules.iter().copied());
        assert_eq!(said(&[]), "");
        assert_eq!(
            said(&[failed]),
            format!(" 1 is doubtful because {}.", reason(failed))
        );
        assert_eq!(
            said(&[client, failed, failed]),
            format!(
                " 2 are doubtful because {}, 1 because {}.",
                reason(failed),
                reason(client)
            )
        );
    }
}
