//! Rule W07: statements return the same number of rows every time.

use samples::ReturnedRows;
use units::{fine_percent, si};

use crate::{
    finding::{Finding, Level, Outcome, missing, no_subject},
    rule::{Judge, Rule},
    run::Run,
};

/// Mean rows per statement from which their spread is checked.
const SEVERAL: f64 = 1.5;
/// Number of statements below which the spread of their rows is not judged.
const STATEMENTS_AT_LEAST: u64 = 30;
/// Standard deviation divided by the mean of the rows per statement, below which all statements are alike.
const ALIKE: f64 = 0.05;
/// The finding names at most this many statements.
const NAMED_AT_MOST: usize = 4;

pub(super) const RULE: Rule = Rule {
    id: "W07",
    name: "the number of rows per statement varies as in production",
    found: "statements return the same number of rows every time",
    measures: "For each statement that returns several rows on average: how much the number of rows varies between its executions (standard deviation divided by mean).",
    threshold: "warn if a statement's number of rows varies by less than 5 %",
    source: "Matsunobu, Ten points for correct benchmarks (2009), point 5: some users have a hundred times as many rows as others, but a generator gives every user ten",
    consequence: "No operation requests results as large as those of the heaviest users in production: percentiles and cache misses look better than in production.",
    remedy: "Draw the length of a range, or the number of rows for each parent row, from the distribution in production. The warning remains even if equal numbers are intended.",
    judge: Judge::Run(judge),
};

fn judge(run: &Run<'_>) -> Outcome {
    let totals = run.record.totals();
    let operations = totals
        .operations
        .iter()
        .map(|(key, it)| (&key.1, it.returned));
    let statements = totals
        .statements
        .iter()
        .map(|(key, it)| (&key.1, it.returned));
    let counted: Vec<(&String, ReturnedRows)> = operations
        .chain(statements)
        .filter(|(_, returned)| !returned.is_none())
        .collect();
    if counted.is_empty() && totals.statements.values().any(|it| it.classes.reads > 0) {
        return Err(missing("the number of rows that each statement returned"));
    }
    let spreads: Vec<(&str, f64, f64)> = counted
        .iter()
        .filter(|(_, returned)| returned.statements >= STATEMENTS_AT_LEAST)
        .filter_map(|(name, it)| Some((name.as_str(), it.mean()?, it.variation()?)))
        .filter(|(_, mean, _)| *mean >= SEVERAL)
        .collect();
    let Some(least) = spreads.iter().map(|it| it.2).reduce(f64::min) else {
        return Err(no_subject("no statement returns several rows"));
    };
    let alike: Vec<_> = spreads.iter().filter(|it| it.2 < ALIKE).collect();
    let told = |(name, mean, variation): &(&str, f64, f64)| {
        format!(
            "{name} returned {} rows on average, varying by {}",
            si(*mean),
            fine_percent(*variation)
        )
    };
    let (level, evidence) = if alike.is_empty() {
        let all = spreads.iter().take(NAMED_AT_MOST).map(told);
        (Level::Pass, all.collect::<Vec<_>>().join("; "))
    } else {
        let named = alike.iter().take(NAMED_AT_MOST).map(|it| told(it));
        let named = named.collect::<Vec<_>>().join("; ");
        (
            Level::Warn,
            format!("the same number of rows every time: {named}"),
        )
    };
    Ok(Finding::new(level, evidence).with("least_variation", least))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::*;

    /// One second of operations that returned these numbers of rows.
    fn returning(rows: &[u64]) -> Outcome {
        judged(&RULE, |record| {
            for interval in &mut record.intervals {
                for operation in &mut interval.operations {
                    operation.returned = ReturnedRows::default();
                    for at in 0..operation.count as usize {
                        operation.returned.record(rows[at % rows.len()]);
                    }
                }
            }
        })
    }

    #[test]
    fn found() {
        let outcome = returning(&[100]);
        assert_found(
            &outcome,
            Level::Warn,
            "the same number of rows every time: update_index returned 100 rows on average, varying by 0 %",
        );
    }

    #[test]
    fn passes() {
        assert_found(
            &returning(&[1, 5, 40]),
            Level::Pass,
            "update_index returned 15.3 rows on average, varying by 114 %",
        );
    }

    #[test]
    fn what_returns_one_row_or_none_is_no_subject() {
        for rows in [&[1][..], &[0], &[1, 0]] {
            assert_no_subject(&returning(rows));
        }
        assert_no_subject(&judged(&RULE, |_| {}));
    }
}
