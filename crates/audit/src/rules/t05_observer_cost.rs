//! Rule T05: observing took CPU from the observed workload.

use units::percent;

use crate::{
    finding::{Finding, Level, Outcome, missing},
    rule::{Judge, Rule},
    run::Run,
};

/// Largest CPU usage of the collectors, as a share of one CPU.
const SHARE: f64 = 0.03;

pub(super) const RULE: Rule = Rule {
    id: "T05",
    name: "the observation did not slow the run down",
    found: "the observation used too much CPU time",
    measures: "The CPU time of the threads that collect telemetry, as a share of one CPU. The number of samples that were skipped because they were late.",
    threshold: "warn if collecting telemetry used more than 3 % of one CPU",
    source: "proposed here; the cost is measured by the collectors' own clocks in every run",
    consequence: "The observation slowed the run down. On a small machine, the run may have lost up to the measured share of CPU time.",
    remedy: "Sample the machine less often (--every 1s).",
    judge: Judge::Run(judge),
};

fn judge(run: &Run<'_>) -> Outcome {
    let collected = &run.record.collected;
    if collected.is_empty() {
        return Err(missing("the cost of collecting telemetry"));
    }
    let share: f64 = collected
        .iter()
        .filter_map(samples::Collected::cpu_share)
        .sum();
    let missed: u64 = collected.iter().map(|it| it.missed).sum();
    let level = if share > SHARE {
        Level::Warn
    } else {
        Level::Pass
    };
    let late = if missed > 0 {
        format!("; {missed} samples were skipped because they were late")
    } else {
        String::new()
    };
    let evidence = format!(
        "collecting telemetry took {} of one CPU{late}",
        percent(share)
    );
    Ok(Finding::new(level, evidence).with("collector_cpu_share", share))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::*;

    #[test]
    fn found() {
        let outcome = judged(&RULE, |record| record.collected[0].cpu_s = 10.0);
        assert_found(&outcome, Level::Warn, "7.4 % of one CPU");
    }

    #[test]
    fn passes() {
        assert_found(&judged(&RULE, |_| {}), Level::Pass, "0.4 % of one CPU");
    }

    #[test]
    fn collectors_that_do_not_tell_are_not_evaluated() {
        assert_missing(&judged(&RULE, |record| record.collected.clear()), "cost");
    }
}
