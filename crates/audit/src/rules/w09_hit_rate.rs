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
    name: "what is compared found the same share of pages in memory",
    found: "the compared runs found different shares of their pages in memory",
    measures: "Page requests that the buffer pool answered without reading, in the mean of each combination that is compared.",
    threshold: "a difference of more than 0.5 percentage points: note",
    source: "Matsunobu, Disk I/O and memory (2009): with a miss 100 times as slow as a hit, 95 % of hits are 5.95 times and \
        80 % are 20.8 times as slow as 100 %",
    consequence: "The difference in throughput may come from the caches and not from the change.",
    remedy: "Warm both sides up until the misses per second are flat, or make the cache the factor.",
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
                "{} of the page requests found their page in memory with {}, {} with {}",
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
            "the shares of all combinations lie within {}",
            percent(difference)
        );
        Finding::new(Level::Pass, evidence)
    }
    .with("hit_rate_difference", difference))
}

/// Page requests answered from memory, as a share; 1 without requests.
fn hit_rate(run: &Run<'_>) -> Result<f64, crate::finding::Unjudged> {
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
            "100 % of the page requests found their page in memory with pool=2G, 95 %",
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
