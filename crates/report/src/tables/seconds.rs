//! The figures of a run per second, as rows for programs.
//!
//! Load and telemetry have different intervals: a sample of the machine belongs to the interval that contains its
//! middle.

use figures::{QUANTILES, Times};
use samples::{Durations, Host, Interval, Record};
use serde::Serialize;

/// One interval of a run; usually a second.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Second {
    /// Start, seconds since the start of the load.
    pub(crate) t_s: f64,
    pub(crate) length_s: f64,
    /// `warm_up`, `measurement`, `pause` or `drain`.
    pub(crate) phase: &'static str,
    /// Successful operations completed in it.
    pub(crate) operations: u64,
    pub(crate) errors: u64,
    pub(crate) throughput_per_s: Option<f64>,
    pub(crate) mean_ns: Option<f64>,
    pub(crate) p50_ns: Option<u64>,
    pub(crate) p95_ns: Option<u64>,
    /// Like every percentile, only with an operation beyond it.
    pub(crate) p99_ns: Option<u64>,
    pub(crate) max_ns: Option<u64>,
    /// Operations that were due and had not started at its end.
    pub(crate) waiting: Option<u64>,
    /// Shares of the CPUs of the server's machine.
    pub(crate) cpu_server: Option<f64>,
    pub(crate) cpu_client: Option<f64>,
    pub(crate) cpu_busy: Option<f64>,
    pub(crate) cpu_iowait: Option<f64>,
    pub(crate) cpu_steal: Option<f64>,
}

/// The intervals of a run, in their order.
pub(crate) fn seconds(record: &Record) -> Vec<Second> {
    let host = observed_host(record);
    let intervals = record.intervals.iter();
    intervals
        .map(|interval| second(interval, host.and_then(|host| cpu(record, host, interval))))
        .collect()
}

fn second(interval: &Interval, cpu: Option<Cpu>) -> Second {
    let carried = interval.carried.iter().flat_map(|it| &it.operations);
    let operations = || interval.operations.iter().chain(carried.clone());
    let mut response = Durations::default();
    for operation in operations() {
        response.add(&operation.response());
    }
    let times = Times::of(&response, &QUANTILES);
    let times = times.as_ref();
    let [p50_ns, p95_ns, p99_ns, _] = QUANTILES.map(|quantile| times?.measured_ns(quantile));
    let share = |part: fn(&Cpu) -> Option<f64>| cpu.as_ref().and_then(part);
    Second {
        t_s: interval.t_s,
        length_s: interval.length_s,
        phase: interval.phase.name(),
        operations: interval.succeeded(),
        errors: operations().map(|operation| operation.errors).sum(),
        throughput_per_s: (interval.length_s > 0.0)
            .then(|| interval.succeeded() as f64 / interval.length_s),
        mean_ns: times.map(|times| times.mean_ns),
        p50_ns,
        p95_ns,
        p99_ns,
        max_ns: times.map(|times| times.max_ns),
        waiting: interval.pace.map(|pace| pace.waiting),
        cpu_server: share(|cpu| cpu.server),
        cpu_client: share(|cpu| cpu.client),
        cpu_busy: share(|cpu| Some(cpu.busy)),
        cpu_iowait: share(|cpu| Some(cpu.iowait)),
        cpu_steal: share(|cpu| Some(cpu.steal)),
    }
}

/// Shares of a machine's CPUs in one interval.
struct Cpu {
    server: Option<f64>,
    client: Option<f64>,
    busy: f64,
    iowait: f64,
    steal: f64,
}

/// The server's machine; `None` if it was not observed.
fn observed_host(record: &Record) -> Option<Host> {
    let has = |host: &Host| {
        let mut samples = record.telemetry.iter();
        samples.any(|sample| sample.host == *host && sample.machine.is_some())
    };
    [Host::Server, Host::Both].into_iter().find(has)
}

fn cpu(record: &Record, host: Host, interval: &Interval) -> Option<Cpu> {
    let end_s = interval.t_s + interval.length_s;
    let samples = record.telemetry.iter().filter(|sample| {
        let middle_s = sample.t_s + sample.length_s / 2.0;
        sample.host == host && middle_s >= interval.t_s && middle_s < end_s
    });
    let (mut capacity_s, mut busy_s, mut iowait_s, mut steal_s) = (0.0, 0.0, 0.0, 0.0);
    let (mut server_s, mut client_s) = (None, None);
    for sample in samples {
        let Some(machine) = sample.machine else {
            continue;
        };
        let busy = machine.user_s + machine.system_s;
        busy_s += busy;
        iowait_s += machine.iowait_s;
        steal_s += machine.steal_s;
        capacity_s += busy + machine.iowait_s + machine.steal_s + machine.idle_s;
        for (sum, process) in [
            (&mut server_s, sample.server),
            (&mut client_s, sample.client),
        ] {
            if let Some(process) = process {
                *sum.get_or_insert(0.0) += process.user_s + process.system_s;
            }
        }
    }
    (capacity_s > 0.0).then(|| Cpu {
        server: server_s.map(|seconds: f64| seconds / capacity_s),
        client: client_s.map(|seconds: f64| seconds / capacity_s),
        busy: busy_s / capacity_s,
        iowait: iowait_s / capacity_s,
        steal: steal_s / capacity_s,
    })
}

#[cfg(test)]
mod tests {
    use samples::{MachineUse, Phase, ProcessUse, Telemetry};

    use super::*;

    fn record() -> Record {
        let header = r#"{"line":"run","format":1,"dbdyno_version":"0","experiment":"x","experiment_sha256":"","seed":1,"run":1,"block":1,"combination":{},"started_at":"","connections":1,"loops":1,"io":"epoll","transport":"unix socket"}"#;
        let mut record = Record::read(header.as_bytes()).unwrap();
        for t_s in [0.0, 1.0] {
            record.intervals.push(Interval {
                t_s,
                length_s: 1.0,
                phase: Phase::Measurement,
                stage: None,
                slice: None,
                operations: Vec::new(),
                statements: Vec::new(),
                send_lag: None,
                client_lag: None,
                pace: None,
                carried: Vec::new(),
            });
        }
        record
    }

    #[test]
    fn a_sample_belongs_to_the_interval_of_its_middle_and_to_the_servers_machine() {
        let mut record = record();
        let sample = |t_s: f64, host: Host, busy_s: f64| Telemetry {
            t_s,
            length_s: 1.0,
            host,
            machine: Some(MachineUse {
                user_s: busy_s,
                idle_s: 4.0 - busy_s,
                ..MachineUse::default()
            }),
            server: Some(ProcessUse {
                user_s: busy_s / 2.0,
                ..ProcessUse::default()
            }),
            ..Telemetry::default()
        };
        record.telemetry = vec![
            sample(0.4, Host::Server, 1.0),
            sample(0.6, Host::Server, 2.0),
            sample(0.0, Host::Client, 4.0),
        ];
        let rows = seconds(&record);
        assert_eq!(
            (rows[0].cpu_busy, rows[1].cpu_busy),
            (Some(0.25), Some(0.5))
        );
        assert_eq!(rows[1].cpu_server, Some(0.25));
        assert_eq!(rows[1].cpu_client, None);
        assert_eq!((rows[0].operations, rows[0].p50_ns), (0, None));
    }
}
