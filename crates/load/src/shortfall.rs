//! A pure rule: whether a rate was reached, since when it was not, and which side could not keep up.

use std::time::Duration;

use samples::{Cause, Pace, Phase, Shortfall};
use units::{duration, percent};

/// A load whose backlog is less than this share of the measurement has reached its rate.
const BEHIND_SHARE: f64 = 0.005;
/// A backlog of up to this time at the very end is tolerated as well: any short pause of the machine can cause it.
const BEHIND_AT_LEAST_S: f64 = 0.1;
/// Share of busy connections from which on an operation rarely finds a free one.
const BUSY: f64 = 0.9;
/// Share of CPU time from which on an event loop has no reserve.
const CPU: f64 = 0.9;
/// Ratio of the service time to that at low load from which on a server is slower.
const SLOWER: f64 = 1.5;

/// The figures of one interval.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sample {
    pub(crate) t_s: f64,
    pub(crate) length_s: f64,
    pub(crate) phase: Phase,
    /// Of a measurement with stages, from 1.
    pub(crate) stage: Option<u32>,
    pub(crate) pace: Pace,
    /// Number of successful operations completed, and the sum of their service times.
    pub(crate) back: u64,
    pub(crate) service_sum_ns: u64,
}

/// The input of the rule.
#[derive(Debug)]
pub(crate) struct Evidence<'a> {
    pub(crate) rate_per_s: f64,
    pub(crate) connections: u64,
    /// All intervals but the drain's, in order.
    pub(crate) samples: &'a [Sample],
    /// Number and sum of the service times of operations that started while at most half of the connections were busy.
    pub(crate) calm: (u64, Duration),
    /// True if the event loops spin, so that their CPU time is meaningless.
    pub(crate) spin: bool,
}

