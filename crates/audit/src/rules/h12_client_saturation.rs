//! Rule H12: the client was the bottleneck.

use figures::Times;
use samples::Cause;
use units::{duration, percent};

use crate::{
    finding::{Finding, Level, Outcome, missing},
    rule::{Judge, Rule},
    run::Run,
};

/// CPU time of an event loop as a share of elapsed time, from which it is saturated.
const LOOP_CPU: f64 = 0.8;
/// Statements per second, as a share of the client's maximum against a server that does nothing.
const CEILING: f64 = 0.8;
/// Send delay of requests, as a share of the response time that it is compared with.
const LAG: f64 = 0.1;
/// Percentile of the delay that is compared with the median response time.
const LAG_QUANTILE: f64 = 0.99;

pub(super) const RULE: Rule = Rule {
    id: "H12",
    name: "the client was not the bottleneck",
    found: "the client was the bottleneck",
    measures: "The CPU time of the client's busiest event loop. The statements per second as a share of the client's ceiling, which dbdyno calibrate measures on the client's machine with a server that does nothing. The delay of each request: the time from the moment when it was due and a connection was free to the moment when it was sent.",
    threshold: "fail if an event loop was on the CPU for more than 80 % of its time. Fail if the statements per second reached more than 80 % of the client's ceiling. Fail if the client was too slow for the requested rate. If the 99th percentile of the delay is above 10 % of the median response time, fail for a load with a rate, because its response times include the delay; note for a closed loop. In a search (`find`), the limit counts instead: fail if the same percentile of the delay is above 10 % of the limit",
    source: "Matsunobu, Ten points for correct benchmarks (2009), point 4",
    consequence: "The figures also describe the client: its delays are part of the response times, and a client at its limit shows the same figures for a faster server.",
    remedy: "Use more event loops (loops), more CPUs for the client, or clients on more machines. Measure the ceiling with dbdyno calibrate.",
    judge: Judge::Run(judge),
};

fn judge(run: &Run<'_>) -> Outcome {
    run.measured_s()?;
    let paces: Vec<_> = run
        .measured()
        .filter_map(|interval| Some((interval.length_s, interval.pace?.loop_cpu)))
        .collect();
    if paces.is_empty() {
        return Err(missing("CPU time of the event loops"));
    }
    let length_s: f64 = paces.iter().map(|(length_s, _)| length_s).sum();
    let loop_cpu = paces
        .iter()
        .map(|(length_s, cpu)| length_s * cpu)
        .sum::<f64>()
        / length_s;
    let ceiling = run
        .record
        .ceiling
        .as_ref()
        .and_then(|ceiling| ceiling.share);
    let shortfall = run
        .record
        .offered
        .as_ref()
        .and_then(|it| it.shortfall.as_ref());
    let mut problems = Vec::new();
    if loop_cpu > LOOP_CPU {
        problems.push(format!(
            "the busiest event loop was on the CPU {} of its time",
            percent(loop_cpu)
        ));
    }
    if let Some(share) = ceiling.filter(|share| *share > CEILING) {
        problems.push(format!(
            "the statements per second reached {} of the client's ceiling",
            percent(share)
        ));
    }
    if let Some(shortfall) = shortfall.filter(|it| it.cause == Cause::Client) {
        problems.push(format!(
            "the client was too slow for the requested rate: {}",
            shortfall.why
        ));
    }
    // In a closed loop all of the lag is the client's; older records of an open loop do not tell its part.
    let figures = &run.figures;
    let delay = |times: &Option<Times>| Delay::of(run, times.as_ref()?);
    let own = delay(&figures.client_lag);
    let is_own = own.is_some();
    let delay = own.or_else(|| delay(&figures.send_lag));
    let is_late = delay.as_ref().is_some_and(Delay::is_late);
    let late = delay.as_ref().map(Delay::in_words);
    let is_open = run.is_closed_loop().is_ok_and(|is_closed| !is_closed);
    if let (true, true, Some(late)) = (is_late, is_open && is_own, &late) {
        problems.push(late.clone());
    }
    let of_ceiling = ceiling.map_or(String::new(), |share| {
        format!("; the client reached {} of its ceiling", percent(share))
    });
    let calm = format!(
        "the busiest event loop was on the CPU {} of its time{of_ceiling}",
        percent(loop_cpu)
    );
    let (level, evidence) = match (problems.is_empty(), is_late, late) {
        (false, ..) => (Level::Fail, problems.join("; ")),
        (true, true, Some(late)) => (
            Level::Note,
            if is_open {
                format!("{calm}; {late}, which includes the wait for a free connection")
            } else {
                format!(
                    "{calm}; {late}; the response times of a closed loop do not include this delay"
                )
            },
        ),
        _ => (Level::Pass, calm),
    };
    let mut finding = Finding::new(level, evidence).with("loop_cpu_share", loop_cpu);
    if let Some(share) = ceiling {
        finding = finding.with("ceiling_share", share);
    }
    if let Some(ns) = delay.and_then(|it| it.p99_ns) {
        finding = finding.with("lag_p99_us", ns as f64 / 1e3);
    }
    Ok(finding)
}

