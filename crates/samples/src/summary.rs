//! The figures of one run, over its measurement phase.

use std::collections::BTreeMap;

use crate::{
    histogram::Histogram,
    line::{Host, Phase},
    reader::Record,
};

/// The figures of one run, over its measurement phase.
#[derive(Debug, Clone, PartialEq)]
pub struct RunSummary {
    /// Length of the measurement, seconds.
    pub measured_s: f64,
    /// Successful operations of all types.
    pub count: u64,
    /// Failed operations of all types.
    pub errors: u64,
    /// Successful operations per second; `None` when nothing was measured.
    pub throughput_per_s: Option<f64>,
    /// Response times of all types together.
    pub latency: Option<LatencySummary>,
    /// Figures by load and operation, sorted.
    pub operations: Vec<OperationSummary>,
    /// CPU of the machine; `None` when the machine was not observed.
    pub cpu: Option<CpuUse>,
}

/// The figures of one operation type.
#[derive(Debug, Clone, PartialEq)]
pub struct OperationSummary {
    /// Name of the load.
    pub load: String,
    /// Operation type.
    pub operation: String,
    /// Successful operations.
    pub count: u64,
    /// Failed operations.
    pub errors: u64,
    /// Successful operations per second; `None` when nothing was measured.
    pub throughput_per_s: Option<f64>,
    /// Response times; `None` when no operation succeeded.
    pub latency: Option<LatencySummary>,
}

/// Response times in nanoseconds, from the scheduled start.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LatencySummary {
    /// Arithmetic mean.
    pub mean_ns: f64,
    /// Exact minimum.
    pub min_ns: u64,
    /// Exact maximum.
    pub max_ns: u64,
    /// Median.
    pub p50_ns: u64,
    /// 95th percentile.
    pub p95_ns: u64,
    /// 99th percentile; `None` with fewer than 10 operations beyond it (rule M09).
    pub p99_ns: Option<u64>,
    /// 99.9th percentile; `None` with fewer than 10 operations beyond it.
    pub p999_ns: Option<u64>,
}

/// Shares of the machine's CPU capacity, 0 to 1, adding up to 1 with the idle rest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CpuUse {
    /// The server's process, user and system; `None` when it is not on the observed machine.
    pub server: Option<f64>,
    /// dbdyno itself, user and system; `None` on a machine without it.
    pub client: Option<f64>,
    /// Everything else that ran: busy time of the machine less server and client.
    pub rest: f64,
    /// Idle with I/O outstanding.
    pub iowait: f64,
    /// Taken by the hypervisor.
    pub steal: f64,
    /// Idle.
    pub idle: f64,
    /// user + nice of the whole machine.
    pub user: f64,
    /// system + irq + softirq of the whole machine.
    pub system: f64,
}

/// Adds up what belongs to one operation type.
#[derive(Default)]
struct Total {
    count: u64,
    errors: u64,
    sum_ns: u64,
    min_ns: Option<u64>,
    max_ns: u64,
    histogram: Histogram,
}

impl Total {
    fn add(&mut self, other: &Total) {
        self.count += other.count;
        self.errors += other.errors;
        self.sum_ns += other.sum_ns;
        self.max_ns = self.max_ns.max(other.max_ns);
        self.min_ns = [self.min_ns, other.min_ns].into_iter().flatten().min();
        self.histogram.add(&other.histogram);
    }

    fn latency(&self) -> Option<LatencySummary> {
        let quantile = |q: f64| self.histogram.quantile_ns(q);
        // HDR answers with the upper edge of a bucket; no percentile may lie beyond the exact maximum.
        let at = |q: f64| quantile(q).map(|ns| ns.clamp(self.min_ns.unwrap_or(0), self.max_ns));
        let supported = |q: f64| {
            let beyond = self.count as f64 * (1.0 - q);
            if beyond >= 10.0 { at(q) } else { None }
        };
        Some(LatencySummary {
            mean_ns: self.sum_ns as f64 / self.count as f64,
            min_ns: self.min_ns?,
            max_ns: self.max_ns,
            p50_ns: at(0.5)?,
            p95_ns: at(0.95)?,
            p99_ns: supported(0.99),
            p999_ns: supported(0.999),
        })
    }
}

