//! The load of a system in the telemetry of dbdyno's own run records.

use std::io::BufRead;

use jiff::Timestamp;
use samples::{Host, Record, Telemetry};

use crate::{
    error::Error,
    load_curve::{LoadCurve, Sample},
    observed_limit::{LimitSource, ObservedLimit},
    resource::{Demand, Resource},
    server_load::{server_limits, server_samples},
    server_machine::machine_of_server,
};

const KIND: &str = "run record";

/// The server's machine during a run, without dbdyno itself where it shares the machine.
pub(crate) fn read(name: &str, reader: impl BufRead) -> Result<LoadCurve, Error> {
    let record = Record::read(reader).map_err(|source| Error::Record {
        name: name.to_owned(),
        source,
    })?;
    let started: Timestamp = record.header.started_at.parse().map_err(|_| Error::Line {
        name: name.to_owned(),
        line: 1,
        problem: format!("started_at is not a time: {:?}", record.header.started_at),
    })?;
    let mut curve = LoadCurve::new(name, KIND);
    curve.is_utc.insert(true);
    let measured_s = record.measured_window_s();
    // While the server warms up, it reads pages that it later has in memory.
    let is_measured = |start_s: f64, length_s: f64| {
        let middle_s = start_s + length_s / 2.0;
        measured_s.is_none_or(|(begin_s, end_s)| (begin_s..=end_s).contains(&middle_s))
    };
    let telemetry = record.telemetry.iter();
    for telemetry in telemetry.filter(|it| it.host != Host::Client) {
        if let Some(problem) = negative(telemetry) {
            return Err(Error::Line {
                name: name.to_owned(),
                line: 1,
                problem,
            });
        }
        if !is_measured(telemetry.t_s, telemetry.length_s) {
            continue;
        }
        curve.push(Sample {
            start_s: started.as_second() as f64 + telemetry.t_s,
            length_s: telemetry.length_s,
            demand: demand(telemetry),
            cpu_share: None,
        });
    }
    curve
        .hosts
        .extend(machine_of_server(&record).map(|it| it.name.clone()));
    let started_s = started.as_second() as f64;
    curve.server_samples = server_samples(&record, started_s);
    curve
        .server_samples
        .retain(|it| is_measured(it.start_s - started_s, it.length_s));
    let levels = record.header.combination.iter();
    let levels: Vec<String> = levels
        .map(|(name, level)| format!("{name}={level}"))
        .collect();
    curve.combinations.insert(levels.join(","));
    let limits = server_limits(&record);
    curve.server_limits.insert(limits_of_server(&limits));
    for (resource, limit) in limits {
        curve.state_limit(resource, limit);
    }
    let counts_others = !curve.has_own_cpu_time();
    if let Some(rule) = audit::shared_machine(&record).filter(|_| counts_others) {
        curve.remark(format!(
            "other programs used much of the CPU ({}); their CPU time counts as if it grew with the load of the server, so \
             that more of this load may fit",
            rule.id
        ));
    }
    if record.torn {
        curve.remark(format!(
            "{name}: the last line is incomplete and is ignored"
        ));
    } else if let Some(why) = record.incomplete_why() {
        curve.remark(format!("{name}: the run is incomplete: {why}"));
    }
    curve.finished()
}

/// The limits of the server itself, such as `cpus=1,read_iops=1000`.
fn limits_of_server(limits: &[(Resource, ObservedLimit)]) -> String {
    let own = limits.iter().filter(|(_, limit)| {
        matches!(
            limit.source,
            LimitSource::ServerCpus | LimitSource::ServerDisk
        )
    });
    let named: Vec<String> = own
        .map(|(resource, limit)| format!("{}={}", resource.name(), limit.value))
        .collect();
    match named.as_slice() {
        [] => "none".to_owned(),
        named => named.join(","),
    }
}

/// Seconds that cannot be: a record that was altered.
fn negative(telemetry: &Telemetry) -> Option<String> {
    let machine = telemetry.machine.unwrap_or_default();
    let values = [
        ("length_s", telemetry.length_s),
        ("machine.user_s", machine.user_s),
        ("machine.system_s", machine.system_s),
    ];
    let mut wrong = values.into_iter().filter(|(_, value)| *value < 0.0);
    wrong
        .next()
        .map(|(field, value)| format!("{field} of a sample is negative: {value}"))
}

