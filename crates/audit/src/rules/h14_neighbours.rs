//! Rule H14: other programs used the machine.

use samples::{BlockDevice, DiskUse, Disturbance, Telemetry};
use units::percent;

use crate::{
    finding::{Finding, Level, Outcome, missing},
    rule::{Judge, Rule},
    run::Run,
};

/// Share of the time in which some program waited for a disk while the server hardly used it.
const WAITING: f64 = 0.1;
/// The server's share of the disk traffic, below which the waits are caused by other programs. For one page of the redo log
/// that the server writes and syncs, the file system's journal writes up to three blocks more.
const OWN_TRAFFIC: f64 = 0.2;

pub(super) const RULE: Rule = Rule {
    id: "H14",
    name: "no other program used the machine",
    found: "other programs used the machine",
    measures: "The user CPU time of programs other than the server and the client. CPU steal. The time during which tasks waited for a disk that other programs kept busy.",
    threshold: "invalid if other programs used more than 5 % of the CPU. Invalid if CPU steal was above 1 %. Invalid if I/O pressure was above 10 % while the server caused less than a fifth of the disk traffic",
    source: "krun (Barrett et al., Virtual Machine Warmup Blows Hot and Cold, OOPSLA 2017), which makes the same check before each run",
    consequence: "The run shared the machine with other programs, which may not be active in the next run: the figures are not repeatable.",
    remedy: "Stop the other programs (the finding names the three busiest), keep the machine free, and repeat the run.",
    judge: Judge::Run(judge),
};

fn judge(run: &Run<'_>) -> Outcome {
    let samples = run.samples()?;
    let disturbance = Disturbance::of(run.record);
    let disturbance = disturbance
        .ok_or_else(|| missing("the CPU time of the server's process and of its machine"))?;
    let length_s: f64 = samples.iter().map(|sample| sample.length_s).sum();
    let waiting: Option<f64> = samples.iter().map(|it| Some(it.pressure?.io_some_s)).sum();
    let waiting = waiting.map(|waited_s| (waited_s / length_s).min(1.0));
    let (others, steal) = (disturbance.others, disturbance.steal);
    let mut problems = Vec::new();
    if others > Disturbance::OTHERS {
        let programs = match disturbance.programs.join(", ") {
            names if names.is_empty() => names,
            names => format!(" ({names})"),
        };
        problems.push(format!(
            "other programs used {} of the CPU{programs}",
            percent(others)
        ));
    }
    if steal > Disturbance::STEAL {
        problems.push(format!("CPU steal was {}", percent(steal)));
    }
    let devices = run.storage().map(|storage| storage.devices.as_slice());
    let others_traffic = waiting.zip(own_traffic(&samples, devices.unwrap_or_default()));
    if let Some((waiting, own)) =
        others_traffic.filter(|(waiting, own)| *waiting > WAITING && *own < OWN_TRAFFIC)
    {
        problems.push(format!(
            "tasks waited for a disk {} of the time, and only {} of the disk traffic was the server's",
            percent(waiting),
            percent(own)
        ));
    }
    let evidence = if problems.is_empty() {
        format!(
            "other programs used {} of the CPU, and CPU steal was {}",
            percent(others),
            percent(steal)
        )
    } else {
        problems.join("; ")
    };
    let level = if problems.is_empty() {
        Level::Pass
    } else {
        Level::Invalid
    };
    Ok(Finding::new(level, evidence)
        .with("others_cpu_share", others)
        .with("steal_share", steal))
}

/// The server's share of the disk traffic in bytes; `None` if unknown or without traffic.
fn own_traffic(samples: &[&Telemetry], devices: &[BlockDevice]) -> Option<f64> {
    let (mut own, mut all) = (0.0, 0.0);
    for sample in samples {
        let server = sample.server?;
        own += (server.read_bytes? + server.written_bytes?) as f64;
        all += sample
            .disks()
            .filter(|disk| !is_below_another(disk, sample, devices))
            .map(|disk| (disk.read_bytes + disk.written_bytes) as f64)
            .sum::<f64>();
    }
    (all > 0.0).then(|| (own / all).min(1.0))
}

