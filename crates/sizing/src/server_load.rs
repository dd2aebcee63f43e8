//! What the server itself used and counted during a run, and the limits of its machine.

use samples::{Host, Record, ServerStatus};

use crate::{
    load_curve::Sample,
    observed_limit::{LimitSource, ObservedLimit},
    resource::{Demand, Resource},
    server_machine::{cpu_limit, machine_of_server},
};

const BYTES: [&str; 2] = ["Bytes_received", "Bytes_sent"];
/// MariaDB from 10.8 does not count the flushes of the log by themselves.
const LOG_FLUSHES: &str = "Innodb_os_log_fsyncs";
const ALL_FLUSHES: &str = "Innodb_data_fsyncs";

/// The flushes and bytes that the server counted, and its CPU time if it has a CPU limit of its own.
pub(crate) fn server_samples(record: &Record, started_s: f64) -> Vec<Sample> {
    let counted = Counted {
        flushes: flush_counter(record),
        has_bytes: BYTES.iter().all(|name| has_counter(record, name)),
    };
    let status = record.server_status.iter().map(|status| Sample {
        start_s: started_s + status.t_s,
        length_s: status.length_s,
        demand: counted.demand(status),
        cpu_share: None,
    });
    let own_limit = own_cpu_limit(record);
    let telemetry = record.telemetry.iter().filter(|it| it.host != Host::Client);
    let cpus = telemetry.filter_map(|it| {
        let server = it.server.filter(|_| own_limit.is_some())?;
        let mut demand = Demand::default();
        demand[Resource::Cpus.index()] = Some((server.user_s + server.system_s) / it.length_s);
        Some(Sample {
            start_s: started_s + it.t_s,
            length_s: it.length_s,
            demand,
            cpu_share: None,
        })
    });
    let can_be = |sample: &Sample| {
        let mut values = sample.demand.iter().flatten();
        sample.length_s > 0.0 && values.all(|value| value.is_finite() && *value >= 0.0)
    };
    status.chain(cpus).filter(can_be).collect()
}

/// The counters of the server that are read.
struct Counted {
    flushes: Option<&'static str>,
    has_bytes: bool,
}

impl Counted {
    fn demand(&self, status: &ServerStatus) -> Demand {
        // A counter that did not grow is not in a reading.
        let per_s =
            |name: &str| status.counters.get(name).copied().unwrap_or(0.0) / status.length_s;
        let mut demand = Demand::default();
        demand[Resource::LogFlushes.index()] = self.flushes.map(per_s);
        demand[Resource::Network.index()] = self
            .has_bytes
            .then(|| BYTES.map(per_s).into_iter().fold(0.0, f64::max));
        demand
    }
}

/// The counter of the log's flushes, or of all flushes if the log's are not counted; `None` if none is.
fn flush_counter(record: &Record) -> Option<&'static str> {
    let grew = |it: &ServerStatus| it.counters.get(LOG_FLUSHES).is_some_and(|it| *it > 0.0);
    if record.server_status.iter().any(grew) {
        return Some(LOG_FLUSHES);
    }
    let mut counters = [ALL_FLUSHES, LOG_FLUSHES].into_iter();
    counters.find(|name| has_counter(record, name))
}

fn has_counter(record: &Record, name: &str) -> bool {
    let mut readings = record.server_status.iter();
    readings.any(|it| it.counters.contains_key(name))
}

/// The CPU limit of the server if it is below the CPUs of its machine.
fn own_cpu_limit(record: &Record) -> Option<f64> {
    let cpus = f64::from(machine_of_server(record)?.cpus);
    cpu_limit(record).filter(|limit| *limit < cpus)
}