/// The delay of the requests, and the response time that it is compared with.
struct Delay {
    /// The percentile of the delay that is compared, as a share.
    quantile: f64,
    ns: u64,
    /// As a share of the response time.
    share: f64,
    /// `the median response time`
    compared_with: String,
    p99_ns: Option<u64>,
}

impl Delay {
    /// The figure of a run of a search is how many of its response times exceed the limit: a delay that is small against
    /// the limit does not change it, although it may be large against the median of a run far below the limit.
    fn of(run: &Run<'_>, delays: &Times) -> Option<Self> {
        let (quantile, response_ns, compared_with) = match run.search_limit {
            Some(limit) => {
                let compared_with = format!("the limit {}", limit.text);
                (limit.quantile, limit.limit_ns, compared_with)
            }
            None => {
                let response = run.figures.response.as_ref()?;
                let median_ns = response.magnitude_ns(0.5)?;
                (
                    LAG_QUANTILE,
                    median_ns,
                    "the median response time".to_owned(),
                )
            }
        };
        // A run with few operations has no 99.9th percentile.
        let mut quantiles = [quantile, LAG_QUANTILE].into_iter();
        let known = quantiles.find_map(|it| Some((it, delays.magnitude_ns(it)?)));
        let (quantile, ns) = known?;
        Some(Self {
            quantile,
            ns,
            share: ns as f64 / response_ns.max(1) as f64,
            compared_with,
            p99_ns: delays.magnitude_ns(LAG_QUANTILE),
        })
    }

    fn is_late(&self) -> bool {
        self.share > LAG
    }