/// Whether a disk carries the traffic of another disk of the sample once more, as `nvme0n1` does below `dm-0`.
fn is_below_another(lower: &DiskUse, sample: &Telemetry, devices: &[BlockDevice]) -> bool {
    sample.disks().any(|upper| {
        upper.device != lower.device && is_made_of(&upper.device, &lower.device, devices)
    })
}

/// Whether a device is made of another one, directly or by devices between them.
fn is_made_of(upper: &str, lower: &str, devices: &[BlockDevice]) -> bool {
    let mut names = vec![upper];
    let mut at = 0;
    // Each name once: an altered record may have a circle.
    while let Some(name) = names.get(at).copied() {
        at += 1;
        let of_name = devices.iter().filter(|it| it.name == name);
        for part in of_name.flat_map(|it| &it.made_of) {
            if part == lower {
                return true;
            }
            if !names.contains(&part.as_str()) {
                names.push(part);
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::*;

    #[test]
    fn found() {
        let outcome = judged(&RULE, |record| {
            each_sample(record, |sample| {
                sample.server.as_mut().unwrap().user_s = 5.0
            });
        });
        assert_found(
            &outcome,
            Level::Invalid,
            "other programs used 16 % of the CPU",
        );
        let outcome = judged(&RULE, |record| {
            each_sample(record, |sample| {
                sample.server.as_mut().unwrap().user_s = 5.0;
                sample.programs = vec![samples::ProgramUse {
                    name: "rustc".to_owned(),
                    user_s: 1.0,
                }];
            });
        });
        assert_found(&outcome, Level::Invalid, "16 % of the CPU (rustc)");
        let outcome = judged(&RULE, |record| {
            each_sample(record, |sample| {
                sample.machine.as_mut().unwrap().steal_s = 0.4
            });
        });
        assert_found(&outcome, Level::Invalid, "CPU steal was 4.8 %");
        let outcome = judged(&RULE, |record| {
            each_sample(record, |sample| {
                sample.pressure.as_mut().unwrap().io_some_s = 0.5;
                let server = sample.server.as_mut().unwrap();
                (server.read_bytes, server.written_bytes) = (Some(0), Some(1 << 20));
            });
        });
        assert_found(&outcome, Level::Invalid, "waited for a disk 50 %");
    }

    #[test]
    fn passes() {
        assert_found(
            &judged(&RULE, |_| {}),
            Level::Pass,
            "other programs used 1.2 % of the CPU",
        );
        let outcome = judged(&RULE, |record| {
            each_sample(record, |sample| {
                sample.pressure.as_mut().unwrap().io_some_s = 0.5;
                let server = sample.server.as_mut().unwrap();
                (server.read_bytes, server.written_bytes) = (Some(0), Some(8 << 20));
            });
        });
        assert_eq!(
            level(&outcome),
            Level::Pass,
            "the server waits for its own disk"
        );
    }

    #[test]
    fn the_disk_below_a_volume_has_no_traffic_of_its_own() {
        let outcome = judged(&RULE, |record| {
            let storage = &mut record.storage[0];
            let mut volume = storage.devices[0].clone();
            (volume.name, volume.kind) = ("dm-0".to_owned(), "volume".to_owned());
            volume.made_of = vec!["nvme0n1".to_owned()];
            storage.devices.push(volume);
            each_sample(record, |sample| {
                sample.pressure.as_mut().unwrap().io_some_s = 0.5;
                let disk = sample.disk.as_mut().unwrap();
                (disk.read_bytes, disk.written_bytes) = (0, 10 << 20);
                let below = disk.clone();
                disk.device = "dm-0".to_owned();
                sample.other_disks = vec![below];
                let server = sample.server.as_mut().unwrap();
                (server.read_bytes, server.written_bytes) = (Some(0), Some(3 << 20));
            });
        });
        assert_eq!(level(&outcome), Level::Pass);
    }

    #[test]
    fn a_host_that_nobody_watched_is_not_evaluated() {
        assert_missing(
            &judged(&RULE, |record| record.telemetry.clear()),
            "telemetry",
        );
    }
}