impl Evidence<'_> {
    /// Operations that were due in the measurement.
    pub(crate) fn due(&self) -> u64 {
        self.measured().map(|sample| sample.pace.due).sum()
    }

    /// Operations that were waiting at the end of the measurement.
    pub(crate) fn behind(&self) -> u64 {
        self.measured()
            .last()
            .map_or(0, |sample| sample.pace.waiting)
    }

    /// Maximum number of operations waiting at one time in the measurement.
    pub(crate) fn waiting_max(&self) -> u64 {
        let waiting = self.measured().map(|sample| sample.pace.waiting_max);
        waiting.max().unwrap_or(0)
    }

    fn measured(&self) -> impl Iterator<Item = &Sample> {
        self.samples
            .iter()
            .filter(|sample| sample.phase == Phase::Measurement)
    }

    /// The reason why the rate was not reached; `None` if it was, or if nothing was measured.
    pub(crate) fn shortfall(&self) -> Option<Shortfall> {
        let measured_s: f64 = self.measured().map(|sample| sample.length_s).sum();
        let behind_s = self.behind() as f64 / self.rate_per_s;
        let tolerated_s = (BEHIND_SHARE * measured_s).max(BEHIND_AT_LEAST_S);
        if measured_s <= 0.0 || behind_s <= tolerated_s {
            return None;
        }
        let late = self.never_caught_up(tolerated_s);
        let back: u64 = self.measured().map(|sample| sample.back).sum();
        let late_back: u64 = late.iter().map(|sample| sample.back).sum();
        let late_service_ns: u64 = late.iter().map(|sample| sample.service_sum_ns).sum();
        let mean =
            |value: fn(&Sample) -> f64| late.iter().map(value).sum::<f64>() / late.len() as f64;
        let (calm, calm_sum) = self.calm;
        let mut shortfall = Shortfall {
            from_s: late[0].t_s,
            cause: Cause::Server,
            why: String::new(),
            achieved_per_s: back as f64 / measured_s,
            busy: mean(|sample| sample.pace.busy),
            loop_cpu: late
                .iter()
                .map(|sample| sample.pace.loop_cpu)
                .fold(0.0, f64::max),
            loop_delay_ns: mean(|sample| sample.pace.loop_delay_max_ns as f64),
            service_ns: (late_back > 0).then(|| late_service_ns as f64 / late_back as f64),
            calm_service_ns: (calm > 0).then(|| calm_sum.as_nanos() as f64 / calm as f64),
        };
        shortfall.cause = self.cause(&shortfall);
        shortfall.why = self.in_words(&shortfall);
        Some(shortfall)
    }

    /// The intervals with waiting operations at their ends, up to the last one.
    fn never_caught_up(&self, tolerated_s: f64) -> &[Sample] {
        let end = self
            .samples
            .iter()
            .rposition(|sample| sample.phase == Phase::Measurement)
            .map_or(0, |last| last + 1);
        let caught_up =
            |sample: &Sample| sample.pace.waiting as f64 / self.rate_per_s <= tolerated_s / 2.0;
        let begin = self.samples[..end].iter().rposition(caught_up);
        &self.samples[begin.map_or(0, |last| last + 1)..end]
    }

    fn cause(&self, seen: &Shortfall) -> Cause {
        let no_cpu_left = !self.spin && seen.loop_cpu >= CPU;
        if no_cpu_left || seen.busy < BUSY {
            return Cause::Client;
        }
        match (seen.service_ns, seen.calm_service_ns) {
            // No operation was completed.
            (None, _) => Cause::Server,
            (Some(service), Some(calm)) if service > SLOWER * calm => Cause::Server,
            (Some(_), Some(_)) => Cause::Connections,
            (Some(_), None) => Cause::ServerOrConnections,
        }
    }

    fn in_words(&self, seen: &Shortfall) -> String {
        let connections = self.connections;
        let known = |ns: Option<f64>| ns.map_or_else(|| "?".to_owned(), duration);
        let (service, calm) = (known(seen.service_ns), known(seen.calm_service_ns));
        match seen.cause {
            Cause::Server if seen.service_ns.is_none() => {
                format!("all {connections} connections waited for a server that did not answer")
            }
            Cause::Server => format!(
                "all {connections} connections waited for the server, which took {service} for an operation \
                 and {calm} when it was calm"
            ),
            Cause::Client => format!(
                "the event loops could not keep up: {} of a CPU used, timers up to {} late, {} of \
                 the connections busy",
                percent(seen.loop_cpu),
                duration(seen.loop_delay_ns),
                percent(seen.busy)
            ),
            Cause::Connections => format!(
                "{connections} connections are too few: the server took {service} for an operation, as when it \
                 was calm ({calm}), so the rate needs about {:.0}",
                (self.rate_per_s * seen.service_ns.unwrap_or(0.0) / 1e9).ceil()
            ),
            Cause::ServerOrConnections => format!(
                "all {connections} connections were busy from the first operation on, {service} each: the server \
                 is too slow or the connections are too few"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// One second at 1,000/s with 4 connections.
    fn second(t_s: f64, waiting: u64, busy: f64, service_ms: u64) -> Sample {
        Sample {
            t_s,
            length_s: 1.0,
            phase: Phase::Measurement,
            stage: None,
            pace: Pace {
                due: 1000,
                waiting,
                waiting_max: waiting,
                busy,
                loop_cpu: 0.2,
                loop_delay_max_ns: MS,
            },
            back: 400,
            service_sum_ns: 400 * service_ms * MS,
        }
    }

    fn evidence(samples: &[Sample]) -> Evidence<'_> {
        Evidence {
            rate_per_s: 1000.0,
            connections: 4,
            samples,
            calm: (10, Duration::from_millis(100)),
            spin: false,
        }
    }

    #[test]
    fn a_backlog_that_was_worked_off_is_no_shortfall() {
        let samples = [
            second(0.0, 0, 0.3, 1),
            second(1.0, 600, 1.0, 1),
            second(2.0, 80, 1.0, 1),
        ];
        assert_eq!(evidence(&samples).shortfall(), None);
        assert_eq!(evidence(&samples).waiting_max(), 600);
        assert_eq!(evidence(&[]).shortfall(), None);
    }

    #[test]
    fn the_cause_follows_from_the_evidence() {
        let overloaded = |busy, service_ms| {
            [
                second(0.0, 10, 0.5, 2),
                second(1.0, 700, busy, service_ms),
                second(2.0, 1400, busy, service_ms),
            ]
        };
        let mut saturated = overloaded(1.0, 10);
        saturated[2].pace.loop_cpu = 0.97;
        let mut silent = overloaded(1.0, 0);
        silent.iter_mut().for_each(|sample| sample.back = 0);
        let cases = [
            (overloaded(1.0, 40), Cause::Server),
            (overloaded(1.0, 10), Cause::Connections),
            (overloaded(0.6, 10), Cause::Client),
            (saturated, Cause::Client),
            (silent, Cause::Server),
        ];
        for (samples, cause) in cases {
            let shortfall = evidence(&samples).shortfall().unwrap();
            assert_eq!(
                (shortfall.cause, shortfall.from_s),
                (cause, 1.0),
                "{}",
                shortfall.why
            );
        }
        let mut spinning = evidence(&saturated);
        spinning.spin = true;
        assert_eq!(spinning.shortfall().unwrap().cause, Cause::Connections);
        let never_calm = overloaded(1.0, 10);
        let mut never_calm = evidence(&never_calm);
        never_calm.calm = (0, Duration::ZERO);
        assert_eq!(
            never_calm.shortfall().unwrap().cause,
            Cause::ServerOrConnections
        );
    }

    #[test]
    fn it_says_how_many_connections_the_rate_needs() {
        let samples = [second(0.0, 600, 1.0, 10)];
        let shortfall = evidence(&samples).shortfall().unwrap();
        assert!(
            shortfall.why.ends_with("so the rate needs about 10"),
            "{}",
            shortfall.why
        );
        assert!((shortfall.achieved_per_s - 400.0).abs() < 1e-9);
    }
}
