//! The load of a system in the telemetry of dbdyno's own run records.

use std::io::BufRead;

use jiff::Timestamp;
use samples::{Host, Record, Telemetry};

use crate::{
    error::Error,
    load_curve::{LoadCurve, Sample},
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
    for telemetry in record.telemetry.iter().filter(|it| it.host != Host::Client) {
        if let Some(problem) = negative(telemetry) {
            return Err(Error::Line {
                name: name.to_owned(),
                line: 1,
                problem,
            });
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
    curve.server_samples = server_samples(&record, started.as_second() as f64);
    for (resource, limit) in server_limits(&record) {
        curve.state_limit(resource, limit);
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
