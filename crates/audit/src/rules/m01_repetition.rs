//! M01: each side was executed often enough.

use stats::{mean_interval, smallest_effect};
use units::{counted, percent};

use crate::{
    finding::{Finding, Level, Outcome, missing},
    rule::{Judge, Rule},
    set::Set,
};

/// Executions of a combination.
const EXECUTIONS: usize = 5;

pub(super) const RULE: Rule = Rule {
    id: "M01",
    name: "each combination was executed often enough",
    measures: "Complete executions of each combination, and the smallest difference that so many could have shown at the spread that \
        they have.",
    threshold: "one, where combinations are compared: fail; fewer than 5: warn; a single run, compared with nothing: note",
    source: "Kalibera and Jones, Rigorous benchmarking in reasonable time, ISMM 2013; measured by us on two shared cores: two runs \
        of the same thing differ by 18 % in the median, 59 % one time in ten",
    consequence: "A difference between single runs may be chance: the next pair may say the opposite.",
    remedy: "repeats = 5 or more, or repeats = \"until decided\".",
    judge: Judge::Set(judge),
};

fn judge(set: &Set<'_>) -> Outcome {
    let combinations = set.combinations();
    let fewest = combinations.iter().map(|(_, runs)| runs.len()).min();
    let fewest = fewest.ok_or_else(|| missing("complete runs"))?;
    if !set.compares() && fewest == 1 {
        let evidence = "one execution: a look, and nothing that another one could be compared with";
        return Ok(Finding::new(Level::Note, evidence).with("executions", 1.0));
    }
    let deviations = combinations.iter().filter_map(|(_, runs)| {
        let per_s: Vec<f64> = runs
            .iter()
            .filter_map(|run| run.throughput().ok())
            .collect();
        let logarithms: Vec<f64> = per_s.iter().map(|per_s| per_s.ln()).collect();
        deviation(&logarithms)
    });
    let deviations: Vec<f64> = deviations.collect();
    let pooled =
        (deviations.iter().map(|it| it * it).sum::<f64>() / deviations.len().max(1) as f64).sqrt();
    let shown = (!deviations.is_empty())
        .then(|| smallest_effect(pooled, fewest))
        .flatten();
    let could_show = shown.map_or(
        "what difference they could show is unknown".to_owned(),
        |effect| {
            format!(
                "at the {} between them no difference below {} is found",
                percent(pooled),
                percent(effect)
            )
        },
    );
    let level = match fewest {
        1 if set.compares() => Level::Fail,
        fewest if fewest < EXECUTIONS => Level::Warn,
        _ => Level::Pass,
    };
    let each = if set.compares() {
        "of each combination, or more"
    } else {
        "of the only combination"
    };
    let evidence = format!("{} {each}; {could_show}", counted(fewest, "execution"));
    let finding = Finding::new(level, evidence).with("executions", fewest as f64);
    Ok(match shown {
        Some(effect) => finding.with("smallest_effect", effect),
        None => finding,
    })
}

/// Standard deviation of a few values.
fn deviation(values: &[f64]) -> Option<f64> {
    let count = values.len() as f64;
    let mean = mean_interval(values, 0.95)?.estimate;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some((squares / (count - 1.0)).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::*;

    #[test]
    fn found() {
        let mut runs = blocks_over("flush", &["1", "2"]);
        for (at, run) in runs.iter_mut().enumerate() {
            set_throughput(run, 1000.0 + 20.0 * (at % 3) as f64);
        }
        let outcome = judged_together(&RULE, &runs[..2], over(&["flush"]));
        assert_found(&outcome, Level::Fail, "1 execution of each combination");
        let outcome = judged_together(&RULE, &runs[..6], over(&["flush"]));
        assert_found(
            &outcome,
            Level::Warn,
            "3 executions of each combination, or more; at the",
        );
        assert_found(&judged(&RULE, |_| {}), Level::Note, "one execution");
    }

    #[test]
    fn passes() {
        let runs = blocks_over("flush", &["1", "2"]);
        let outcome = judged_together(&RULE, &runs, over(&["flush"]));
        assert_found(&outcome, Level::Pass, "5 executions");
    }

    #[test]
    fn runs_that_broke_off_are_not_evaluated() {
        assert_missing(&judged(&RULE, |record| record.end = None), "complete runs");
    }
}