impl RunSummary {
    /// The figures of `record` over its measurement phase.
    pub fn of(record: &Record) -> Self {
        let mut measured_s = 0.0;
        let mut totals: BTreeMap<(&str, &str), Total> = BTreeMap::new();
        for interval in &record.intervals {
            if interval.phase != Phase::Measurement {
                continue;
            }
            measured_s += interval.length_s;
            for operation in &interval.operations {
                let one = Total {
                    count: operation.count,
                    errors: operation.errors,
                    sum_ns: operation.sum_ns,
                    min_ns: (operation.count > 0).then_some(operation.min_ns),
                    max_ns: operation.max_ns,
                    histogram: operation.histogram.clone(),
                };
                totals
                    .entry((&operation.load, &operation.operation))
                    .or_default()
                    .add(&one);
            }
        }
        let per_s = |count: u64| (measured_s > 0.0).then(|| count as f64 / measured_s);
        let mut all = Total::default();
        let operations = totals
            .iter()
            .map(|((load, operation), total)| {
                all.add(total);
                OperationSummary {
                    load: (*load).to_owned(),
                    operation: (*operation).to_owned(),
                    count: total.count,
                    errors: total.errors,
                    throughput_per_s: per_s(total.count),
                    latency: total.latency(),
                }
            })
            .collect();
        Self {
            measured_s,
            count: all.count,
            errors: all.errors,
            throughput_per_s: per_s(all.count),
            latency: all.latency(),
            operations,
            cpu: CpuUse::of(record),
        }
    }
}

impl CpuUse {
    /// CPU shares over the measurement phase; prefers the server's machine where both were observed.
    fn of(record: &Record) -> Option<Self> {
        let window = measurement_window(record)?;
        let mut by_host: BTreeMap<u8, Sums> = BTreeMap::new();
        for sample in &record.telemetry {
            let middle_s = sample.t_s + sample.length_s / 2.0;
            let Some(machine) = sample.machine else {
                continue;
            };
            if middle_s < window.0 || middle_s > window.1 {
                continue;
            }
            let rank = match sample.host {
                Host::Server => 0,
                Host::Both => 1,
                Host::Client => 2,
            };
            let sums = by_host.entry(rank).or_default();
            sums.user_s += machine.user_s;
            sums.system_s += machine.system_s;
            sums.iowait_s += machine.iowait_s;
            sums.steal_s += machine.steal_s;
            sums.idle_s += machine.idle_s;
            if let Some(server) = sample.server {
                *sums.server_s.get_or_insert(0.0) += server.user_s + server.system_s;
            }
            if let Some(client) = sample.client {
                *sums.client_s.get_or_insert(0.0) += client.user_s + client.system_s;
            }
        }
        by_host.into_values().next().and_then(|sums| sums.shares())
    }
}

#[derive(Default)]
struct Sums {
    user_s: f64,
    system_s: f64,
    iowait_s: f64,
    steal_s: f64,
    idle_s: f64,
    server_s: Option<f64>,
    client_s: Option<f64>,
}

impl Sums {
    fn shares(&self) -> Option<CpuUse> {
        let busy_s = self.user_s + self.system_s;
        let capacity_s = busy_s + self.iowait_s + self.steal_s + self.idle_s;
        if capacity_s <= 0.0 {
            return None;
        }
        let share = |seconds: f64| seconds / capacity_s;
        let ours_s = self.server_s.unwrap_or(0.0) + self.client_s.unwrap_or(0.0);
        Some(CpuUse {
            server: self.server_s.map(share),
            client: self.client_s.map(share),
            rest: share((busy_s - ours_s).max(0.0)),
            iowait: share(self.iowait_s),
            steal: share(self.steal_s),
            idle: share(self.idle_s),
            user: share(self.user_s),
            system: share(self.system_s),
        })
    }
}

