//! Rule W09: the sides of a comparison found different shares of their pages in memory.

use units::percent;

use crate::{
    finding::{Finding, Level, Outcome, no_subject},
    rule::{Judge, Rule},
    run::Run,
    set::{Set, in_words},
};

/// Difference in the hit rate, as a share, that changes throughput by itself.
const DIFFERENCE: f64 = 0.005;

pub(super) const RULE: Rule = Rule {
    id: "W09",
    name: "the compared runs found the same share of their pages in memory",
    found: "the compared runs found different shares of their pages in memory",
    measures: "For each compared combination: the mean share of page requests that the buffer pool answered without reading from the disk.",
    threshold: "note if the shares differ by more than 0.5 percentage points",
    source: "Matsunobu, Disk I/O and memory (2009): if a miss takes 100 times as long as a hit, the server is 5.95 times as slow with a hit ratio of 95 % as with 100 %, and 20.8 times as slow with 80 %",
    consequence: "The difference in throughput may come from the caches and not from the factor under study.",
    remedy: "Warm both sides up until the number of misses per second is steady, or make the cache a factor.",
    judge: Judge::Set(judge),
};

fn judge(set: &Set<'_>) -> Outcome {
    let compared = set.compared();
    if compared.is_empty() || !set.compares() {
        return Err(no_subject("no comparison was declared"));
    }
    let mut worst: Option<(f64, String)> = None;
    for (within, _) in set.without(&compared) {
        let mut rates = Vec::new();
        for (levels, runs) in set.combinations() {
            if within
                .iter()
                .any(|(factor, level)| levels.get(factor) != Some(level))
            {
                continue;
            }
            let hits: Result<Vec<f64>, _> = runs.iter().map(|run| hit_rate(run)).collect();
            let hits = hits?;
            rates.push((hits.iter().sum::<f64>() / hits.len() as f64, levels));
        }
        let least = rates.iter().min_by(|a, b| a.0.total_cmp(&b.0));
        let most = rates.iter().max_by(|a, b| a.0.total_cmp(&b.0));
        let (Some(least), Some(most)) = (least, most) else {
            continue;
        };
        let difference = most.0 - least.0;
        if worst.as_ref().is_none_or(|(known, _)| difference > *known) {
            let words = format!(
                "{} of the page requests were answered from memory with {}, and {} with {}",
                percent(most.0),
                in_words(&most.1),
                percent(least.0),
                in_words(&least.1)
            );
            worst = Some((difference, words));
        }
    }
    let (difference, words) = worst.ok_or_else(|| no_subject("nothing is compared"))?;
    Ok(if difference > DIFFERENCE {
        Finding::new(Level::Note, words)
    } else {
        let evidence = format!(
            "the hit ratios of all combinations differ by at most {}",
            percent(difference)
        );
        Finding::new(Level::Pass, evidence)
    }
    .with("hit_rate_difference", difference))
}

/// Page requests answered from memory, as a share; 1 without requests.
fn hit_rate(run: &Run<'_>) -> Result<f64, crate::finding::SkipReason> {
    let requests = run.counter_per_s("Innodb_buffer_pool_read_requests")?;
    let reads = run.counter_per_s("Innodb_buffer_pool_reads")?;
    Ok(if requests > 0.0 {
        1.0 - reads / requests
    } else {
        1.0
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::*;

    #[test]
    fn found() {
        let mut runs = blocks_over("pool", &["1G", "2G"]);
        for run in &mut runs {
            if run.header.combination["pool"] == "1G" {
                counter(run, "Innodb_buffer_pool_reads", 450.0);
            }
        }
        let outcome = judged_together(&RULE, &runs, over(&["pool"]));
        assert_found(
            &outcome,
            Level::Note,
            "100 % of the page requests were answered from memory with pool=2G, and 95 %",
        );
    }

    #[test]
    fn passes() {
        let runs = blocks_over("pool", &["1G", "2G"]);
        assert_eq!(
            level(&judged_together(&RULE, &runs, over(&["pool"]))),
            Level::Pass
        );
        assert_no_subject(&judged(&RULE, |_| {}));
    }

    #[test]
    fn counters_that_nobody_read_are_not_evaluated() {
        let mut runs = blocks_over("pool", &["1G", "2G"]);
        runs[0].server_status.clear();
        assert_missing(&judged_together(&RULE, &runs, over(&["pool"])), "counters");
    }
}