    /// `99 % of the requests were sent with a delay of at most 50.0 µs (12 % of the median response time)`
    fn in_words(&self) -> String {
        format!(
            "{} of the requests were sent with a delay of at most {} ({} of {})",
            percent(self.quantile),
            duration(self.ns as f64),
            percent(self.share),
            self.compared_with
        )
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use samples::{Durations, RATE, Record};

    use super::*;
    use crate::{
        fixture::*,
        subject::{Preregistration, SearchLimit},
    };

    fn durations(ns: u64) -> Durations {
        let mut durations = Durations::default();
        (0..1000).for_each(|_| durations.record(ns));
        durations
    }

    /// The lag of requests, and the client's own part of it, under a rate.
    fn open_loop(record: &mut Record, send_ns: u64, client_ns: u64) {
        lag(record, send_ns);
        for interval in &mut record.intervals {
            interval.client_lag = Some(durations(client_ns));
        }
        record.offered.as_mut().unwrap().rate_per_s = Some(1000.0);
    }

    fn lag(record: &mut Record, ns: u64) {
        let lag = durations(ns);
        for interval in &mut record.intervals {
            interval.send_lag = Some(lag.clone());
        }
    }

    #[test]
    fn found() {
        let outcome = judged(&RULE, |record| {
            for interval in &mut record.intervals {
                interval.pace.as_mut().unwrap().loop_cpu = 0.97;
            }
        });
        assert_found(&outcome, Level::Fail, "on the CPU 97 %");
        let outcome = judged(&RULE, |record| {
            record.ceiling.as_mut().unwrap().share = Some(0.9)
        });
        assert_found(&outcome, Level::Fail, "90 % of the client's ceiling");
        let outcome = judged(&RULE, |record| lag(record, 2_000_000));
        assert_found(&outcome, Level::Note, "25 % of the median");
        let outcome = judged(&RULE, |record| {
            open_loop(record, 2_000_000, 2_000_000);
        });
        assert_found(&outcome, Level::Fail, "25 % of the median");
    }

    /// An overloaded server is not the client's fault.
    #[test]
    fn the_wait_for_a_connection_is_not_the_clients() {
        let outcome = judged(&RULE, |record| open_loop(record, 500_000_000, 50_000));
        assert_eq!(level(&outcome), Level::Pass, "{outcome:?}");
        let outcome = judged(&RULE, |record| {
            open_loop(record, 500_000_000, 50_000);
            record
                .intervals
                .iter_mut()
                .for_each(|it| it.client_lag = None);
        });
        assert_found(
            &outcome,
            Level::Note,
            "which includes the wait for a free connection",
        );
    }

    /// The outcome of a run under a rate that searches for the highest rate below 20 ms at this percentile.
    fn searching(quantile: f64, change: impl FnOnce(&mut Record)) -> Outcome {
        let mut record = run_of(1, 1, &[("connections", "8"), (RATE, "1000")]);
        change(&mut record);
        let limit = |connections: &str, limit_ns| SearchLimit {
            combination: BTreeMap::from([("connections".to_owned(), connections.to_owned())]),
            text: "p99 < 20 ms".to_owned(),
            quantile,
            limit_ns,
        };
        let declared = Preregistration {
            is_search: true,
            // The limit of another combination is none of this run.
            search_limits: vec![limit("4", 1_000), limit("8", 20_000_000)],
            ..over(&["connections"])
        };
        judged_together(&RULE, &[record], declared)
    }

    /// The median is 8 ms: 1 ms is 12 % of it, but 5 % of the limit; 4 ms are 20 % of the limit.
    #[test]
    fn the_delay_in_a_search_is_compared_with_its_limit() {
        let late = |ns| move |record: &mut Record| open_loop(record, ns, ns);
        assert_eq!(level(&judged(&RULE, late(1_000_000))), Level::Fail);
        let outcome = searching(0.99, late(1_000_000));
        assert_eq!(level(&outcome), Level::Pass, "{outcome:?}");
        assert_found(
            &searching(0.99, late(4_000_000)),
            Level::Fail,
            "99 % of the requests were sent with a delay of at most 4.00 ms (20 % of the limit p99 < 20 ms)",
        );
        // A client that cannot keep up fails as before.
        let outcome = searching(0.99, |record| {
            open_loop(record, 50_000, 50_000);
            for interval in &mut record.intervals {
                interval.pace.as_mut().unwrap().loop_cpu = 0.97;
            }
        });
        assert_found(&outcome, Level::Fail, "on the CPU 97 %");
    }

    /// 2 % of the requests are 10 ms late: half of the limit.
    #[test]
    fn the_delay_in_a_search_has_the_percentile_of_its_limit() {
        let some_late = |record: &mut Record| {
            open_loop(record, 50_000, 50_000);
            for interval in &mut record.intervals {
                let client = interval.client_lag.as_mut().unwrap();
                (0..20).for_each(|_| client.record(10_000_000));
            }
        };
        assert_eq!(level(&searching(0.95, some_late)), Level::Pass);
        assert_found(
            &searching(0.99, some_late),
            Level::Fail,
            "50 % of the limit",
        );
    }

    #[test]
    fn passes() {
        assert_found(
            &judged(&RULE, |_| {}),
            Level::Pass,
            "5 % of its time; the client reached 1 % of its ceiling",
        );
    }

    #[test]
    fn event_loops_that_nobody_watched_are_not_evaluated() {
        let outcome = judged(&RULE, |record| {
            record.intervals.iter_mut().for_each(|it| it.pace = None);
        });
        assert_missing(&outcome, "event loops");
    }
}