/// First and last second of the measurement phase.
fn measurement_window(record: &Record) -> Option<(f64, f64)> {
    let mut measured = record
        .intervals
        .iter()
        .filter(|interval| interval.phase == Phase::Measurement);
    let first = measured.next()?;
    let last = measured.next_back().unwrap_or(first);
    Some((first.t_s, last.t_s + last.length_s))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line::{
        Interval, Line, MachineUse, OperationInterval, ProcessUse, RunHeader, Telemetry,
    };

    fn interval(t_s: f64, phase: Phase, responses_ns: &[u64], errors: u64) -> Line {
        let mut histogram = Histogram::new();
        for ns in responses_ns {
            histogram.record(*ns);
        }
        Line::Interval(Interval {
            t_s,
            length_s: 1.0,
            phase,
            operations: vec![OperationInterval {
                load: "smacker".to_owned(),
                operation: "select_index".to_owned(),
                count: responses_ns.len() as u64,
                errors,
                sum_ns: responses_ns.iter().sum(),
                min_ns: responses_ns.iter().copied().min().unwrap_or(0),
                max_ns: responses_ns.iter().copied().max().unwrap_or(0),
                histogram,
            }],
            statements: Vec::new(),
        })
    }

    fn telemetry(t_s: f64, server_s: f64, host: Host) -> Line {
        let process = |user_s| ProcessUse {
            user_s,
            system_s: 0.0,
            resident_bytes: 1,
        };
        Line::Telemetry(Telemetry {
            t_s,
            length_s: 1.0,
            host,
            machine: Some(MachineUse {
                user_s: 1.0,
                system_s: 0.5,
                iowait_s: 0.1,
                steal_s: 0.0,
                idle_s: 0.4,
            }),
            server: (host != Host::Client).then(|| process(server_s)),
            client: Some(process(0.3)),
            memory: None,
            disk: None,
        })
    }

    fn record(lines: &[Line]) -> Record {
        let header = RunHeader {
            format: 1,
            dbdyno_version: String::new(),
            experiment: String::new(),
            experiment_sha256: String::new(),
            seed: 0,
            run: 1,
            block: 1,
            combination: BTreeMap::new(),
            started_at: String::new(),
            connections: 1,
            loops: 1,
            io: "epoll".to_owned(),
            transport: "unix socket".to_owned(),
        };
        let mut text = serde_json::to_string(&Line::Run(header)).unwrap() + "\n";
        for line in lines {
            text += &(serde_json::to_string(line).unwrap() + "\n");
        }
        Record::read(text.as_bytes()).unwrap()
    }

    #[test]
    fn only_the_measurement_counts() {
        let record = record(&[
            interval(0.0, Phase::WarmUp, &[9_000_000_000], 5),
            interval(
                1.0,
                Phase::Measurement,
                &[10_000_000, 300_000_000, 20_000_000],
                0,
            ),
            interval(2.0, Phase::Measurement, &[20_000_000], 1),
            interval(3.0, Phase::Drain, &[8_000_000_000], 2),
        ]);
        let summary = RunSummary::of(&record);
        assert_eq!(
            (summary.count, summary.errors, summary.measured_s),
            (4, 1, 2.0)
        );
        assert_eq!(summary.throughput_per_s, Some(2.0));
        let latency = summary.latency.unwrap();
        assert_eq!((latency.min_ns, latency.max_ns), (10_000_000, 300_000_000));
        assert_eq!(
            latency.p99_ns, None,
            "one operation in a hundred is not enough of 4"
        );
    }

    #[test]
    fn nothing_measured_gives_no_figure() {
        let summary = RunSummary::of(&record(&[interval(0.0, Phase::WarmUp, &[1], 0)]));
        assert_eq!(summary.throughput_per_s, None);
        assert_eq!(summary.latency, None);
        assert_eq!(summary.cpu, None);
    }

    #[test]
    fn cpu_shares_add_up_to_the_machine() {
        let record = record(&[
            telemetry(0.0, 9.0, Host::Both),
            interval(1.0, Phase::Measurement, &[1], 0),
            telemetry(1.0, 0.8, Host::Both),
        ]);
        let cpu = RunSummary::of(&record).cpu.unwrap();
        let (server, client) = (cpu.server.unwrap(), cpu.client.unwrap());
        assert!(
            (server - 0.4).abs() < 1e-9,
            "the warm-up's sample is left out"
        );
        assert!((client - 0.15).abs() < 1e-9);
        let sum = server + client + cpu.rest + cpu.iowait + cpu.steal + cpu.idle;
        assert!((sum - 1.0).abs() < 1e-9, "{sum}");
    }

    #[test]
    fn the_clients_cpu_is_never_shown_as_the_servers() {
        let record = record(&[
            interval(1.0, Phase::Measurement, &[1], 0),
            telemetry(1.0, 0.8, Host::Client),
        ]);
        assert_eq!(RunSummary::of(&record).cpu.unwrap().server, None);
    }
}
