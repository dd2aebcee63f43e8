//! Rule M07: the runs were not in random order.

use units::percent;

use crate::{
    finding::{Finding, Level, Outcome, no_subject},
    rule::{Judge, Rule},
    run::Run,
    session::took_turns,
    set::Set,
};

/// Number of rounds below which a fixed order cannot be distinguished from chance.
const ROUNDS: usize = 2;

pub(super) const RULE: Rule = Rule {
    id: "M07",
    name: "the compared runs were in random order",
    found: "the runs were not in random order",
    measures: "The order in which the runs of the combinations began.",
    threshold: "warn if all executions of each combination ran one after the other. Note if the order of the combinations was the same in every block",
    source: "our own measurements on two shared cores, with A and B identical: the order AAAAAAAABBBBBBBB showed a difference of -11.7 %, and strict ABAB showed +24.7 % with p = 0.016; R. A. Fisher, The Design of Experiments (1935)",
    consequence: "Drift or periodic activity on the machine (caches, other programs, backups) looks like an effect of the factor.",
    remedy: "Set order = \"random\", which shuffles the runs within each complete block.",
    judge: Judge::Set(judge),
};

fn judge(set: &Set<'_>) -> Outcome {
    if set.declared.is_search {
        return Err(no_subject(
            "each rate of a search follows from the runs before it",
        ));
    }
    // All loads of a run are measured at the same time.
    let mut runs: Vec<_> = set.first_loads().collect();
    let is_beside_another = |run: &&Run<'_>| {
        let mut others = runs
            .iter()
            .filter(|it| !set.has_sides() || it.side != run.side);
        others.any(|it| took_turns(it.record, run.record))
    };
    if !runs.is_empty() && runs.iter().all(is_beside_another) {
        return Err(no_subject(
            "the combinations took turns, in an order that was drawn for each block of slices",
        ));
    }
    // RFC 3339 times in UTC sort as text; the run number decides within one second.
    runs.sort_by_key(|run| (&run.record.header.started_at, run.record.header.run));
    let sequence: Vec<_> = runs.iter().map(|run| set.levels(run)).collect();
    let mut distinct = sequence.clone();
    distinct.sort();
    distinct.dedup();
    if distinct.len() < 2 {
        return Err(no_subject("nothing is compared"));
    }
    let changes = sequence
        .windows(2)
        .filter(|pair| pair[0] != pair[1])
        .count();
    let rounds = sequence.len() / distinct.len();
    if rounds < ROUNDS {
        return Err(no_subject("each combination ran once"));
    }
    let is_blocked = changes + 1 == distinct.len();
    let first = &sequence[..distinct.len()];
    let is_same = rounds > ROUNDS
        && sequence.len() % distinct.len() == 0
        && sequence.chunks(distinct.len()).all(|round| round == first);
    let share = changes as f64 / (sequence.len() - 1) as f64;
    let (level, evidence) = match (is_blocked, is_same) {
        (true, _) => (
            Level::Warn,
            format!(
                "{} combinations ran one after the other, each {rounds} times in a row",
                distinct.len()
            ),
        ),
        (_, true) => (
            Level::Note,
            format!(
                "{} combinations ran in the same order in each of {rounds} blocks (probability with random order: {}); the effect of a combination cannot be separated from the effect of its position",
                distinct.len(),
                chance(distinct.len(), rounds),
            ),
        ),
        _ => (
            Level::Pass,
            format!(
                "{} combinations; {} of the runs followed a run of another combination",
                distinct.len(),
                percent(share)
            ),
        ),
    };
    Ok(Finding::new(level, evidence).with("changes", changes as f64))
}

/// The probability that a random order is the same in each round: `1 in 4`.
fn chance(combinations: usize, rounds: usize) -> String {
    let orders: f64 = (1..=combinations).map(|it| it as f64).product();
    let draws = orders.powf(rounds as f64 - 1.0);
    if draws < 1e6 {
        format!("1 in {draws:.0}")
    } else {
        "less than 1 in a million".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use samples::Record;

    use super::*;
    use crate::{fixture::*, subject::Preregistration};

    fn ordered(order: &str) -> Vec<Record> {
        let runs = order.chars().enumerate();
        runs.map(|(at, level)| {
            let level = level.to_string();
            run_of(at as u32 + 1, 1, &[("side", level.as_str())])
        })
        .collect()
    }

    #[test]
    fn found() {
        let outcome = judged_together(&RULE, &ordered("AAABBB"), over(&["side"]));
        assert_found(
            &outcome,
            Level::Warn,
            "one after the other, each 3 times in a row",
        );
        let outcome = judged_together(&RULE, &ordered("ABABABAB"), over(&["side"]));
        assert_found(
            &outcome,
            Level::Note,
            "the same order in each of 4 blocks (probability with random order: 1 in 8)",
        );
    }

    #[test]
    fn loads_that_took_turns_have_no_order_of_runs() {
        let runs = ["1", "2"].map(|level| {
            let mut run = run_of(1, 1, &[("side", level)]);
            in_turns(&mut run);
            run
        });
        assert_no_subject(&judged_together(&RULE, &runs, over(&["side"])));
        // Of two executions of the experiment, the second one is the other side.
        let mut later = runs.clone();
        for run in &mut later {
            run.header.started_at = "2026-11-21T20:00:00Z".to_owned();
        }
        let outcome = judged_sides(&RULE, &runs, &later, over(&["side"]));
        assert_found(&outcome, Level::Warn, "ran one after the other");
    }

    #[test]
    fn the_rates_of_a_search_have_no_order_of_their_own() {
        let declared = Preregistration {
            is_search: true,
            ..over(&["side"])
        };
        assert_no_subject(&judged_together(&RULE, &ordered("AAABBB"), declared));
    }

    #[test]
    fn passes() {
        let outcome = judged_together(&RULE, &ordered("ABBAABBA"), over(&["side"]));
        assert_eq!(level(&outcome), Level::Pass);
        assert_no_subject(&judged_together(&RULE, &ordered("AB"), over(&["side"])));
        assert_no_subject(&judged(&RULE, |_| {}));
    }
}
