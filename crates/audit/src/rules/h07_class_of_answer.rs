//! Rule H07: the sides of a comparison read from different storage.

use units::duration;

use crate::{
    finding::{Finding, Level, Outcome, missing, no_subject},
    rule::{Judge, Rule},
    run::Run,
    set::{Set, in_words},
};

/// Time per row from which rows come from a rotating disk, nanoseconds.
const DISK_NS: f64 = 3e6;
/// Time per row up to which rows come from memory on the same machine, nanoseconds.
const MEMORY_NS: f64 = 20e3;
/// Rows per operation below which the time per row is not used.
const ROWS_AT_LEAST: f64 = 0.5;

pub(super) const RULE: Rule = Rule {
    id: "H07",
    name: "what is compared answers out of the same class of storage",
    found: "what is compared answers out of different storage",
    measures: "Time per row read in each combination: response time over the rows that the server read for it.",
    threshold: "one side above 3 ms per row (a disk with a moving head) and another below 20 us (memory, locally): invalid",
    source: "Matsunobu, Ten points for correct benchmarks (2009), points 2 and 4",
    consequence: "A factor of hundreds follows from where the rows were, whatever else was changed.",
    remedy: "Compare memory with memory and disk with disk, local with local and remote with remote.",
    judge: Judge::Set(judge),
};

fn judge(set: &Set<'_>) -> Outcome {
    let compared = set.compared();
    if compared.is_empty() || !set.compares() {
        return Err(no_subject("no comparison was declared"));
    }
    let mut times = Vec::new();
    for (levels, runs) in set.combinations() {
        let per_row: Result<Vec<Option<f64>>, _> = runs.iter().map(|run| ns_per_row(run)).collect();
        let per_row: Vec<f64> = per_row?.into_iter().flatten().collect();
        if !per_row.is_empty() {
            times.push((per_row.iter().sum::<f64>() / per_row.len() as f64, levels));
        }
    }
    let least = times.iter().min_by(|a, b| a.0.total_cmp(&b.0));
    let most = times.iter().max_by(|a, b| a.0.total_cmp(&b.0));
    let (Some(least), Some(most)) = (least, most) else {
        return Err(no_subject("the operations read hardly any rows"));
    };
    let level = if most.0 > DISK_NS && least.0 < MEMORY_NS {
        Level::Invalid
    } else {
        Level::Pass
    };
    let evidence = format!(
        "{} per row with {}, {} with {}",
        duration(least.0),
        in_words(&least.1),
        duration(most.0),
        in_words(&most.1)
    );
    Ok(Finding::new(level, evidence)
        .with("least_us_per_row", least.0 / 1e3)
        .with("most_us_per_row", most.0 / 1e3))
}

/// Response time per row read, nanoseconds; `None` if operations read hardly any rows.
fn ns_per_row(run: &Run<'_>) -> Result<Option<f64>, crate::finding::Unjudged> {
    let response = run.figures.response.as_ref();
    let response = response.ok_or_else(|| missing("response times"))?;
    let operations = run.throughput()?;
    let rows = run.counters()?.rows_read_per_s().unwrap_or(0.0);
    let per_operation = rows / operations;
    Ok((per_operation >= ROWS_AT_LEAST).then(|| response.mean_ns / per_operation))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::*;

    #[test]
    fn found() {
        let mut runs = blocks_over("cache", &["cold", "hot"]);
        for run in &mut runs {
            if run.header.combination["cache"] == "hot" {
                counter(run, "Innodb_rows_read", 1_000_000.0);
            }
        }
        let outcome = judged_together(&RULE, &runs, over(&["cache"]));
        assert_found(
            &outcome,
            Level::Invalid,
            "7.99 µs per row with cache=hot, 7.99 ms with cache=cold",
        );
    }

    #[test]
    fn passes() {
        let runs = blocks_over("flush", &["1", "2"]);
        assert_eq!(
            level(&judged_together(&RULE, &runs, over(&["flush"]))),
            Level::Pass
        );
        assert_no_subject(&judged(&RULE, |_| {}));
    }

    #[test]
    fn counters_that_nobody_read_are_not_evaluated() {
        let mut runs = blocks_over("flush", &["1", "2"]);
        runs[0].server_status.clear();
        assert_missing(&judged_together(&RULE, &runs, over(&["flush"])), "counters");
    }
}
