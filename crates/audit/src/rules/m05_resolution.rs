//! Rule M05: the clock is too coarse for the measured times.

use units::duration;

use crate::{
    finding::{Finding, Level, Outcome, missing},
    rule::{Judge, Rule},
    run::Run,
};

/// Clock sources with nanosecond resolution and fast reads.
const FINE: &[&str] = &[
    "tsc",
    "kvm-clock",
    "arch_sys_counter",
    "hyperv_clocksource_tsc_page",
    "xen",
];
/// Resolution of the others, nanoseconds: the ACPI timer has 3.58 million ticks per second and is slow to read.
const COARSE_NS: f64 = 1000.0;
/// Largest resolution as a share of the median.
const SHARE: f64 = 0.01;

pub(super) const RULE: Rule = Rule {
    id: "M05",
    name: "the clock resolution is fine enough",
    found: "the clock resolution is too coarse",
    measures: "The kernel's clock source, and the smallest, median and largest response time.",
    threshold: "fail if the resolution of the clock is above 1 % of the median response time. Fail if the shortest and the longest of more than 100 response times are equal",
    source: "HP Japan, MySQL Server 5.0 sizing information, in which Super Smack is patched to measure in microseconds instead of milliseconds",
    consequence: "Most operations have the same response time, or a response time of zero. The percentiles describe the clock, not the server.",
    remedy: "Use a machine whose clock source has a fine resolution. The current clock source is in /sys/devices/system/clocksource/clocksource0/current_clocksource.",
    judge: Judge::Run(judge),
};

fn judge(run: &Run<'_>) -> Outcome {
    let response = run.figures.response.as_ref();
    let response = response.ok_or_else(|| missing("response times"))?;
    let mut machines = run.record.machines.iter();
    let client = machines.rfind(|machine| machine.host != samples::Host::Server);
    let clock = client.and_then(|machine| machine.settings.as_ref()?.clocksource.as_deref());
    let clock = clock.ok_or_else(|| missing("the clock source of the client's machine"))?;
    let resolution_ns = if FINE.contains(&clock) {
        1.0
    } else {
        COARSE_NS
    };
    let median = response.magnitude_ns(0.5);
    let median_ns =
        median.ok_or_else(|| missing("at least twenty response times, which the median needs"))?;
    let share = resolution_ns / median_ns.max(1) as f64;
    let has_no_spread = run.figures.count > 100 && response.min_ns == response.max_ns;
    let level = if share > SHARE || has_no_spread {
        Level::Fail
    } else {
        Level::Pass
    };
    let evidence = format!(
        "clock source {clock}; response times from {} to {}, median {}",
        duration(response.min_ns as f64),
        duration(response.max_ns as f64),
        duration(median_ns as f64)
    );
    Ok(Finding::new(level, evidence).with("resolution_share", share))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::*;

    #[test]
    fn found() {
        let outcome = judged(&RULE, |record| {
            for interval in &mut record.intervals {
                let operation = &mut interval.operations[0];
                operation.histogram = samples::Histogram::new();
                (0..operation.count).for_each(|_| operation.histogram.record(1_000_000));
                (operation.min_ns, operation.max_ns) = (1_000_000, 1_000_000);
            }
        });
        assert_found(&outcome, Level::Fail, "from 1.00 ms to 1.00 ms");
    }

    #[test]
    fn passes() {
        assert_found(&judged(&RULE, |_| {}), Level::Pass, "clock source tsc");
    }

    #[test]
    fn a_clock_that_nobody_knows_is_not_evaluated() {
        let outcome = judged(&RULE, |record| record.machines[0].settings = None);
        assert_missing(&outcome, "clock source");
    }
}
