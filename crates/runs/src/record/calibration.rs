//! Calibration: the rates of this client on this machine against a null server, stored for later runs.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use samples::{Ceiling, Machine, Phase};
use serde::{Deserialize, Serialize};

/// A calibration; it is valid for this machine, kernel and version only.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// Version of dbdyno that measured it.
    pub dbdyno_version: String,
    /// Time of the measurement, UTC, RFC 3339.
    pub measured_at: String,
    pub machine: Machine,
    /// Measured rates.
    pub reached: Vec<CalibratedRate>,
}

/// The rate with a number of connections.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CalibratedRate {
    /// Transport, as in the header of a run record.
    pub transport: String,
    pub connections: u32,
    pub queries_per_s: f64,
}

impl Calibration {
    /// The stored calibration; `None` if there is no readable one.
    pub fn kept() -> Option<Self> {
        let text = fs::read_to_string(server::calibration_file()?).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// Stores it in place of the previous one; returns the path.
    pub fn keep(&self) -> io::Result<Option<PathBuf>> {
        let Some(path) = server::calibration_file() else {
            return Ok(None);
        };
        fs::create_dir_all(path.parent().unwrap_or(Path::new("/")))?;
        files::replace(&path, serde_json::to_string_pretty(self)?.as_bytes())?;
        Ok(Some(path))
    }

    /// The reason why it is not valid for this machine in its present state.
    fn stale(&self, machine: &Machine) -> Option<&'static str> {
        let then = &self.machine;
        match () {
            () if self.dbdyno_version != env!("CARGO_PKG_VERSION") => {
                Some("calibrated by another version of dbdyno")
            }
            () if then.name != machine.name => Some("calibrated on another machine"),
            () if then.kernel != machine.kernel => Some("calibrated on another kernel"),
            () if (then.cpus, &then.cpu_model) != (machine.cpus, &machine.cpu_model) => {
                Some("calibrated with other CPUs")
            }
            () => None,
        }
    }

    /// The ceiling with the nearest number of connections, by ratio.
    fn nearest(&self, transport: &str, connections: u32) -> Option<&CalibratedRate> {
        let distance = |reached: &CalibratedRate| {
            let ratio = f64::from(reached.connections.max(1)) / f64::from(connections.max(1));
            ratio.ln().abs()
        };
        let of_transport = self
            .reached
            .iter()
            .filter(|reached| reached.transport == transport);
        // The higher one of two equally near, such as prepared and text.
        of_transport.min_by(|a, b| {
            let by_distance = distance(a).total_cmp(&distance(b));
            by_distance.then(b.queries_per_s.total_cmp(&a.queries_per_s))
        })
    }
}

/// The share of its ceiling that a run used, with this transport, number of connections and of statements per second.
pub fn ceiling(
    calibration: Option<&Calibration>,
    (transport, connections): (&str, u32),
    machine: &Machine,
    statements_per_s: Option<f64>,
) -> Ceiling {
    let none = |note: String| Ceiling {
        calibrated_queries_per_s: None,
        calibrated_connections: None,
        share: None,
        note,
    };
    let Some(calibration) = calibration else {
        return none("not calibrated".to_owned());
    };
    if let Some(why) = calibration.stale(machine) {
        return none(why.to_owned());
    }
    match calibration.nearest(transport, connections) {
        None => none(format!("not calibrated for {transport}")),
        Some(reached) => Ceiling {
            calibrated_queries_per_s: Some(reached.queries_per_s),
            calibrated_connections: Some(reached.connections),
            share: statements_per_s.map(|per_s| per_s / reached.queries_per_s),
            note: format!("calibrated {}", calibration.measured_at),
        },
    }
}

/// Counts the statements of the measurement.
#[derive(Debug, Default)]
pub struct StatementRate {
    statements: u64,
    seconds: f64,
}

impl StatementRate {
    pub fn add(&mut self, interval: &samples::Interval) {
        if interval.phase != Phase::Measurement {
            return;
        }
        self.seconds += interval.length_s;
        self.statements += interval.statements_back();
    }

    /// Statements per second; `None` if nothing was measured.
    pub fn per_s(&self) -> Option<f64> {
        (self.seconds > 0.0).then(|| self.statements as f64 / self.seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine() -> Machine {
        Machine {
            host: samples::Host::Both,
            name: "here".to_owned(),
            cpu_model: "fast".to_owned(),
            cpus: 2,
            memory_bytes: 1,
            kernel: "6.1".to_owned(),
            ..Machine::default()
        }
    }

    fn calibration() -> Calibration {
        let reached = |transport: &str, connections, queries_per_s| CalibratedRate {
            transport: transport.to_owned(),
            connections,
            queries_per_s,
        };
        Calibration {
            dbdyno_version: env!("CARGO_PKG_VERSION").to_owned(),
            measured_at: "then".to_owned(),
            machine: machine(),
            reached: vec![
                reached("unix socket", 1, 10_000.0),
                reached("unix socket", 64, 90_000.0),
                reached("unix socket", 64, 100_000.0),
                reached("tcp loopback", 8, 50_000.0),
            ],
        }
    }

    #[test]
    fn the_nearest_ceiling_counts() {
        let cases = [
            ("unix socket", 1, Some((1, 0.5))),
            ("unix socket", 7, Some((1, 0.5))),
            ("unix socket", 9, Some((64, 0.05))),
            ("unix socket", 500, Some((64, 0.05))),
            ("tcp loopback", 64, Some((8, 0.1))),
            ("tcp remote", 64, None),
        ];
        for (transport, connections, expected) in cases {
            let found = ceiling(
                Some(&calibration()),
                (transport, connections),
                &machine(),
                Some(5_000.0),
            );
            let found = found.calibrated_connections.zip(found.share);
            assert_eq!(found, expected, "{transport}, {connections}");
        }
    }

    #[test]
    fn a_stale_calibration_does_not_count() {
        type Change = fn(&mut Calibration);
        let cases: [(Change, &str); 4] = [
            (|it| it.machine.kernel.push('x'), "another kernel"),
            (|it| it.machine.cpus = 4, "other CPUs"),
            (|it| it.machine.name.push('x'), "another machine"),
            (|it| it.dbdyno_version.push('x'), "another version"),
        ];
        for (change, why) in cases {
            let mut calibration = calibration();
            change(&mut calibration);
            let way = ("unix socket", 1);
            let found = ceiling(Some(&calibration), way, &machine(), Some(1.0));
            assert_eq!(found.share, None);
            assert!(found.note.contains(why), "{}", found.note);
        }
        let found = ceiling(None, ("unix socket", 1), &machine(), Some(1.0));
        assert_eq!(found.note, "not calibrated");
    }
}
