//! Rule H13: a gain of the database is smaller for a user, end to end.

use units::percent;

use crate::{
    finding::{Finding, Level, Outcome, no_subject},
    rule::{Judge, Rule},
    set::Set,
};

/// Ratio below which a gain is too small to be reported.
const GAIN: f64 = 1.05;

pub(super) const RULE: Rule = Rule {
    id: "H13",
    name: "the gain is stated for the user, not only for the database",
    found: "the user's gain is smaller than the database's gain",
    measures: "The largest throughput ratio among the compared combinations. The gain for a user, who waits for the database only part of the time (database_share under [verdict]).",
    threshold: "note if the ratio is 1.05 or more; the note states the gain for the user",
    source: "G. M. Amdahl, AFIPS 1967; Matsunobu, Ten points for correct benchmarks (2009), point 10: a library that is a thousand times as fast does not make the application a thousand times as fast",
    consequence: "If the database accounts for a fifth of the user's wait, a database that is twice as fast makes a page only 11 % faster.",
    remedy: "State both figures. If the database's share is small, shorten the rest of the wait first.",
    judge: Judge::Set(judge),
};

fn judge(set: &Set<'_>) -> Outcome {
    let Some(share) = set.declared.database_share else {
        let why = "the database's share of a user's wait is not declared";
        return Err(no_subject(why));
    };
    let compared = set.compared();
    let mut ratio: f64 = 1.0;
    for (within, _) in set.without(&compared) {
        let combinations = set.combinations();
        let of_place = combinations.iter().filter(|(levels, _)| {
            let mut shared = within.iter();
            shared.all(|(factor, level)| levels.get(factor) == Some(level))
        });
        let means = of_place.filter_map(|(_, runs)| {
            let per_s: Vec<f64> = runs
                .iter()
                .filter_map(|run| run.throughput().ok())
                .collect();
            (!per_s.is_empty()).then(|| per_s.iter().sum::<f64>() / per_s.len() as f64)
        });
        let means: Vec<f64> = means.collect();
        let least = means.iter().copied().fold(f64::INFINITY, f64::min);
        let most = means.iter().copied().fold(0.0, f64::max);
        if most > 0.0 {
            ratio = ratio.max(most / least);
        }
    }
    if !set.compares() || compared.is_empty() {
        return Err(no_subject("nothing is compared"));
    }
    let end_to_end = 1.0 / ((1.0 - share) + share / ratio);
    let evidence = format!(
        "the fastest combination is {ratio:.2} times as fast as the slowest; if the database accounts for {} of the user's wait, the fastest combination is {end_to_end:.2} times as fast for the user",
        percent(share)
    );
    let level = if ratio >= GAIN {
        Level::Note
    } else {
        Level::Pass
    };
    Ok(Finding::new(level, evidence)
        .with("ratio", ratio)
        .with("end_to_end_ratio", end_to_end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::*;

    fn twice_as_fast(ratio: f64, share: Option<f64>) -> Outcome {
        let mut runs = blocks_over("index", &["no", "yes"]);
        for run in &mut runs {
            let is_fast = run.header.combination["index"] == "yes";
            set_throughput(run, if is_fast { 1000.0 * ratio } else { 1000.0 });
        }
        let mut declared = over(&["index"]);
        declared.database_share = share;
        judged_together(&RULE, &runs, declared)
    }

    #[test]
    fn found() {
        let outcome = twice_as_fast(2.0, Some(0.2));
        assert_found(&outcome, Level::Note, "2.00 times as fast as the slowest");
        assert_found(&outcome, Level::Note, "1.11 times as fast for the user");
    }

    #[test]
    fn passes() {
        let outcome = twice_as_fast(1.01, Some(0.2));
        assert_found(&outcome, Level::Pass, "1.01 times as fast");
    }

    #[test]
    fn without_a_share_there_is_nothing_to_say() {
        assert_no_subject(&twice_as_fast(2.0, None));
    }
}
