//! Rule T01: machine or server was not observed all the time.

use units::moment;

use crate::{
    finding::{Finding, Level, Outcome},
    rule::{Judge, Rule},
    run::Run,
};

/// Longest gap between samples, seconds.
const GAP_S: f64 = 5.0;

pub(super) const RULE: Rule = Rule {
    id: "T01",
    name: "machine and server were observed throughout the measurement",
    found: "machine or server was not observed throughout the measurement",
    measures: "Samples of the machine and server counters in the measured phase, and the sources that could not be observed. Server counters are considered only up to the first planned event that restarts the server.",
    threshold: "fail if neither the machine nor the server was observed. Warn if one of them was not observed, or if its samples have a gap of more than 5 s. Note if optional sources (statement digests, slow log) are missing",
    source: "Matsunobu, Ten points for correct benchmarks (2009), point 10",
    consequence: "It is unknown what caused the figures, and disturbances from outside cannot be ruled out.",
    remedy: "Run dbdyno on the server's machine as a user with permission to read the server's status. performance_schema and a slow query log add detail at some cost.",
    judge: Judge::Run(judge),
};

fn judge(run: &Run<'_>) -> Outcome {
    let measured_s = run.measured_s()?;
    let parts = run.record.measured().map(|it| it.parts_s());
    let parts = parts.unwrap_or_else(|| vec![(0.0, measured_s)]);
    let machine = run.samples().ok();
    let server = run.status().ok();
    let gap = |spans: Option<Vec<(f64, f64)>>, until_s: f64| {
        let parts = parts.iter().map(|part| (part.0, part.1.min(until_s)));
        spans.map(|spans| {
            let gaps = parts.map(|part| longest_gap(&spans, part));
            gaps.fold(0.0, f64::max)
        })
    };
    let of_machine = machine.map(|samples| {
        let spans = samples.iter().map(|it| (it.t_s, it.t_s + it.length_s));
        spans.collect()
    });
    let of_machine = gap(of_machine, f64::INFINITY);
    // A server that a planned event restarts cannot be watched meanwhile.
    let until_s = if run.restarted_the_server() {
        run.record.first_event_s()
    } else {
        f64::INFINITY
    };
    let of_server = server.map(|readings| {
        let before = readings.iter().filter(|it| it.t_s < until_s);
        let spans = before.map(|it| (it.t_s, it.t_s + it.length_s));
        spans.collect()
    });
    let of_server = gap(of_server, until_s);
    let watched = |what: &str, gap: Option<f64>| match gap {
        None => format!("{what} not observed"),
        Some(gap) if gap > GAP_S => format!("{what} not observed for {}", moment(gap)),
        Some(_) => format!("{what} observed"),
    };
    if run.record.disk_load.is_some() {
        let level = match of_machine {
            None => Level::Fail,
            Some(gap) if gap > GAP_S => Level::Warn,
            Some(_) => Level::Pass,
        };
        return Ok(Finding::new(level, watched("machine", of_machine)));
    }
    let evidence = format!(
        "{}, {}",
        watched("machine", of_machine),
        watched("server", of_server)
    );
    let has_gap = |gap: Option<f64>| gap.is_none_or(|gap| gap > GAP_S);
    let missing = run
        .record
        .server_observation
        .as_ref()
        .map_or(&[][..], |how| &how.not_observed);
    let (level, evidence) = match (of_machine, of_server) {
        (None, None) => (Level::Fail, evidence),
        _ if has_gap(of_machine) || has_gap(of_server) => (Level::Warn, evidence),
        _ if !missing.is_empty() => (Level::Note, format!("{evidence}; {}", missing.join("; "))),
        _ => (Level::Pass, evidence),
    };
    Ok(Finding::new(level, evidence).with("sources_missing", missing.len() as f64))
}

/// The longest part of a window that no span covers, seconds; the spans are in order of time.
fn longest_gap(spans: &[(f64, f64)], window: (f64, f64)) -> f64 {
    let mut seen_s = window.0;
    let mut longest: f64 = 0.0;
    for (from, to) in spans.iter().filter(|span| span.0 < window.1) {
        longest = longest.max(from - seen_s);
        seen_s = seen_s.max(*to);
    }
    longest.max(window.1 - seen_s)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::*;

    #[test]
    fn found() {
        let outcome = judged(&RULE, |record| {
            record.telemetry.clear();
            record.server_status.clear();
        });
        assert_found(
            &outcome,
            Level::Fail,
            "machine not observed, server not observed",
        );
        let outcome = judged(&RULE, |record| {
            record
                .telemetry
                .retain(|it| !(60.0..70.0).contains(&it.t_s))
        });
        assert_found(&outcome, Level::Warn, "machine not observed for 10 s");
        let outcome = judged(&RULE, |record| {
            let how = record.server_observation.as_mut().unwrap();
            how.not_observed = vec!["waits not observed: performance_schema is off".to_owned()];
        });
        assert_found(&outcome, Level::Note, "waits not observed");
    }

    #[test]
    fn a_planned_restart_is_no_gap() {
        let outcome = judged(&RULE, |record| {
            record.events = vec![event(60.0)];
            record
                .server_status
                .retain(|it| !(60.0..90.0).contains(&it.t_s));
        });
        assert_eq!(level(&outcome), Level::Pass, "{outcome:?}");
    }

    /// Slices of ten seconds with pauses of ten seconds between them, in which nothing was observed.
    fn in_long_turns(record: &mut samples::Record) {
        const TIMES: f64 = 10.0;
        in_turns(record);
        for interval in &mut record.intervals {
            (interval.t_s, interval.length_s) = (interval.t_s * TIMES, interval.length_s * TIMES);
        }
        for sample in &mut record.telemetry {
            (sample.t_s, sample.length_s) = (sample.t_s * TIMES, sample.length_s * TIMES);
        }
        for reading in &mut record.server_status {
            (reading.t_s, reading.length_s) = (reading.t_s * TIMES, reading.length_s * TIMES);
        }
    }

    #[test]
    fn pauses_between_slices_are_no_gaps() {
        let outcome = judged(&RULE, in_long_turns);
        assert_eq!(level(&outcome), Level::Pass, "{outcome:?}");
        let outcome = judged(&RULE, |record| {
            in_long_turns(record);
            // The sample of a slice is missing.
            record.telemetry.retain(|it| it.t_s != 600.0);
        });
        assert_found(&outcome, Level::Warn, "machine not observed for 10 s");
    }

    #[test]
    fn passes() {
        assert_found(
            &judged(&RULE, |_| {}),
            Level::Pass,
            "machine observed, server observed",
        );
    }

    #[test]
    fn a_run_that_measured_nothing_is_not_evaluated() {
        assert_missing(
            &judged(&RULE, |record| record.intervals.clear()),
            "measured phase",
        );
    }
}
