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
/// Send delay of requests, as a share of the median response time.
const LAG: f64 = 0.1;

pub(super) const RULE: Rule = Rule {
    id: "H12",
    name: "the client was not the bottleneck",
    found: "the client was the bottleneck",
    measures: "The CPU time of the client's busiest event loop. The statements per second as a share of the client's ceiling, which dbdyno calibrate measures on the client's machine with a server that does nothing. The delay of each request: the time from the moment when it was due and a connection was free to the moment when it was sent.",
    threshold: "fail if an event loop was on the CPU for more than 80 % of its time. Fail if the statements per second reached more than 80 % of the client's ceiling. Fail if the client was too slow for the requested rate. If the 99th percentile of the delay is above 10 % of the median response time, fail for a load with a rate, because its response times include the delay; note for a closed loop",
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
    let magnitude_ns = |times: &Option<Times>, quantile| times.as_ref()?.magnitude_ns(quantile);
    // In a closed loop all of the lag is the client's; older records of an open loop do not tell its part.
    let figures = &run.figures;
    let own = magnitude_ns(&figures.client_lag, 0.99);
    let lag = own.or_else(|| magnitude_ns(&figures.send_lag, 0.99));
    let response = magnitude_ns(&run.figures.response, 0.5);
    let lag = lag
        .zip(response)
        .map(|(lag, p50)| (lag as f64, lag as f64 / p50.max(1) as f64));
    let is_late = lag.is_some_and(|(_, share)| share > LAG);
    let late = lag.map(|(ns, share)| {
        format!(
            "99 % of the requests were sent with a delay of at most {} ({} of the median response time)",
            duration(ns),
            percent(share)
        )
    });
    let is_open = run.is_closed_loop().is_ok_and(|is_closed| !is_closed);
    if let (true, true, Some(late)) = (is_late, is_open && own.is_some(), &late) {
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
    if let Some((ns, _)) = lag {
        finding = finding.with("lag_p99_us", ns / 1e3);
    }
    Ok(finding)
}

#[cfg(test)]
mod tests {
    use samples::{Durations, Record};

    use super::*;
    use crate::fixture::*;

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