fn demand(telemetry: &Telemetry) -> Demand {
    let mut demand = Demand::default();
    let length_s = telemetry.length_s;
    demand[Resource::Cpus.index()] = telemetry.machine.map(|machine| {
        let own = telemetry.client.map_or(0.0, |it| it.user_s + it.system_s);
        (machine.user_s + machine.system_s - own).max(0.0) / length_s
    });
    demand[Resource::Memory.index()] = telemetry
        .memory
        .map(|it| it.total_bytes.saturating_sub(it.available_bytes) as f64);
    if let Some(disk) = &telemetry.disk {
        for (resource, count) in [
            (Resource::Reads, disk.reads),
            (Resource::Writes, disk.writes),
            (Resource::ReadBytes, disk.read_bytes),
            (Resource::WrittenBytes, disk.written_bytes),
        ] {
            demand[resource.index()] = Some(count as f64 / length_s);
        }
    }
    demand
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = r#"{"line":"run","format":1,"dbdyno_version":"0.1.0","experiment":"oltp","experiment_sha256":"","seed":1,"run":1,"block":1,"combination":{},"started_at":"2026-11-20T02:00:00Z","connections":2,"loops":2,"io":"epoll","transport":"unix socket"}"#;
    const SAMPLE: &str = r#"{"line":"telemetry","t_s":10.0,"length_s":2.0,"host":"both","machine":{"user_s":3.0,"system_s":1.0,"iowait_s":0.0,"steal_s":0.0,"idle_s":4.0},"server":null,"client":{"user_s":0.5,"system_s":0.5,"resident_bytes":1},"memory":{"total_bytes":1000,"available_bytes":400,"swap_used_bytes":0},"disk":{"device":"sda","reads":20,"writes":40,"read_bytes":2000,"written_bytes":4000,"busy_s":1.0}}"#;

    #[test]
    fn a_sample_is_the_machine_without_dbdyno() {
        let text = format!("{HEADER}\n{SAMPLE}\n");
        let curve = read("a", text.as_bytes()).unwrap();
        // (3 + 1 - 0.5 - 0.5) / 2 CPUs; 1000 - 400 bytes; 20 / 2 reads and so on.
        let expected = [1.5, 600.0, 10.0, 20.0, 1000.0, 2000.0].map(Some);
        assert_eq!(curve.samples[0].demand[..6], expected);
        assert_eq!(curve.samples[0].start_s, 1_795_140_010.0);
        assert!(
            curve.remarks[0].contains("incomplete"),
            "{:?}",
            curve.remarks
        );
    }

    #[test]
    fn the_warm_up_is_left_out() {
        let interval = |t_s: f64, phase: &str| {
            format!(
                r#"{{"line":"interval","t_s":{t_s:?},"length_s":2.0,"phase":"{phase}","operations":[]}}"#
            )
        };
        let at = |t_s: &str| SAMPLE.replace(r#""t_s":10.0"#, &format!(r#""t_s":{t_s}"#));
        let lines = [
            HEADER.to_owned(),
            interval(8.0, "warm_up"),
            interval(10.0, "measurement"),
            interval(12.0, "drain"),
            at("8.5"),
            at("9.5"),
            at("11.5"),
        ];
        let curve = read("a", lines.join("\n").as_bytes()).unwrap();
        let starts: Vec<f64> = curve.samples.iter().map(|it| it.start_s).collect();
        // The middle of 9.5 s to 11.5 s is within 10 s to 12 s; those of the others are 9.5 s and 12.5 s.
        assert_eq!(starts, [1_795_140_009.5]);
    }

    #[test]
    fn a_torn_record_is_read_up_to_its_last_line() {
        let text = format!("{HEADER}\n{SAMPLE}\n{}", &SAMPLE[..40]);
        let curve = read("a", text.as_bytes()).unwrap();
        assert_eq!(curve.samples.len(), 1);
        assert!(curve.remarks[0].contains("last line is incomplete"));
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let negative = SAMPLE.replace("3.0", "-3.0");
        let error = read("a", format!("{HEADER}\n{negative}\n").as_bytes()).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("machine.user_s of a sample is negative")
        );
        let error = read("a", format!("{HEADER}\n").as_bytes()).unwrap_err();
        assert_eq!(error.to_string(), "a: no sample with a time and a length");
    }
}