/// The limits of the server and of its machine that a record states.
pub(crate) fn server_limits(record: &Record) -> Vec<(Resource, ObservedLimit)> {
    let machine = machine_of_server(record);
    let of_machine = machine.map(|it| (f64::from(it.cpus), LimitSource::MachineCpus));
    let of_server = own_cpu_limit(record).map(|limit| (limit, LimitSource::ServerCpus));
    let memory = machine.map(|it| (it.memory_bytes as f64, LimitSource::MachineMemory));
    // Of several interfaces it is not known which one the clients use.
    let link = match machine.map(|it| it.links.as_slice()) {
        Some([link]) => Some((link.speed_bits_per_s as f64 / 8.0, LimitSource::Interface)),
        _ => None,
    };
    let disk = record.limit.as_ref().and_then(|it| it.disk.as_ref());
    let iops = |limit: Option<u64>| limit.map(|limit| (limit as f64, LimitSource::ServerDisk));
    let stated = [
        (Resource::Cpus, of_server.or(of_machine)),
        (Resource::Memory, memory),
        (Resource::Reads, disk.and_then(|it| iops(it.read_iops))),
        (Resource::Writes, disk.and_then(|it| iops(it.write_iops))),
        (Resource::Network, link),
    ];
    let limits = stated.into_iter().filter_map(|(resource, limit)| {
        let (value, source) = limit.filter(|(value, _)| *value > 0.0)?;
        Some((resource, ObservedLimit { value, source }))
    });
    limits.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = r#"{"line":"run","format":1,"dbdyno_version":"0.1.0","experiment":"oltp","experiment_sha256":"","seed":1,"run":1,"block":1,"combination":{},"started_at":"2026-11-20T02:00:00Z","connections":2,"loops":2,"io":"epoll","transport":"unix socket"}"#;
    const MACHINE: &str = r#"{"line":"machine","host":"server","name":"db1","cpu_model":"x","cpus":8,"memory_bytes":1000,"kernel":"6.1","virtualised":false,"not_observed":[],"links":[{"interface":"eth0","speed_bits_per_s":8000}]}"#;
    const SAMPLE: &str = r#"{"line":"telemetry","t_s":0.0,"length_s":2.0,"host":"server","machine":{"user_s":6.0,"system_s":0.0,"iowait_s":0.0,"steal_s":0.0,"idle_s":10.0},"server":{"user_s":1.5,"system_s":0.5,"resident_bytes":1},"client":null,"memory":null,"disk":null}"#;
    const FIRST: &str = r#"{"line":"server_status","t_s":0.0,"length_s":2.0,"asked_s":0.0,"counters":{"Bytes_sent":100.0,"Bytes_received":600.0,"Innodb_os_log_fsyncs":0.0,"Innodb_data_fsyncs":40.0},"values":{}}"#;
    const SECOND: &str = r#"{"line":"server_status","t_s":2.0,"length_s":4.0,"asked_s":0.0,"counters":{"Bytes_sent":800.0},"values":{}}"#;

    fn record(lines: &[&str]) -> Record {
        let text = format!("{HEADER}\n{}\n", lines.join("\n"));
        Record::read(text.as_bytes()).unwrap()
    }

    fn of(samples: &[Sample], resource: Resource) -> Vec<Option<f64>> {
        let demands = samples.iter().map(|it| it.demand[resource.index()]);
        demands.collect()
    }

    #[test]
    fn flushes_and_bytes_are_rates_of_the_servers_counters() {
        let record = record(&[MACHINE, SAMPLE, FIRST, SECOND]);
        let samples = server_samples(&record, 1000.0);
        assert_eq!(
            samples.len(),
            2,
            "no limit, so that the machine's CPUs count"
        );
        assert_eq!((samples[1].start_s, samples[1].length_s), (1002.0, 4.0));
        // 40 / 2, and none in the second reading. The log's own counter exists, but does not count.
        let flushes = of(&samples, Resource::LogFlushes);
        assert_eq!(flushes, [Some(20.0), Some(0.0)]);
        // The direction with more bytes: 600 / 2 received, 800 / 4 sent.
        let bytes = of(&samples, Resource::Network);
        assert_eq!(bytes, [Some(300.0), Some(200.0)]);
        let counting = FIRST.replace(
            r#""Innodb_os_log_fsyncs":0.0"#,
            r#""Innodb_os_log_fsyncs":6.0"#,
        );
        let samples = server_samples(&self::record(&[counting.as_str()]), 0.0);
        assert_eq!(of(&samples, Resource::LogFlushes), [Some(3.0)]);
    }

    #[test]
    fn counters_that_cannot_be_are_left_out() {
        for (right, wrong) in [
            ("40.0", "-40.0"),
            (r#""length_s":2.0"#, r#""length_s":0.0"#),
        ] {
            let reading = FIRST.replace(right, wrong);
            assert!(
                server_samples(&record(&[reading.as_str()]), 0.0).is_empty(),
                "{wrong}"
            );
        }
        assert!(server_samples(&record(&[SAMPLE]), 0.0).is_empty());
    }

    #[test]
    fn the_limits_are_those_of_the_servers_machine() {
        let limits = server_limits(&record(&[MACHINE, SAMPLE]));
        let values: Vec<(Resource, f64, LimitSource)> = limits
            .iter()
            .map(|(resource, limit)| (*resource, limit.value, limit.source))
            .collect();
        let expected = [
            (Resource::Cpus, 8.0, LimitSource::MachineCpus),
            (Resource::Memory, 1000.0, LimitSource::MachineMemory),
            (Resource::Network, 1000.0, LimitSource::Interface),
        ];
        assert_eq!(values, expected);
        assert!(server_limits(&record(&[SAMPLE])).is_empty());
        let disk = r#"{"line":"limit","disk":{"read_iops":null,"write_iops":300,"read_bytes_per_s":null,"write_bytes_per_s":null,"cgroup_version":2,"device":"254:0","not_limited":[]},"cpus":null,"memory_bytes":null,"cgroup_version":null}"#;
        let limits = server_limits(&record(&[disk]));
        assert_eq!(limits.len(), 1, "{limits:?}");
        let (resource, limit) = limits[0];
        assert_eq!((resource, limit.value), (Resource::Writes, 300.0));
    }

    #[test]
    fn a_server_with_a_limit_of_its_own_has_its_own_cpu_time() {
        let limited = MACHINE.replace(
            r#""links""#,
            r#""cgroups":[{"of":"server","path":"/a","version":2,"cpu_limit":2.5,"cpus":null,"memory_limit_bytes":null,"memory_high_bytes":null,"io_limited":false}],"links""#,
        );
        let record = record(&[limited.as_str(), SAMPLE]);
        let (_, cpus) = server_limits(&record)[0];
        assert_eq!((cpus.value, cpus.source), (2.5, LimitSource::ServerCpus));
        // (1.5 + 0.5) / 2, although the machine used 3 CPUs.
        let samples = server_samples(&record, 0.0);
        assert_eq!(of(&samples, Resource::Cpus), [Some(1.0)]);
    }
}
